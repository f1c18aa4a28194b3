#pragma once
// Layers without tensors of their own: pooling, activations, sums, shortcuts,
// concatenation and dropout.

#include <memory>
#include <utility>
#include <vector>

#include "kernels/activation.hpp"
#include "kernels/concat.hpp"
#include "kernels/dropout.hpp"
#include "kernels/elementwise.hpp"
#include "kernels/lrn.hpp"
#include "kernels/pool2d.hpp"
#include "kernels/shortcut.hpp"

#include "model/layer.hpp"

namespace crossbow {

template <class Exec>
class PoolLayer final : public Layer<Exec> {
 public:
  PoolLayer(const Exec& exec, const Pool2dOptions& options)
      : pool_(make_pool2d(exec, options)) {}

  void forward(const Exec& exec,
               const LayerData<Exec>& d,
               const BatchIdentity<Exec>&) override {
    pool_->forward(exec, d.x[0], d.y);
  }

  void backward(const Exec& exec,
                const LayerData<Exec>& d,
                const BatchIdentity<Exec>&) override {
    if (d.dx[0].extent(0) > 0) {
      pool_->backward(exec, d.dy, d.dx[0]);
    }
  }

 private:
  std::unique_ptr<Pool2d<Exec>> pool_;
};

template <class Exec>
class GlobalAverageLayer final : public Layer<Exec> {
 public:
  explicit GlobalAverageLayer(const Pool2dShape& shape) : shape_(shape) {}

  void forward(const Exec& exec,
               const LayerData<Exec>& d,
               const BatchIdentity<Exec>&) override {
    global_average_forward<Exec>(exec, shape_, d.x[0], d.y);
  }

  void backward(const Exec& exec,
                const LayerData<Exec>& d,
                const BatchIdentity<Exec>&) override {
    if (d.dx[0].extent(0) > 0) {
      global_average_backward<Exec>(exec, shape_, d.dy, d.dx[0]);
    }
  }

 private:
  Pool2dShape shape_;
};

template <class Exec>
class ReluLayer final : public Layer<Exec> {
 public:
  void forward(const Exec& exec,
               const LayerData<Exec>& d,
               const BatchIdentity<Exec>&) override {
    relu_forward<Exec>(exec, d.x[0], d.y);
  }

  void backward(const Exec& exec,
                const LayerData<Exec>& d,
                const BatchIdentity<Exec>&) override {
    if (d.dx[0].extent(0) > 0) {
      relu_backward<Exec>(exec, d.y, d.dy, d.dx[0]);
    }
  }
};

template <class Exec>
class TanhLayer final : public Layer<Exec> {
 public:
  void forward(const Exec& exec,
               const LayerData<Exec>& d,
               const BatchIdentity<Exec>&) override {
    tanh_forward<Exec>(exec, d.x[0], d.y);
  }

  void backward(const Exec& exec,
                const LayerData<Exec>& d,
                const BatchIdentity<Exec>&) override {
    if (d.dx[0].extent(0) > 0) {
      tanh_backward<Exec>(exec, d.y, d.dy, d.dx[0]);
    }
  }
};

template <class Exec>
class LeakyReluLayer final : public Layer<Exec> {
 public:
  explicit LeakyReluLayer(float slope) : slope_(slope) {}

  void forward(const Exec& exec,
               const LayerData<Exec>& d,
               const BatchIdentity<Exec>&) override {
    leaky_relu_forward<Exec>(exec, slope_, d.x[0], d.y);
  }

  void backward(const Exec& exec,
                const LayerData<Exec>& d,
                const BatchIdentity<Exec>&) override {
    if (d.dx[0].extent(0) > 0) {
      leaky_relu_backward<Exec>(exec, slope_, d.y, d.dy, d.dx[0]);
    }
  }

 private:
  float slope_;
};

template <class Exec>
class SigmoidLayer final : public Layer<Exec> {
 public:
  void forward(const Exec& exec,
               const LayerData<Exec>& d,
               const BatchIdentity<Exec>&) override {
    sigmoid_forward<Exec>(exec, d.x[0], d.y);
  }

  void backward(const Exec& exec,
                const LayerData<Exec>& d,
                const BatchIdentity<Exec>&) override {
    if (d.dx[0].extent(0) > 0) {
      sigmoid_backward<Exec>(exec, d.y, d.dy, d.dx[0]);
    }
  }
};

template <class Exec>
class LrnLayer final : public Layer<Exec> {
 public:
  LrnLayer(const Exec& exec, const LrnShape& shape)
      : shape_(shape),
        denominators_(make_buffer(exec,
                                  "crossbow::lrn::denominators",
                                  static_cast<std::size_t>(shape.rows * shape.c))) {}

