#include "regression/oracle_case.hpp"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "base/error.hpp"

#include "io/h5_handle.hpp"
#include "io/key_spec.hpp"

namespace crossbow {
namespace {

[[noreturn]] void fail_reading(const std::string& path, const std::string& why) {
  throw Error(ExitCode::data,
              {"this is not a file of the oracle",
               why,
               path,
               "Give one that has the form of regression/oracle/*.h5"});
}

/// The attributes of a file with the changes of the command line.
class Attributes {
 public:
  Attributes(const H5File& file, const std::vector<std::string>& changes) : file_(file) {
    for (const std::string& change : changes) {
      const std::size_t equals = change.find('=');
      CROSSBOW_VALIDATE(
          equals != std::string::npos && equals > 0,
          ExitCode::usage,
          {"'" + change + "' changes nothing", "", "", "Write --set attribute=value"});
      changes_[change.substr(0, equals)] = change.substr(equals + 1);
    }
  }

  std::string text(const std::string& name) {
    expect(name);
    const auto change = take(name);
    return change.first ? change.second : file_.read_text(name);
  }

  double number(const std::string& name) {
    expect(name);
    const auto change = take(name);
    return change.first ? parse<double>(name, change.second) : file_.read_number(name);
  }

  std::int64_t integer(const std::string& name, std::int64_t least) {
    expect(name);
    const auto change = take(name);
    const std::int64_t value = change.first ? parse<std::int64_t>(name, change.second)
                                            : file_.read_integer(name);
    if (value < least) {
      fail_reading(file_.path(), fmt::format("its attribute {} is {}", name, value));
    }
    return value;
  }

  bool flag(const std::string& name) {
    const auto change = changes_.find(name);
    if (change != changes_.end() &&
        (change->second == "true" || change->second == "false")) {
      change->second = change->second == "true" ? "1" : "0";
    }
    return integer(name, 0) != 0;
  }

  /// Throw if a change is left over.
  void expect_all_taken() const {
    CROSSBOW_VALIDATE(changes_.empty(),
                      ExitCode::usage,
                      {"'" + changes_.begin()->first + "' cannot be set",
                       "no case has such an attribute",
                       "",
                       "Give one of regression/README.md"});
  }

 private:
  void expect(const std::string& name) const {
    if (!file_.has_attribute(name)) {
      fail_reading(file_.path(), "it has no attribute " + name);
    }
  }

  std::pair<bool, std::string> take(const std::string& name) {
    const auto found = changes_.find(name);
    if (found == changes_.end()) {
      return {false, ""};
    }
    std::pair<bool, std::string> change(true, found->second);
    changes_.erase(found);
    return change;
  }

  template <class T>
  static T parse(const std::string& name, const std::string& text) {
    T value{};
    const char* end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, value);
    CROSSBOW_VALIDATE(error == std::errc() && stop == end,
                      ExitCode::usage,
                      {"'" + text + "' is no value of " + name,
                       "",
                       "",
                       "Give a number of the attribute's type"});
    return value;
  }

