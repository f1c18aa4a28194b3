#include "averaging/averaging_method.hpp"

#include "averaging/sma.hpp"
#include "averaging/ssgd.hpp"

namespace crossbow {

template <class Exec>
std::unique_ptr<AveragingMethod<Exec>> make_averaging_method(
    const Exec& exec,
    const MethodOptions& options,
    const ReplicaStore<Exec>& store,
    const ParameterLayout& layout) {
  switch (options.averaging.method) {
    case AveragingMethodName::ssgd:
      return std::make_unique<Ssgd<Exec>>(exec, store, layout);
    case AveragingMethodName::sma:
      break;
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
