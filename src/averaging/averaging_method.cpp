#include "averaging/averaging_method.hpp"

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
namespace {

void check_equal_devices(int learners, int devices) {
  CROSSBOW_VALIDATE(
      learners % devices == 0,
      ExitCode::usage,
      {"the devices have unequal numbers of learners",
       std::to_string(learners) + " learners on " + std::to_string(devices) + " devices",
       "averaging.method = \"reference\"",
       "Give every device as many learners as the others"});
}

}  // namespace

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
      check_equal_devices(store.learners(), options.devices);
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