  const H5File& file_;
  std::map<std::string, std::string> changes_;
};

void read_parameters(Attributes attributes, OracleCase& oracle) {
  oracle.layers = attributes.text("deck");
  oracle.method = attributes.text("method");
  oracle.seed = attributes.integer("seed", 0);
  oracle.iterations = attributes.integer("iterations", 1);
  oracle.learners = attributes.integer("k", 1);
  oracle.devices = attributes.integer("devices", 1);
  oracle.batch = attributes.integer("batch", 1);
  oracle.period = attributes.integer("period", 1);
  oracle.drop_at = attributes.integer("drop_at", 0);
  oracle.rate = attributes.number("rate");
  oracle.drop = attributes.number("drop");
  oracle.momentum = attributes.number("momentum");
  oracle.weight_decay = attributes.number("weight_decay");
  oracle.alpha = attributes.number("alpha");
  oracle.averaging_momentum = attributes.number("averaging_momentum");
  oracle.restart = attributes.flag("restart");
  attributes.expect_all_taken();
}

template <class T>
std::vector<T> read_array(const H5File& file,
                          const std::string& name,
                          const H5Shape& shape) {
  if (!file.has_data_set(name)) {
    fail_reading(file.path(), "it has no data set " + name);
  }
  const H5Shape found = file.shape(name);
  CROSSBOW_VALIDATE(found == shape,
                    ExitCode::data,
                    {fmt::format("{} is {} but should be {}",
                                 name,
                                 found.empty() ? "one value" : to_string(found),
                                 to_string(shape)),
                     "by the attributes iterations, k and batch",
                     file.path(),
                     ""});
  return file.read<T>(name);
}

template <class T>
OracleTensors read_group(const H5File& file, const std::string& group) {
  OracleTensors tensors;
  const std::string prefix = group + "/";
  for (const std::string& name : file.data_set_names()) {
    if (name.compare(0, prefix.size(), prefix) == 0) {
      const std::vector<T> values = file.read<T>(name);
      tensors[name.substr(prefix.size())] = {file.shape(name),
                                             {values.begin(), values.end()}};
    }
  }
  if (tensors.empty()) {
    fail_reading(file.path(), "it has no tensors " + prefix + "...");
  }
  return tensors;
}

/// Tensors that a training ends with are those that it started with.
void check_group(const OracleCase& oracle,
                 const std::string& group,
                 const OracleTensors& tensors) {
  const bool same =
      std::equal(oracle.initial.begin(),
                 oracle.initial.end(),
                 tensors.begin(),
                 tensors.end(),
                 [](const auto& a, const auto& b) {
                   return a.first == b.first && a.second.shape == b.second.shape;
                 });
  if (!same) {
    fail_reading(oracle.path,
                 "the tensors of /" + group + " are not named and shaped as in /initial");
  }
}

/// The keys of [averaging] that the method uses.
std::string averaging_keys(const OracleCase& o) {
  const bool elastic = o.method == "sma" || o.method == "easgd";
  const bool moving = o.method == "sma" || o.method == "reference";
  std::string text = "method = " + toml_text(o.method) + "\n";
  if (elastic) {
    text += "alpha = " + toml_text(o.alpha) + "\n";
  }
  if (moving) {
    text += "momentum = " + toml_text(o.averaging_momentum) + "\n";
  }
  if (elastic || moving) {
    text += "restart = " + toml_text(o.restart) + "\n";
  }
  if (elastic || moving || o.method == "local_sgd") {
    text += "period = " + toml_text(o.period) + "\n";
  }
  return text;
}

}  // namespace

OracleCase read_oracle_case(const std::string& path,
                            const std::vector<std::string>& changes) {
  const H5File file = H5File::open(path);
  OracleCase oracle;
  oracle.path = path;
  oracle.name = std::filesystem::path(path).stem().string();
  read_parameters(Attributes(file, changes), oracle);
  const std::int64_t t = oracle.iterations;
  const std::int64_t k = oracle.learners;
  oracle.order = read_array<std::int32_t>(file, "order", {t, k, oracle.batch});
  oracle.losses = read_array<double>(file, "loss", {t, k});
  oracle.rates = read_array<double>(file, "rate", {t});
  oracle.initial = read_group<float>(file, "initial");
  oracle.average = read_group<double>(file, "average");
  check_group(oracle, "average", oracle.average);
  for (std::int64_t j = 0; j < k; ++j) {
    const std::string group = "replica" + std::to_string(j);
    oracle.replicas.push_back(read_group<double>(file, group));
    check_group(oracle, group, oracle.replicas.back());
  }
  return oracle;
}

std::string oracle_deck(const OracleCase& o, std::int64_t samples) {
  const std::int64_t per_round = o.learners * o.batch;
  const auto epochs = [&](std::int64_t rounds) {
    const std::int64_t per_epoch = std::max<std::int64_t>(1, samples / o.batch) * o.batch;
    return toml_text(static_cast<double>(rounds * per_round) /
                     static_cast<double>(per_epoch));
  };
  // A drop in the first iteration is simply another rate.
  const double rate = o.drop_at == 1 ? o.rate * o.drop : o.rate;
  std::string text = fmt::format(
      "[run]\nseed = {}\n\n"
      "[data]\ntrain = \"{}\"\ntest = \"{}\"\nshuffle = false\n"
      "mean = 0.2860\nstd = 0.3530\n\n"
      "[training]\nbatch = {}\nepochs = {}\ntest_every = 0\n\n"
      "[learners]\nper_device = {}\nthreads = 1\n\n"
      "[devices]\nbackend = \"host\"\ndomain = \"machine\"\nbind = false\n\n"
      "[averaging]\n{}\n"
      "[optimizer]\nlearning_rate = {}\nmomentum = {}\nweight_decay = {}\n",
      o.seed,
      oracle_data,
      oracle_data,
      o.batch,
      epochs(o.iterations),
      o.learners,
      averaging_keys(o),
      toml_text(rate),
      toml_text(o.momentum),
      toml_text(o.weight_decay));
  if (o.drop_at > 1) {
    text +=
        fmt::format("schedule = {{policy = \"multistep\", steps = [{}], gamma = {}}}\n",
                    epochs(o.drop_at - 1),
                    toml_text(o.drop));
  }
  return text + "\n" + o.layers;
}

}  // namespace crossbow
