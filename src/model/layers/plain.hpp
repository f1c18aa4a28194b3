#pragma once
// Layers without tensors of their own: pooling, activations, sums, shortcuts and dropout.

#include <memory>

#include "kernels/activation.hpp"
#include "kernels/dropout.hpp"
#include "kernels/elementwise.hpp"
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
class AddLayer final : public Layer<Exec> {
 public:
  void forward(const Exec& exec,
               const LayerData<Exec>& d,
               const BatchIdentity<Exec>&) override {
    add<Exec>(exec, d.x[0], d.x[1], d.y);
  }

  void backward(const Exec& exec,
                const LayerData<Exec>& d,
                const BatchIdentity<Exec>&) override {
    for (const Span<Exec>& dx : d.dx) {
      if (dx.extent(0) > 0) {
        copy<Exec>(exec, d.dy, dx);
      }
    }
  }
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
