#include "kernels/pool2d.hpp"

#include "kernels/onednn/operations.hpp"
#include "kernels/onednn/support.hpp"

namespace crossbow::onednn {
namespace {

using dnnl::memory;
using tag = memory::format_tag;
using Forward = dnnl::pooling_forward;
using Backward = dnnl::pooling_backward;

template <class Exec>
class OnednnPool2d final : public Pool2d<Exec> {
 public:
  explicit OnednnPool2d(const Pool2dOptions& options) {
    const Pool2dShape& s = options.shape;
    const bool max = s.kind == PoolKind::max;
    const auto algorithm =
        max ? dnnl::algorithm::pooling_max : dnnl::algorithm::pooling_avg_exclude_padding;
    const auto kind = options.inference ? dnnl::prop_kind::forward_inference
                                        : dnnl::prop_kind::forward_training;
    const memory::desc x = descriptor({s.n, s.c, s.h, s.w}, tag::nhwc);
    const memory::desc y = descriptor({s.n, s.c, s.out_h(), s.out_w()}, tag::nhwc);
    const memory::dims stride{s.stride, s.stride}, window{s.size, s.size}, none{0, 0};
    const Forward::primitive_desc forward(host_engine(),
                                          kind,
                                          algorithm,
                                          x,
                                          y,
                                          stride,
                                          window,
                                          none,
                                          none,
                                          none,
                                          attributes());
    forward_ = Call(Forward(forward), forward);
    forward_.declare(DNNL_ARG_SRC, x);
    forward_.declare(DNNL_ARG_DST, y);
    if (!options.inference) {
      const Backward::primitive_desc backward(host_engine(),
                                              algorithm,
                                              x,
                                              y,
                                              stride,
                                              window,
                                              none,
                                              none,
                                              none,
                                              forward,
                                              attributes());
      backward_ = Call(Backward(backward), backward);
      backward_.declare(DNNL_ARG_DIFF_DST, y);
      backward_.declare(DNNL_ARG_DIFF_SRC, x);
      keep_workspace(forward.workspace_desc());
    }
  }

  void forward(const Exec&, ConstSpan<Exec> x, Span<Exec> y) override {
    forward_.bind(DNNL_ARG_SRC, x.data());
    forward_.bind(DNNL_ARG_DST, y.data());
    forward_.execute();
  }

  void backward(const Exec&, ConstSpan<Exec> dy, Span<Exec> dx) override {
    backward_.bind(DNNL_ARG_DIFF_DST, dy.data());
    backward_.bind(DNNL_ARG_DIFF_SRC, dx.data());
    backward_.execute();
  }

 private:
  /// Max pooling's places of the maxima, from forward to backward.
  void keep_workspace(const memory::desc& desc) {
    if (desc.get_size() == 0) {
      return;
    }
    workspace_.resize(desc.get_size() / sizeof(float) + 1);
    for (Call* call : {&forward_, &backward_}) {
      call->declare(DNNL_ARG_WORKSPACE, desc);
      call->bind(DNNL_ARG_WORKSPACE, workspace_.data());
    }
  }

  Call forward_, backward_;
  std::vector<float> workspace_;
};

}  // namespace

template <class Exec>
std::unique_ptr<Pool2d<Exec>> make_pool2d(const Exec&, const Pool2dOptions& options) {
  return std::make_unique<OnednnPool2d<Exec>>(options);
}

#define CROSSBOW_INSTANTIATE(Exec) \
  template std::unique_ptr<Pool2d<Exec>> make_pool2d(const Exec&, const Pool2dOptions&);
CROSSBOW_INSTANTIATE(Kokkos::Serial)
CROSSBOW_FOR_OPENMP(CROSSBOW_INSTANTIATE)

}  // namespace crossbow::onednn
