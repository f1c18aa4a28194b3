#include "model/layer.hpp"

#include <algorithm>

#include "base/random.hpp"

#include "kernels/conv2d.hpp"
#include "kernels/linear.hpp"

#include "model/convolution_window.hpp"
#include "model/layers/batch_norm_layer.hpp"
#include "model/layers/plain.hpp"
#include "model/layers/weighted.hpp"

namespace crossbow {
namespace {

/// The layout that the weight of layer `name` has in the imposed parameters, none without
/// them.
std::shared_ptr<const WeightLayout> imposed_layout(const NetworkOptions& options,
                                                   const std::string& name) {
  if (options.imposed == nullptr) {
    return nullptr;
  }
  const auto& slots = options.imposed->slots();
  const auto found =
      std::find_if(slots.begin(), slots.end(), [&](const ParameterSlot& slot) {
        return slot.name == name + ".weight";
      });
  return found == slots.end() ? nullptr : found->layout;
}

Conv2dShape conv2d_shape(const LayerPlan& plan, std::int64_t batch) {
  const LayerOptions& o = plan.options;
  Conv2dShape s{batch, plan.in.h, plan.in.w, plan.in.c};
  s.filters = o.filters;
  s.kernel = o.kernel;
  s.stride = o.stride;
  s.groups = o.groups;
  s.dilation = o.dilation;
  const ConvolutionWindow window = convolution_window(o);
  s.pad_begin = window.pad_begin;
  s.pad_end = window.pad_end;
  s.bias = o.bias;
  s.relu = plan.relu;
  return s;
}

template <class Exec>
std::unique_ptr<Layer<Exec>> make_convolution(const Exec& exec,
                                              const LayerPlan& plan,
                                              const NetworkOptions& options) {
  const Conv2dShape s = conv2d_shape(plan, options.batch);
  auto operation = make_conv2d(
      exec, {s, options.kernels, options.inference, imposed_layout(options, plan.name)});
  WeightedTensors tensors{plan.name,
                          {s.filters, s.group_channels(), s.kernel, s.kernel},
                          s.bias,
                          plan.options.initializer};
  return std::make_unique<WeightedLayer<Exec>>(
      std::move(operation), std::move(tensors), s.relu);
}

template <class Exec>
std::unique_ptr<Layer<Exec>> make_linear_layer(const Exec& exec,
                                               const LayerPlan& plan,
                                               const NetworkOptions& options) {
  LinearShape s{options.batch, plan.in.h, plan.in.w, plan.in.c, plan.out.c};
  s.bias = plan.options.bias;
  s.relu = plan.relu;
  auto operation = make_linear(
      exec, {s, options.kernels, options.inference, imposed_layout(options, plan.name)});
  WeightedTensors tensors{plan.name, {s.units, s.in()}, s.bias, plan.options.initializer};
  return std::make_unique<WeightedLayer<Exec>>(
      std::move(operation), std::move(tensors), s.relu);
}

Pool2dShape pool_shape(const LayerPlan& plan, std::int64_t batch) {
  Pool2dShape s{batch, plan.in.h, plan.in.w, plan.in.c};
  s.size = plan.options.size;
  s.stride = plan.options.stride;
  s.kind = plan.type == LayerType::max_pool ? PoolKind::max : PoolKind::average;
  s.relu = plan.relu;
  s.padding = plan.options.padding;
  s.ceil = plan.options.ceil;
  return s;
}

template <class Exec>
std::unique_ptr<Layer<Exec>> make_batch_norm(const Exec& exec,
                                             const LayerPlan& plan,
                                             const BatchNormOptions& defaults,
                                             const NetworkOptions& options) {
  BatchNormShape shape;
  shape.rows = options.batch * plan.in.h * plan.in.w;
  shape.c = plan.in.c;
  shape.momentum = static_cast<float>(defaults.momentum);
  shape.epsilon = static_cast<float>(plan.options.epsilon > 0 ? plan.options.epsilon
                                                              : defaults.epsilon);
  shape.relu = plan.relu;
  return std::make_unique<BatchNormLayer<Exec>>(
      exec, plan.name, shape, plan.options.initial_scale, options.inference);
}

LrnShape lrn_shape(const LayerPlan& plan, std::int64_t batch) {
  LrnShape s{batch * plan.in.h * plan.in.w, plan.in.c, plan.options.size};
  s.alpha = static_cast<float>(plan.options.alpha);
  s.beta = static_cast<float>(plan.options.beta);
  s.k = static_cast<float>(plan.options.k);
  return s;
}

/// The inputs' channels in the output.
std::vector<ChannelPart> concat_parts(const LayerPlan& plan, std::int64_t batch) {
  std::vector<ChannelPart> parts;
  std::int64_t begin = 0;
  for (const std::int64_t channels : plan.input_channels) {
    parts.push_back({batch * plan.out.h * plan.out.w, channels, plan.out.c, begin});
    begin += channels;
  }
  return parts;
}

template <class Exec>
std::unique_ptr<Layer<Exec>> make_dropout(const LayerPlan& plan,
                                          const NetworkOptions& options) {
  DropoutKey key;
  key.seed = options.seed;
  key.tensor = stable_hash(plan.name);
  key.n = options.batch;
  key.size = plan.in.size();
  key.probability = static_cast<float>(plan.options.probability);
  return std::make_unique<DropoutLayer<Exec>>(key, options.inference);
}

}  // namespace

template <class Exec>
std::unique_ptr<Layer<Exec>> make_layer(const Exec& exec,
                                        const LayerPlan& plan,
                                        const BatchNormOptions& batch_norm,
                                        const NetworkOptions& options) {
  switch (plan.type) {
    case LayerType::convolution:
      return make_convolution(exec, plan, options);
    case LayerType::linear:
      return make_linear_layer(exec, plan, options);
    case LayerType::max_pool:
    case LayerType::average_pool:
      return std::make_unique<PoolLayer<Exec>>(
          exec, Pool2dOptions{pool_shape(plan, options.batch), options.kernels});
    case LayerType::global_average_pool:
      return std::make_unique<GlobalAverageLayer<Exec>>(pool_shape(plan, options.batch));
    case LayerType::batch_norm:
      return make_batch_norm(exec, plan, batch_norm, options);
    case LayerType::lrn:
      return std::make_unique<LrnLayer<Exec>>(exec, lrn_shape(plan, options.batch));
    case LayerType::relu:
      return std::make_unique<ReluLayer<Exec>>();
    case LayerType::leaky_relu:
      return std::make_unique<LeakyReluLayer<Exec>>(
          static_cast<float>(plan.options.slope));
    case LayerType::tanh:
      return std::make_unique<TanhLayer<Exec>>();
    case LayerType::sigmoid:
      return std::make_unique<SigmoidLayer<Exec>>();
    case LayerType::dropout:
      return make_dropout<Exec>(plan, options);
    case LayerType::shortcut:
      return std::make_unique<ShortcutLayer<Exec>>(ShortcutShape{options.batch,
                                                                 plan.in.h,
                                                                 plan.in.w,
                                                                 plan.in.c,
                                                                 plan.options.stride,
                                                                 plan.out.c});
    case LayerType::concat:
      return std::make_unique<ConcatLayer<Exec>>(concat_parts(plan, options.batch));
    case LayerType::add:
      break;
  }
  return std::make_unique<AddLayer<Exec>>(plan.relu);
}

#define CROSSBOW_INSTANTIATE(Exec)                  \
  template std::unique_ptr<Layer<Exec>> make_layer( \
      const Exec&, const LayerPlan&, const BatchNormOptions&, const NetworkOptions&);
CROSSBOW_FOR_EACH_SPACE(CROSSBOW_INSTANTIATE)

}  // namespace crossbow
