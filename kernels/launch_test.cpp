// What Kokkos Tools sees of the kernels: every launch has a label of ours, goes to the
// instance that was asked for, and nothing waits or allocates.

#include <functional>
#include <string>
#include <vector>

#include "kernels/activation.hpp"
#include "kernels/augment.hpp"
#include "kernels/batch_norm.hpp"
#include "kernels/concat.hpp"
#include "kernels/conv2d.hpp"
#include "kernels/dropout.hpp"
#include "kernels/elementwise.hpp"
#include "kernels/linear.hpp"
#include "kernels/lrn.hpp"
#include "kernels/pool2d.hpp"
#include "kernels/shortcut.hpp"
#include "kernels/softmax_loss.hpp"
#include "kernels/testing.hpp"

namespace crossbow {
namespace {

using namespace testing;
namespace tools = Kokkos::Tools::Experimental;

struct Events {
  std::vector<std::string> launches, others;
  std::vector<std::uint32_t> instances;
};

/// Where the callbacks, plain functions, write; null: nobody listens.
Events*& listener() {
  static Events* events = nullptr;
  return events;
}

void on_launch(const char* name, std::uint32_t instance, std::uint64_t*) {
  if (listener() != nullptr) {
    listener()->launches.emplace_back(name);
    listener()->instances.push_back(instance);
  }
}

void on_fence(const char* name, std::uint32_t, std::uint64_t*) {
  const std::string label = name;
  const bool own = label.rfind("Kokkos::Tools::", 0) == 0;  // before each callback
  if (listener() != nullptr && !own) {
    listener()->others.push_back("fence " + label);
  }
}

void on_allocate(Kokkos_Profiling_SpaceHandle,
                 const char* name,
                 const void*,
                 std::uint64_t) {
  if (listener() != nullptr) {
    listener()->others.push_back(std::string("allocation ") + name);
  }
}

// NOLINTNEXTLINE(readability-function-size): the parameters are Kokkos's
void on_copy(Kokkos_Profiling_SpaceHandle,
             const char* to,
             const void*,
             Kokkos_Profiling_SpaceHandle,
             const char* from,
             const void*,
             std::uint64_t) {
  if (listener() != nullptr) {
    listener()->others.push_back(std::string("copy of ") + from + " to " + to);
  }
}

/// Whether a launch was named by us: "crossbow::" and a function's name. Kokkos names a
/// launch without label by the functor's type, which has brackets or capitals.
bool is_own_label(const std::string& label) {
  const std::string prefix = "crossbow::";
  return label.rfind(prefix, 0) == 0 && label.size() > prefix.size() &&
         label.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_",
                                 prefix.size()) == std::string::npos;
}

/// Record what happens in `call`.
Events record(const std::function<void()>& call) {
  Events events;
  tools::set_begin_parallel_for_callback(on_launch);
  tools::set_begin_parallel_reduce_callback(on_launch);
  tools::set_begin_parallel_scan_callback(on_launch);
  tools::set_begin_fence_callback(on_fence);
  tools::set_allocate_data_callback(on_allocate);
  tools::set_begin_deep_copy_callback(on_copy);
  listener() = &events;
  call();
  listener() = nullptr;
  tools::set_begin_parallel_for_callback(nullptr);
  tools::set_begin_parallel_reduce_callback(nullptr);
  tools::set_begin_parallel_scan_callback(nullptr);
  tools::set_begin_fence_callback(nullptr);
  tools::set_allocate_data_callback(nullptr);
  tools::set_begin_deep_copy_callback(nullptr);
  return events;
}

template <class Exec>
class LaunchTest : public ::testing::Test {
 protected:
  /// Expect that `call` launches `launches` kernels on exec, all labelled, and nothing
  /// else. The second call counts: team scratch memory is allocated in the first.
  void expect_launches(std::size_t launches, const std::function<void()>& call) {
    call();
    const Events events = record(call);
    EXPECT_EQ(events.launches.size(), launches);
    for (const std::string& label : events.launches) {
      EXPECT_TRUE(is_own_label(label)) << label;
    }
    for (const std::uint32_t instance : events.instances) {
      EXPECT_EQ(instance, tools::device_id(exec));
    }
    EXPECT_EQ(events.others, std::vector<std::string>{});
  }

