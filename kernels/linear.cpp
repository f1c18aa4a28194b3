#include "kernels/linear.hpp"

#include "base/contract.hpp"

#include "kernels/channel_reduction.hpp"
#include "kernels/factory.hpp"
#include "kernels/linear_kernels.hpp"
#include "kernels/onednn/operations.hpp"
#include "kernels/reference/linear.hpp"

namespace crossbow {
namespace {

/// [h][w][c][unit] from [unit][c][h][w].
std::shared_ptr<const WeightLayout> units_last(const LinearShape& s) {
  std::vector<std::int64_t> order;
  order.reserve(static_cast<std::size_t>(s.weight_size()));
  const std::int64_t pixels = s.h * s.w;
  for (std::int64_t pixel = 0; pixel < pixels; ++pixel) {
    for (std::int64_t channel = 0; channel < s.c; ++channel) {
      for (std::int64_t unit = 0; unit < s.units; ++unit) {
        order.push_back((unit * s.c + channel) * pixels + pixel);
      }
    }
  }
  return std::make_shared<PermutedLayout>(std::move(order));
}

template <class Exec>
class KokkosLinear final : public Linear<Exec> {
 public:
  explicit KokkosLinear(const LinearOptions& options)
      : s_(options.shape),
        layout_(layout_or(options.imposed, s_.weight_size(), [&](std::int64_t) {
          return units_last(s_);
        })) {}

  std::shared_ptr<const WeightLayout> weight_layout() const override { return layout_; }

  void forward(const Exec& exec,
               ConstSpan<Exec> x,
               ConstSpan<Exec> weight,
               ConstSpan<Exec> bias,
               Span<Exec> y) override {
    CROSSBOW_EXPECT(has_size(x, s_.input_size()) && has_size(y, s_.output_size()));
    CROSSBOW_EXPECT(has_size(weight, s_.weight_size()));
    const float* const own_bias = s_.bias ? bias.data() : nullptr;
    if constexpr (is_host_space<Exec>) {
      launch(exec,
             "crossbow::linear_forward",
             linear_host::blocks(s_.units, linear_host::unit_block),
             linear_host::Forward{s_, x.data(), weight.data(), own_bias, y.data()});
    } else {
      launch(exec,
             "crossbow::linear_forward",
             s_.output_size(),
             linear_device::Forward{s_, x.data(), weight.data(), own_bias, y.data()});
    }
  }

  void backward_data(const Exec& exec,
                     ConstSpan<Exec> dy,
                     ConstSpan<Exec> weight,
                     Span<Exec> dx) override {
    CROSSBOW_EXPECT(has_size(dx, s_.input_size()) && has_size(dy, s_.output_size()));
    CROSSBOW_EXPECT(has_size(weight, s_.weight_size()));
    if constexpr (is_host_space<Exec>) {
      launch(exec,
             "crossbow::linear_backward_data",
             linear_host::blocks(s_.in(), linear_host::backward_block),
             linear_host::BackwardData{s_, dy.data(), weight.data(), dx.data()});
    } else {
      launch(exec,
             "crossbow::linear_backward_data",
             s_.input_size(),
             linear_device::BackwardData{s_, dy.data(), weight.data(), dx.data()});
    }
  }

  void backward_weight(const Exec& exec,
                       ConstSpan<Exec> x,
                       ConstSpan<Exec> dy,
                       Span<Exec> dweight,
                       Span<Exec> dbias) override {
    CROSSBOW_EXPECT(has_size(x, s_.input_size()) && has_size(dy, s_.output_size()));
    CROSSBOW_EXPECT(has_size(dweight, s_.weight_size()));
    if constexpr (is_host_space<Exec>) {
      launch(exec,
             "crossbow::linear_backward_weight",
             linear_host::blocks(s_.in(), linear_host::backward_block),
             linear_host::BackwardWeight{s_, x.data(), dy.data(), dweight.data()});
    } else {
      launch(exec,
             "crossbow::linear_backward_weight",
             s_.weight_size(),
             linear_device::BackwardWeight{s_, x.data(), dy.data(), dweight.data()});
    }
    if (s_.bias) {
      reduce_channels(exec,
                      "crossbow::linear_backward_bias",
                      s_.n,
                      s_.units,
                      ColumnSum{{}, s_.units, dy.data(), dbias.data()});
    }
  }

 private:
  LinearShape s_;
  std::shared_ptr<const WeightLayout> layout_;
};

/// The reference twin behind the interface.
template <class Exec>
class ReferenceLinear final : public Linear<Exec> {
 public:
  explicit ReferenceLinear(const LinearOptions& options)
      : s_(options.shape),
        layout_(layout_or(options.imposed, s_.weight_size(), identity_layout)) {}

  std::shared_ptr<const WeightLayout> weight_layout() const override { return layout_; }

  void forward(const Exec&,
               ConstSpan<Exec> x,
               ConstSpan<Exec> weight,
               ConstSpan<Exec> bias,
               Span<Exec> y) override {
    reference::linear_forward(s_, x.data(), weight.data(), bias.data(), y.data());
  }

  void backward_data(const Exec&,
                     ConstSpan<Exec> dy,
                     ConstSpan<Exec> weight,
                     Span<Exec> dx) override {
    reference::linear_backward_data(s_, dy.data(), weight.data(), dx.data());
  }

  void backward_weight(const Exec&,
                       ConstSpan<Exec> x,
                       ConstSpan<Exec> dy,
                       Span<Exec> dweight,
                       Span<Exec> dbias) override {
    reference::linear_backward_weight(
        s_, x.data(), dy.data(), dweight.data(), dbias.data());
  }

 private:
  LinearShape s_;
  std::shared_ptr<const WeightLayout> layout_;
};

}  // namespace

template <class Exec>
std::unique_ptr<Linear<Exec>> make_linear(const Exec& exec,
                                          const LinearOptions& options) {
  if constexpr (is_host_space<Exec>) {
    if (options.kernels == KernelSet::reference) {
      return std::make_unique<ReferenceLinear<Exec>>(options);
    }
  } else {
    expect_device_kernels(options.kernels);
  }
  if constexpr (onednn::supports<Exec>) {
    if (options.kernels == KernelSet::vendor) {
      return onednn::make_linear(exec, options);
    }
  }
  return std::make_unique<KokkosLinear<Exec>>(options);
}

#define CROSSBOW_INSTANTIATE(Exec) \
  template std::unique_ptr<Linear<Exec>> make_linear(const Exec&, const LinearOptions&);
CROSSBOW_FOR_EACH_SPACE(CROSSBOW_INSTANTIATE)

}  // namespace crossbow
