#include <fmt/format.h>

#include "base/error.hpp"

#include "io/npz_file.hpp"
#include "kernels/instance.hpp"

#include "driver/average_model.hpp"
#include "driver/commands.hpp"

namespace crossbow {

int evaluate_command(const EvaluateRequest& request) {
  const AverageModel model = load_average_model(request.checkpoint);
  const Kokkos::ScopeGuard kokkos(quiet_settings());
  const Dataset data = load_data(request.data, Split::test, request.search, {});
  std::vector<float> logits;
  const EvaluationResult result =
      evaluate_average(model,
                       {data, model.scale, {model.augment}},
                       request.logits.empty() ? nullptr : &logits);
  if (!request.logits.empty()) {
    write_npz(request.logits,
              {{"logits", npy_floats({data.n, model.plan.classes}, logits)}});
  }
  fmt::print("test accuracy {:.4f}, test loss {:.4f}, {} images\n",
             result.accuracy,
             result.loss,
             data.n);
  return 0;
}

}  // namespace crossbow
