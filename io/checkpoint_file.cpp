#include "io/checkpoint_file.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <set>
#include <string_view>
#include <system_error>

#include "base/contract.hpp"
#include "base/error.hpp"

#include "io/file_digest.hpp"
#include "io/h5_handle.hpp"

namespace crossbow {
namespace {

namespace fs = std::filesystem;

constexpr const char* checkpoint_format = "crossbow-checkpoint";
constexpr std::int64_t checkpoint_version = 1;
constexpr std::int64_t bytes_per_object = 2048;  // generous, for HDF5's own structures
constexpr std::string_view stem = "round-";
constexpr std::string_view ending = ".h5";

void require(bool good, const std::string& what) {
  CROSSBOW_VALIDATE(good,
                    ExitCode::internal_error,
                    {.what = what, .why = "", .where = "a checkpoint", .remedy = ""});
}

void check_names(const Checkpoint& checkpoint) {
  std::set<std::string> names{"format", "version", "sha256"};
  const auto add = [&names](const auto& values) {
    for (const auto& entry : values) {
      require(!entry.first.empty() && names.insert(entry.first).second,
              "the name '" + entry.first + "' of a value is empty or used twice");
    }
  };
  add(checkpoint.integers);
  add(checkpoint.numbers);
  add(checkpoint.texts);
}

// "a" next to "a/b" would be a data set and a group of the same name.
void check_tensor_name(const Checkpoint& checkpoint, const std::string& name) {
  std::size_t begin = 0;
  for (std::size_t end = 0; end != std::string::npos; begin = end + 1) {
    end = name.find('/', begin);
    const std::string part = name.substr(begin, end - begin);
    require(!part.empty() && part != "." && part != ".." &&
                part.find('\0') == std::string::npos,
            "the tensor name '" + name + "' is not possible");
    require(end == std::string::npos || !checkpoint.tensors.contains(name.substr(0, end)),
            "the tensor name '" + name + "' begins with the name of another");
  }
}

/// The first value of a tensor that is no finite number; none: they all are.
std::optional<std::size_t> first_not_finite(const std::vector<float>& values) {
  const auto bad = std::find_if(
      values.begin(), values.end(), [](float x) { return !std::isfinite(x); });
  return bad == values.end()
             ? std::nullopt
             : std::optional(static_cast<std::size_t>(bad - values.begin()));
}

void check_finite(const Checkpoint& checkpoint,
                  ExitCode code,
                  const std::string& where,
                  const std::string& remedy) {
  for (const auto& [name, values] : checkpoint.tensors) {
    if (const auto bad = first_not_finite(values); bad.has_value()) {
      throw Error(code,
                  ErrorText{.what = "the tensor '" + name + "' has the value " +
                                    std::to_string(values[*bad]),
                            .why = "element " + std::to_string(*bad),
                            .where = where,
                            .remedy = remedy});
    }
  }
}

void check_tensors(const Checkpoint& checkpoint) {
  require(checkpoint.tensors.size() == checkpoint.shapes.size(),
          "tensors and shapes do not have the same names");
  for (const auto& [name, values] : checkpoint.tensors) {
    check_tensor_name(checkpoint, name);
    const auto shape = checkpoint.shapes.find(name);
    require(shape != checkpoint.shapes.end(), "the tensor '" + name + "' has no shape");
    require(
        h5_element_count(shape->second, name) == static_cast<std::int64_t>(values.size()),
        "the tensor '" + name + "' has " + std::to_string(values.size()) +
            " values and shape " + to_string(shape->second));
  }
  check_finite(checkpoint,
               ExitCode::numbers,
               "a checkpoint to be written",
               "It is not saved; lower the learning rate");
}

void add_name(Sha256& sha, std::string_view kind, const std::string& name) {
  sha.update(kind);
  sha.update_value(static_cast<std::int64_t>(name.size()));
  sha.update(name);
}

// Every name and value in the order of the maps, sizes before what has a size
// (io/README.md).
std::string digest_of(const Checkpoint& checkpoint) {
  Sha256 sha;
  for (const auto& [name, values] : checkpoint.tensors) {
    add_name(sha, "tensor", name);
    const std::vector<std::int64_t>& shape = checkpoint.shapes.at(name);
    sha.update_value(static_cast<std::int64_t>(shape.size()));
    sha.update(shape.data(), shape.size() * sizeof(std::int64_t));
    sha.update(values.data(), values.size() * sizeof(float));
  }
  for (const auto& [name, value] : checkpoint.integers) {
    add_name(sha, "integer", name);
    sha.update_value(value);
  }
  for (const auto& [name, value] : checkpoint.numbers) {
    add_name(sha, "number", name);
    sha.update_value(value);
  }
  for (const auto& [name, value] : checkpoint.texts) {
    add_name(sha, "text", name);
    add_name(sha, "", value);
  }
  return sha.hex();
}

std::int64_t estimated_bytes(const Checkpoint& checkpoint) {
  std::int64_t bytes = bytes_per_object * 4;
  for (const auto& [name, values] : checkpoint.tensors) {
    bytes += static_cast<std::int64_t>(values.size() * sizeof(float)) + bytes_per_object;
  }
  for (const auto& [name, text] : checkpoint.texts) {
    bytes += static_cast<std::int64_t>(text.size()) + bytes_per_object;
  }
  const std::size_t values = checkpoint.integers.size() + checkpoint.numbers.size();
  return bytes + static_cast<std::int64_t>(values) * bytes_per_object;
}

void write_values(H5File& file, const Checkpoint& checkpoint) {
  for (const auto& [name, value] : checkpoint.integers) {
    file.write_integer(name, value);
  }
  for (const auto& [name, value] : checkpoint.numbers) {
    file.write_number(name, value);
  }
  for (const auto& [name, value] : checkpoint.texts) {
    file.write_text(name, value);
  }
}

void check_format(const H5File& file) {
  const std::string format = file.has_attribute("format") ? file.read_text("format") : "";
  CROSSBOW_VALIDATE(format == checkpoint_format,
                    ExitCode::data,
                    {.what = file.path() + " is not a checkpoint of crossbow",
                     .why = "its attribute 'format' is '" + format + "' instead of '" +
                            checkpoint_format + "'",
                     .where = "",
                     .remedy = "Give a file of a run's folder checkpoints"});
  const std::int64_t version = file.read_integer("version");
  CROSSBOW_VALIDATE(
      version == checkpoint_version,
      ExitCode::data,
      {.what = "version " + std::to_string(version) + " of the checkpoint is unknown",
       .why = "this program reads version " + std::to_string(checkpoint_version),
       .where = file.path(),
       .remedy = "Use the program that wrote it"});
}

void read_value(const H5File& file, const std::string& name, Checkpoint& checkpoint) {
  switch (file.attribute_kind(name)) {
    case H5Kind::integer:
      checkpoint.integers[name] = file.read_integer(name);
      break;
    case H5Kind::number:
      checkpoint.numbers[name] = file.read_number(name);
      break;
    case H5Kind::text:
      checkpoint.texts[name] = file.read_text(name);
      break;
    case H5Kind::other:
      throw Error(ExitCode::data,
                  ErrorText{.what = "the attribute '" + name + "' has an unknown type",
                            .why = "",
                            .where = file.path(),
                            .remedy = "The checkpoint is damaged; use the one before"});
  }
}

// The round of a checkpoint's file name; none if it is not one.
std::optional<std::int64_t> round_of(const std::string& name) {
  if (!name.starts_with(stem) || !name.ends_with(ending)) {
    return std::nullopt;
  }
  const std::string digits =
      name.substr(stem.size(), name.size() - stem.size() - ending.size());
  const bool good = !digits.empty() && digits.size() <= 18 &&
                    digits.find_first_not_of("0123456789") == std::string::npos;
  return good ? std::optional(std::stoll(digits)) : std::nullopt;
}

struct Found {
  fs::path path;
  std::int64_t round = 0;  // -1: left behind by an interrupted write
  fs::file_time_type time;
};

std::vector<Found> list_checkpoints(const std::string& folder) {
  std::vector<Found> all;
  std::error_code failed;
  fs::directory_iterator entries(folder, failed);
  if (failed == std::errc::no_such_file_or_directory) {
    return all;
  }
  for (; !failed && entries != fs::directory_iterator(); entries.increment(failed)) {
    const std::string name = entries->path().filename().string();
    const bool left_behind = name.starts_with(stem) && is_temporary_name(name);
    const auto round = left_behind ? std::optional<std::int64_t>(-1) : round_of(name);
    std::error_code gone;
    const fs::file_time_type time = fs::last_write_time(entries->path(), gone);
    if (round && !gone) {
      all.push_back({entries->path(), *round, time});
    }
  }
  CROSSBOW_VALIDATE(!failed,
                    ExitCode::data,
                    {.what = "cannot list the checkpoints in " + folder,
                     .why = failed.message(),
                     .where = "",
                     .remedy = "Check the folder and its permissions"});
  return all;
}

/// Keep the checkpoints of `all`, newest round first, without what interrupted writes
/// left.
void keep_checkpoints_newest_first(std::vector<Found>& all) {
  std::erase_if(all, [](const Found& found) { return found.round < 0; });
  std::sort(all.begin(), all.end(), [](const Found& a, const Found& b) {
    return a.round > b.round;
  });
}

}  // namespace

void write_checkpoint(const std::string& path, const Checkpoint& checkpoint) {
  check_names(checkpoint);
  check_tensors(checkpoint);
  AtomicFile target(path, estimated_bytes(checkpoint));
  H5File file = H5File::create(target);
  file.write_text("format", checkpoint_format);
  file.write_integer("version", checkpoint_version);
  file.write_text("sha256", digest_of(checkpoint));
  write_values(file, checkpoint);
  for (const auto& [name, values] : checkpoint.tensors) {
    file.write(name, checkpoint.shapes.at(name), values.data());
  }
  file.close();
  target.commit();
}

Checkpoint read_checkpoint(const std::string& path) {
  const H5File file = H5File::open(path);
  check_format(file);
  const std::string digest = file.read_text("sha256");
  Checkpoint checkpoint;
  for (const std::string& name : file.attribute_names()) {
    if (name != "format" && name != "version" && name != "sha256") {
      read_value(file, name, checkpoint);
    }
  }
  for (const std::string& name : file.data_set_names()) {
    checkpoint.shapes[name] = file.shape(name);
    checkpoint.tensors[name] = file.read<float>(name);
  }
  CROSSBOW_VALIDATE(digest_of(checkpoint) == digest,
                    ExitCode::data,
                    {.what = "the checkpoint " + path + " is damaged",
                     .why = "the SHA-256 of its content is not the one it carries",
                     .where = "",
                     .remedy = "Use the one before"});
  check_finite(checkpoint,
               ExitCode::data,
               path,
               "No training goes on from it; use the one before");
  return checkpoint;
}

std::string checkpoint_path(const std::string& folder, std::int64_t round) {
  CROSSBOW_EXPECT(round >= 0);
  std::string digits = std::to_string(round);
  digits.insert(0, digits.size() < 9 ? 9 - digits.size() : 0, '0');
  return (fs::path(folder) / (std::string(stem) + digits + std::string(ending))).string();
}

std::optional<std::pair<std::string, Checkpoint>> newest_checkpoint(
    const std::string& folder, const Notice& notice) {
  std::vector<Found> all = list_checkpoints(folder);
  keep_checkpoints_newest_first(all);
  for (const Found& found : all) {
    try {
      return std::pair(found.path.string(), read_checkpoint(found.path.string()));
    } catch (const Error& error) {
      say(notice,
          "the checkpoint " + found.path.string() + " is left out: " + error.what());
    }
  }
  CROSSBOW_VALIDATE(all.empty(),
                    ExitCode::data,
                    {.what = "none of the " + std::to_string(all.size()) +
                             " checkpoints in " + folder + " can be used",
                     .why = "",
                     .where = "",
                     .remedy = "Restore one, or empty the folder and start afresh"});
  return std::nullopt;
}

void prune_checkpoints(const std::string& folder, int keep, std::int64_t round) {
  CROSSBOW_EXPECT(keep >= 1);
  std::vector<Found> all = list_checkpoints(folder);
  const auto old = fs::file_time_type::clock::now() - std::chrono::minutes(10);
  std::error_code ignored;
  for (const Found& found : all) {
    if (found.round < 0 && found.time < old) {
      fs::remove(found.path, ignored);
    }
  }
  keep_checkpoints_newest_first(all);
  int kept = 0;
  for (const Found& found : all) {
    if (found.round > round || kept == keep) {
      fs::remove(found.path, ignored);
    } else {
      ++kept;
    }
  }
}

}  // namespace crossbow
