#include "kernels/conv2d.hpp"

#include "base/contract.hpp"

#include "kernels/channel_reduction.hpp"
#include "kernels/conv2d_device.hpp"
#include "kernels/conv2d_grouped_host.hpp"
#include "kernels/conv2d_host.hpp"
#include "kernels/factory.hpp"
#include "kernels/onednn/operations.hpp"
#include "kernels/reference/conv2d.hpp"

namespace crossbow {
namespace {

/// [kernel row][kernel column][channel][filter] from [filter][channel][row][column];
/// channels are those of a group.
std::shared_ptr<const WeightLayout> filters_last(const Conv2dShape& s) {
  std::vector<std::int64_t> order;
  order.reserve(static_cast<std::size_t>(s.weight_size()));
  const std::int64_t taps = s.kernel * s.kernel, channels = s.group_channels();
  for (std::int64_t tap = 0; tap < taps; ++tap) {
    for (std::int64_t channel = 0; channel < channels; ++channel) {
      for (std::int64_t filter = 0; filter < s.filters; ++filter) {
        order.push_back((filter * channels + channel) * taps + tap);
      }
    }
  }
  return std::make_shared<PermutedLayout>(std::move(order));
}

/// Launches of the work items; which results an item covers is the host's or the device's
/// choice.
template <class Exec>
class KokkosConv2d final : public Conv2d<Exec> {
 public:
  KokkosConv2d(const Exec& exec, const Conv2dOptions& options)
      : s_(options.shape),
        layout_(layout_or(options.imposed, s_.weight_size(), [&](std::int64_t) {
          return filters_last(s_);
        })) {
    if (!options.inference) {
      swapped_ = make_buffer(exec,
                             "crossbow::conv2d_swapped_weight",
                             static_cast<std::size_t>(s_.weight_size()));
    }
  }

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
      launch_either(
          exec,
          "crossbow::conv2d_forward",
          s_.n * s_.out_h(),
          conv_host::Forward{s_, x.data(), weight.data(), own_bias, y.data()},
          conv_host::GroupedForward{s_, x.data(), weight.data(), own_bias, y.data()});
    } else {
      launch(exec,
             "crossbow::conv2d_forward",
             s_.output_size(),
             conv_device::Forward{s_, x.data(), weight.data(), own_bias, y.data()});
    }
  }

  void backward_data(const Exec& exec,
                     ConstSpan<Exec> dy,
                     ConstSpan<Exec> weight,
                     Span<Exec> dx) override {
    CROSSBOW_EXPECT(has_size(dx, s_.input_size()) && has_size(dy, s_.output_size()));
    CROSSBOW_EXPECT(has_size(weight, s_.weight_size()));
    float* const swapped = swapped_.data();
    if constexpr (is_host_space<Exec>) {
      launch(exec,
             "crossbow::conv2d_swap_channels",
             s_.kernel * s_.kernel * s_.filters,
             conv_host::SwapChannels{s_, weight.data(), swapped});
      launch_either(exec,
                    "crossbow::conv2d_backward_data",
                    s_.n * s_.h,
                    conv_host::BackwardData{s_, dy.data(), swapped, dx.data()},
                    conv_host::GroupedBackwardData{s_, dy.data(), swapped, dx.data()});
    } else {
      launch(exec,
             "crossbow::conv2d_swap_channels",
             s_.weight_size(),
             conv_device::SwapChannels{s_, weight.data(), swapped});
      launch(exec,
             "crossbow::conv2d_backward_data",
             s_.input_size(),
             conv_device::BackwardData{s_, dy.data(), swapped, dx.data()});
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
      const conv_host::BackwardWeight work{s_, x.data(), dy.data(), dweight.data()};
      launch_either(
          exec,
          "crossbow::conv2d_backward_weight",
          s_.kernel * (is_plain() ? work.blocks() : s_.kernel),
          work,
          conv_host::GroupedBackwardWeight{s_, x.data(), dy.data(), dweight.data()});
    } else {
      launch(exec,
             "crossbow::conv2d_backward_weight",
             s_.weight_size(),
             conv_device::BackwardWeight{s_, x.data(), dy.data(), dweight.data()});
    }
    if (s_.bias) {
      reduce_channels(exec,
                      "crossbow::conv2d_backward_bias",
                      s_.n * s_.out_h() * s_.out_w(),
                      s_.filters,
                      ColumnSum{{}, s_.filters, dy.data(), dbias.data()});
    }
  }

 private:
  bool is_plain() const { return s_.groups == 1 && s_.dilation == 1; }

  /// Launch the host's work items without or with groups and dilation.
  template <class Plain, class Grouped>
  void launch_either(const Exec& exec,
                     const char* label,
                     std::int64_t items,
                     const Plain& plain,
                     const Grouped& grouped) const {
    if (is_plain()) {
      launch(exec, label, items, plain);
    } else {
      launch(exec, label, items, grouped);
    }
  }

  Conv2dShape s_;
  std::shared_ptr<const WeightLayout> layout_;
  Buffer<Exec> swapped_;  // weights with channels last, for backward_data
};

/// The reference twin behind the interface.
template <class Exec>
class ReferenceConv2d final : public Conv2d<Exec> {
 public:
  explicit ReferenceConv2d(const Conv2dOptions& options)
      : s_(options.shape),
        layout_(layout_or(options.imposed, s_.weight_size(), identity_layout)) {}

  std::shared_ptr<const WeightLayout> weight_layout() const override { return layout_; }

  void forward(const Exec&,
               ConstSpan<Exec> x,
               ConstSpan<Exec> weight,
               ConstSpan<Exec> bias,
               Span<Exec> y) override {
    reference::conv2d_forward(s_, x.data(), weight.data(), bias.data(), y.data());
  }

  void backward_data(const Exec&,
                     ConstSpan<Exec> dy,
                     ConstSpan<Exec> weight,
                     Span<Exec> dx) override {
    reference::conv2d_backward_data(s_, dy.data(), weight.data(), dx.data());
  }

  void backward_weight(const Exec&,
                       ConstSpan<Exec> x,
                       ConstSpan<Exec> dy,
                       Span<Exec> dweight,
                       Span<Exec> dbias) override {
    reference::conv2d_backward_weight(
        s_, x.data(), dy.data(), dweight.data(), dbias.data());
  }

 private:
  Conv2dShape s_;
  std::shared_ptr<const WeightLayout> layout_;
};

}  // namespace

template <class Exec>
std::unique_ptr<Conv2d<Exec>> make_conv2d(const Exec& exec,
                                          const Conv2dOptions& options) {
  if constexpr (is_host_space<Exec>) {
    if (options.kernels == KernelSet::reference) {
      return std::make_unique<ReferenceConv2d<Exec>>(options);
    }
  } else {
    expect_device_kernels(options.kernels);
  }
  if constexpr (onednn::supports<Exec>) {
    if (options.kernels == KernelSet::vendor) {
      if (auto operation = onednn::make_conv2d(exec, options)) {
        return operation;
      }
    }
  }
  return std::make_unique<KokkosConv2d<Exec>>(exec, options);
}

#define CROSSBOW_INSTANTIATE(Exec) \
  template std::unique_ptr<Conv2d<Exec>> make_conv2d(const Exec&, const Conv2dOptions&);
CROSSBOW_FOR_EACH_SPACE(CROSSBOW_INSTANTIATE)

}  // namespace crossbow