  void forward(const Exec& exec,
               const LayerData<Exec>& d,
               const BatchIdentity<Exec>&) override {
    lrn_forward<Exec>(exec, shape_, d.x[0], as_span(denominators_), d.y);
  }

  void backward(const Exec& exec,
                const LayerData<Exec>& d,
                const BatchIdentity<Exec>&) override {
    if (d.dx[0].extent(0) > 0) {
      lrn_backward<Exec>(
          exec, shape_, {d.x[0], as_span(denominators_), d.y, d.dy}, d.dx[0]);
    }
  }

 private:
  LrnShape shape_;
  Buffer<Exec> denominators_;  // from forward to backward
};

/// Two or more inputs one after another along channels.
template <class Exec>
class ConcatLayer final : public Layer<Exec> {
 public:
  explicit ConcatLayer(std::vector<ChannelPart> parts) : parts_(std::move(parts)) {}

  void forward(const Exec& exec,
               const LayerData<Exec>& d,
               const BatchIdentity<Exec>&) override {
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      put_channels<Exec>(exec, parts_[i], d.x[i], d.y);
    }
  }

  void backward(const Exec& exec,
                const LayerData<Exec>& d,
                const BatchIdentity<Exec>&) override {
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      if (d.dx[i].extent(0) > 0) {
        take_channels<Exec>(exec, parts_[i], d.dy, d.dx[i]);
      }
    }
  }

 private:
  std::vector<ChannelPart> parts_;  // of the output, one for each input
};

/// A sum of two, perhaps with a fused ReLU. A dx that is dy itself costs nothing: the
/// network shares gradients where it can (model/gradient_sharing.hpp).
template <class Exec>
class AddLayer final : public Layer<Exec> {
 public:
  explicit AddLayer(bool relu) : relu_(relu) {}

  void forward(const Exec& exec,
               const LayerData<Exec>& d,
               const BatchIdentity<Exec>&) override {
    if (relu_) {
      add_relu<Exec>(exec, d.x[0], d.x[1], d.y);
    } else {
      add<Exec>(exec, d.x[0], d.x[1], d.y);
    }
  }

  void backward(const Exec& exec,
                const LayerData<Exec>& d,
                const BatchIdentity<Exec>&) override {
    if (relu_) {
      relu_backward<Exec>(exec, d.y, d.dy, d.dy);
    }
    for (const Span<Exec>& dx : d.dx) {
      if (dx.extent(0) > 0 && dx.data() != d.dy.data()) {
        copy<Exec>(exec, d.dy, dx);
      }
    }
  }

 private:
  bool relu_;
};

template <class Exec>
class ShortcutLayer final : public Layer<Exec> {
 public:
  explicit ShortcutLayer(const ShortcutShape& shape) : shape_(shape) {}

  void forward(const Exec& exec,
               const LayerData<Exec>& d,
               const BatchIdentity<Exec>&) override {
    shortcut_forward<Exec>(exec, shape_, d.x[0], d.y);
  }

  void backward(const Exec& exec,
                const LayerData<Exec>& d,
                const BatchIdentity<Exec>&) override {
    if (d.dx[0].extent(0) > 0) {
      shortcut_backward<Exec>(exec, shape_, d.dy, d.dx[0]);
    }
  }

 private:
  ShortcutShape shape_;
};

template <class Exec>
class DropoutLayer final : public Layer<Exec> {
 public:
  DropoutLayer(const DropoutKey& key, bool inference)
      : key_(key), inference_(inference) {}

  void forward(const Exec& exec,
               const LayerData<Exec>& d,
               const BatchIdentity<Exec>& b) override {
    if (inference_) {
      copy<Exec>(exec, d.x[0], d.y);
    } else {
      dropout<Exec>(exec, key_, b.sample_ids, b.epochs, d.x[0], d.y);
    }
  }

  void backward(const Exec& exec,
                const LayerData<Exec>& d,
                const BatchIdentity<Exec>& b) override {
    if (d.dx[0].extent(0) > 0) {
      dropout<Exec>(exec, key_, b.sample_ids, b.epochs, d.dy, d.dx[0]);
    }
  }

 private:
  DropoutKey key_;
  bool inference_;
};

}  // namespace crossbow
