#include "averaging/averaging_method.hpp"

#include <algorithm>
#include <string>

#include "base/error.hpp"

#include "averaging/downpour.hpp"
#include "averaging/easgd_async.hpp"
#include "averaging/hogwild.hpp"
#include "averaging/local_sgd.hpp"
#include "averaging/polyak_ruppert.hpp"
#include "averaging/post_local_sgd.hpp"
#include "averaging/reference.hpp"
#include "averaging/sma.hpp"
#include "averaging/ssgd.hpp"

namespace crossbow {

void check_equal_devices(AveragingMethodName method, const std::vector<int>& learners) {
  const bool equal = std::all_of(
      learners.begin(), learners.end(), [&](int own) { return own == learners.front(); });
  std::string numbers;
  for (const int own : learners) {
    numbers += (numbers.empty() ? "" : ", ") + std::to_string(own);
  }
  CROSSBOW_VALIDATE(method != AveragingMethodName::reference || equal,
                    ExitCode::usage,
                    {"the devices have unequal numbers of learners",
                     numbers,
                     "averaging.method = \"reference\"",
                     "Give every device as many learners as the others"});
}

std::vector<int> learners_of_device(const MethodOptions& options, int k) {
  if (!options.learners_of_device.empty()) {
    return options.learners_of_device;
  }
  const auto devices = static_cast<std::size_t>(options.tree.devices());
  CROSSBOW_VALIDATE(k >= options.tree.devices(),
                    ExitCode::usage,
                    {std::to_string(k) + " learners are too few",
                     "there are " + std::to_string(devices) + " devices",
                     "",
                     "Give every device a learner"});
  std::vector<int> learners(devices, k / static_cast<int>(devices));
  for (std::size_t i = 0; i < static_cast<std::size_t>(k) % devices; ++i) {
    ++learners[i];
  }
  return learners;
}

template <class Exec>
std::unique_ptr<AveragingMethod<Exec>> make_averaging_method(
    const Exec& exec,
    const MethodOptions& options,
    const ReplicaStore<Exec>& store,
    const ParameterLayout& layout) {
  switch (options.averaging.method) {
    case AveragingMethodName::sma:
    case AveragingMethodName::easgd:
      break;
    case AveragingMethodName::easgd_async:
      return std::make_unique<EasgdAsync<Exec>>(exec, options, store, layout);
    case AveragingMethodName::ssgd:
      return std::make_unique<Ssgd<Exec>>(exec, options, store, layout);
    case AveragingMethodName::local_sgd:
      return std::make_unique<LocalSgd<Exec>>(exec, options, store, layout);
    case AveragingMethodName::post_local_sgd:
      return std::make_unique<PostLocalSgd<Exec>>(exec, options, store, layout);
    case AveragingMethodName::polyak_ruppert:
      return std::make_unique<PolyakRuppert<Exec>>(exec, options, store, layout);
    case AveragingMethodName::downpour:
      return std::make_unique<Downpour<Exec>>(exec, options, store, layout);
    case AveragingMethodName::hogwild:
      return std::make_unique<Hogwild<Exec>>(exec, options, store, layout);
    case AveragingMethodName::reference:
      check_equal_devices(options.averaging.method,
                          learners_of_device(options, store.learners()));
      return std::make_unique<TwoLevelAveraging<Exec>>(exec, options, store, layout);
  }
  return std::make_unique<Sma<Exec>>(exec, options, store, layout);
}

#define CROSSBOW_INSTANTIATE(Exec)                                       \
  template std::unique_ptr<AveragingMethod<Exec>> make_averaging_method( \
      const Exec&,                                                       \
      const MethodOptions&,                                              \
      const ReplicaStore<Exec>&,                                         \
      const ParameterLayout&);
CROSSBOW_FOR_EACH_SPACE(CROSSBOW_INSTANTIATE)

}  // namespace crossbow