  Array<Exec> array(std::int64_t size) const {
    return Array<Exec>(exec, random_values(size, 1));
  }

  Exec exec = test_instance<Exec>();
};
TYPED_TEST_SUITE(LaunchTest, Spaces, TargetName);

TYPED_TEST(LaunchTest, listener_hears_a_launch_without_label) {
  const Events events = record([&] {
    const std::string no_label;
    Kokkos::parallel_for(
        no_label, Kokkos::RangePolicy<TypeParam>(this->exec, 0, 1), KOKKOS_LAMBDA(int){});
    this->exec.fence("a fence");
  });
  ASSERT_EQ(events.launches.size(), 1U);
  EXPECT_FALSE(is_own_label(events.launches[0])) << events.launches[0];
  EXPECT_EQ(events.others, std::vector<std::string>{"fence a fence"});
}

TYPED_TEST(LaunchTest, element_kernels) {
  const auto x = this->array(100), y = this->array(100);
  const Array<TypeParam, std::uint8_t> bytes(this->exec, std::vector<std::uint8_t>(100));
  this->expect_launches(12, [&] {
    add_relu(this->exec, x.view(), x.view(), y.span());
    leaky_relu_forward(this->exec, 0.1F, x.view(), y.span());
    leaky_relu_backward(this->exec, 0.1F, x.view(), x.view(), y.span());
    sigmoid_forward(this->exec, x.view(), y.span());
    sigmoid_backward(this->exec, x.view(), x.view(), y.span());
    relu_forward(this->exec, x.view(), y.span());
    relu_backward(this->exec, x.view(), x.view(), y.span());
    tanh_forward(this->exec, x.view(), y.span());
    tanh_backward(this->exec, x.view(), x.view(), y.span());
    add(this->exec, x.view(), x.view(), y.span());
    copy(this->exec, x.view(), y.span());
    normalise(this->exec, bytes.view(), 1, 0, y.span());
  });
  const Array<TypeParam, std::int64_t> ids(this->exec, std::vector<std::int64_t>(10));
  const DropoutKey key{1, 1, 10, 10, 0.5F};
  this->expect_launches(
      1, [&] { dropout(this->exec, key, ids.view(), ids.view(), x.view(), y.span()); });
}

TYPED_TEST(LaunchTest, shortcut) {
  const ShortcutShape s{1, 4, 4, 2, 2, 4};
  const auto x = this->array(32), y = this->array(16);
  this->expect_launches(2, [&] {
    shortcut_forward(this->exec, s, x.view(), y.span());
    shortcut_backward(this->exec, s, y.view(), x.span());
  });
}

TYPED_TEST(LaunchTest, batch_norm_and_softmax) {
  const BatchNormShape s{50, 20};
  const auto x = this->array(1000), y = this->array(1000), scale = this->array(20),
             a = this->array(20), b = this->array(20), c = this->array(20),
             d = this->array(20);
  const BatchNormState<TypeParam> state{
      scale.view(), scale.view(), a.span(), b.span(), c.span(), d.span()};
  this->expect_launches(5, [&] {
    batch_norm_forward(this->exec, s, x.view(), state, y.span());
    batch_norm_inference(this->exec, s, x.view(), state, y.span());
    batch_norm_backward<TypeParam>(
        this->exec, s, x.view(), x.view(), state, {y.span(), a.span(), b.span()});
  });
  const Array<TypeParam, std::int32_t> labels(this->exec, std::vector<std::int32_t>(100)),
      correct(this->exec, 100);
  const auto losses = this->array(100);
  this->expect_launches(1, [&] {
    softmax_cross_entropy<TypeParam>(this->exec,
                                     {100, 10},
                                     x.view(),
                                     labels.view(),
                                     {losses.span(), correct.span(), y.span()});
  });
}

TYPED_TEST(LaunchTest, lrn_and_concat) {
  const LrnShape s{20, 5};
  const auto x = this->array(100), d = this->array(100), y = this->array(100);
  const auto wide = this->array(160);
  this->expect_launches(4, [&] {
    lrn_forward(this->exec, s, x.view(), d.span(), y.span());
    lrn_backward(this->exec, s, {x.view(), d.view(), y.view(), y.view()}, x.span());
    put_channels(this->exec, {20, 5, 8, 2}, x.view(), wide.span());
    take_channels(this->exec, {20, 5, 8, 2}, wide.view(), y.span());
  });
}

TYPED_TEST(LaunchTest, pooling) {
  for (const PoolKind kind : {PoolKind::max, PoolKind::average}) {
    const Pool2dShape s{2, 6, 6, 5, 2, 2, kind, false};
    const auto pool = make_pool2d(this->exec, {s, KernelSet::kokkos});
    const auto x = this->array(s.input_size()), y = this->array(s.output_size());
    const auto mean = this->array(s.n * s.c);
    this->expect_launches(4, [&] {
      pool->forward(this->exec, x.view(), y.span());
      pool->backward(this->exec, y.view(), x.span());
      global_average_forward(this->exec, s, x.view(), mean.span());
      global_average_backward(this->exec, s, mean.view(), x.span());
    });
  }
}

TYPED_TEST(LaunchTest, convolution_and_linear) {
  const Conv2dShape s{2, 6, 6, 3, 5, 3, 1, 1, 1, true, true};
  const auto conv = make_conv2d(this->exec, {s, KernelSet::kokkos, false, nullptr});
  const auto x = this->array(s.input_size()), y = this->array(s.output_size()),
             weight = this->array(s.weight_size()), bias = this->array(s.filters);
  this->expect_launches(5, [&] {
    conv->forward(this->exec, x.view(), weight.view(), bias.view(), y.span());
    conv->backward_data(this->exec, y.view(), weight.view(), x.span());
    conv->backward_weight(this->exec, x.view(), y.view(), weight.span(), bias.span());
  });
  const LinearShape t{2, 6, 6, 3, 5, true, true};
  const auto linear = make_linear(this->exec, {t, KernelSet::kokkos, false, nullptr});
  const auto matrix = this->array(t.weight_size()), result = this->array(t.output_size());
  this->expect_launches(4, [&] {
    linear->forward(this->exec, x.view(), matrix.view(), bias.view(), result.span());
    linear->backward_data(this->exec, result.view(), matrix.view(), x.span());
    linear->backward_weight(
        this->exec, x.view(), result.view(), matrix.span(), bias.span());
  });
}

/// Making an operation may allocate and fill, but under our labels and on the instance.
TYPED_TEST(LaunchTest, factories) {
  const Events events = record([&] {
    make_conv2d(this->exec,
                {{2, 6, 6, 3, 5, 3, 1, 1, 1, true, true}, KernelSet::kokkos, false, {}});
    make_linear(this->exec, {{2, 6, 6, 3, 5, true, true}, KernelSet::kokkos, false, {}});
    make_pool2d(this->exec, {{2, 6, 6, 5, 2, 2, PoolKind::max, true}, KernelSet::kokkos});
  });
  for (const std::string& label : events.launches) {
    EXPECT_NE(label.find("crossbow::"), std::string::npos) << label;
  }
  for (const std::uint32_t instance : events.instances) {
    EXPECT_EQ(instance, tools::device_id(this->exec));
  }
  std::size_t allocations = 0;
  for (const std::string& other : events.others) {
    if (other.rfind("allocation ", 0) == 0) {
      EXPECT_NE(other.find("crossbow::"), std::string::npos) << other;
      ++allocations;
    }
  }
  EXPECT_EQ(allocations, 2U);  // swapped weights, places of maxima
}

}  // namespace
}  // namespace crossbow
