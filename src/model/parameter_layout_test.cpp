#include "model/parameter_layout.hpp"

#include <limits>
#include <set>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "model/testing.hpp"

namespace crossbow {
namespace {

using namespace testing;
using ::testing::HasSubstr;

/// Odd channels, so that vendors pad.
NetworkPlan odd_network() {
  return plan_network(model_of({convolution("conv1", 5, 3),
                                layer(LayerType::batch_norm, "bn"),
                                convolution("conv2", 19, 3),
                                linear("fc1", 7),
                                linear("fc2", 3)}),
                      {6, 6, 2},
                      3);
}

NamedTensors numbered(const ParameterLayout& layout, const std::string& prefix) {
  NamedTensors tensors;
  float next = 1;
  for (const ParameterSlot& slot : layout.slots()) {
    NamedTensor& tensor = tensors[prefix + slot.name];
    tensor.shape = slot.shape;
    for (std::int64_t i = 0; i < slot.elements(); ++i) {
      tensor.values.push_back(next++);
    }
  }
  return tensors;
}

std::vector<float> packed(const ParameterLayout& layout,
                          const NamedTensors& tensors,
                          const std::string& prefix) {
  std::vector<float> vector(static_cast<std::size_t>(layout.size()),
                            std::numeric_limits<float>::quiet_NaN());
  layout.pack(tensors, prefix, vector);
  return vector;
}

TEST(ParameterLayout, pack_and_unpack_lose_nothing) {
  for (const auto& [kernels, name] : kernel_sets) {
    SCOPED_TRACE(name);
    const NetworkAtWork<> work(odd_network(), options_of(4, kernels));
    const ParameterLayout& layout = work.network.parameters();
    const NamedTensors tensors = numbered(layout, "average/");
    const std::vector<float> vector = packed(layout, tensors, "average/");
    NamedTensors back;
    layout.unpack(vector, "w/", back);
    ASSERT_EQ(back.size(), tensors.size());
    for (const ParameterSlot& slot : layout.slots()) {
      const NamedTensor& tensor = back.at("w/" + slot.name);
      EXPECT_EQ(tensor.shape, slot.shape) << slot.name;
      expect_same_bits(
          tensor.values, tensors.at("average/" + slot.name).values, slot.name);
    }
    // Padding is zero: no NaN is left, and each number is there once.
    std::multiset<float> values(vector.begin(), vector.end());
    EXPECT_EQ(values.count(0.0F),
              static_cast<std::size_t>(layout.size() - layout.elements()));
    for (std::int64_t i = 1; i <= layout.elements(); ++i) {
      ASSERT_EQ(values.count(static_cast<float>(i)), 1U) << i;
    }
  }
}

TEST(ParameterLayout, slots_are_named_shaped_and_aligned) {
  const NetworkAtWork<> work(odd_network(), options_of(4, KernelSet::vendor));
  const ParameterLayout& layout = work.network.parameters();
  std::vector<std::string> names;
  std::int64_t end = 0;
  for (const ParameterSlot& slot : layout.slots()) {
    names.push_back(slot.name);
    EXPECT_EQ(slot.offset % parameter_alignment, 0);
    EXPECT_GE(slot.offset, end) << slot.name << " overlaps the one before";
    EXPECT_GE(slot.size, slot.elements());
    end = slot.offset + slot.size;
    EXPECT_EQ(&layout.slot_at(slot.offset), &slot);
    EXPECT_EQ(&layout.slot_at(slot.offset + slot.size - 1), &slot);
  }
  EXPECT_GE(layout.size(), end);
  EXPECT_EQ(names,
            (Names{"conv1.weight",
                   "conv1.bias",
                   "bn.scale",
                   "bn.shift",
                   "conv2.weight",
                   "conv2.bias",
                   "fc1.weight",
                   "fc1.bias",
                   "fc2.weight",
                   "fc2.bias"}));
  using Shape = std::vector<std::int64_t>;
  EXPECT_EQ(layout.slots()[0].shape, (Shape{5, 2, 3, 3}));
  EXPECT_EQ(layout.slots()[2].shape, (Shape{5}));
  EXPECT_EQ(layout.slots()[6].shape, (Shape{7, std::int64_t{19} * 36}));
  const ParameterLayout& statistics = work.network.statistics();
  ASSERT_EQ(statistics.slots().size(), 2U);
  EXPECT_EQ(statistics.slots()[0].name, "bn.running_mean");
  EXPECT_EQ(statistics.slots()[1].name, "bn.running_variance");
}

std::string pack_error(const NamedTensors& tensors) {
  const NetworkAtWork<> work(odd_network(), options_of(1, KernelSet::kokkos));
  try {
    packed(work.network.parameters(), tensors, "replica0/");
  } catch (const Error& error) {
    EXPECT_EQ(error.exit_code(), ExitCode::data);
    return error.what();
  }
  return "no error";
}

TEST(ParameterLayout, a_missing_tensor_is_named) {
  const NetworkAtWork<> work(odd_network(), options_of(1, KernelSet::kokkos));
  NamedTensors tensors = numbered(work.network.parameters(), "replica0/");
  EXPECT_EQ(pack_error(tensors), "no error");
  tensors.erase("replica0/bn.shift");
  EXPECT_THAT(pack_error(tensors), HasSubstr("replica0/bn.shift"));
}

TEST(ParameterLayout, a_tensor_of_another_shape_is_named) {
  const NetworkAtWork<> work(odd_network(), options_of(1, KernelSet::kokkos));
  const NamedTensors tensors = numbered(work.network.parameters(), "replica0/");
  NamedTensors bad = tensors;
  bad["replica0/conv2.weight"].shape = {5, 19, 3, 3};  // as many values
  EXPECT_THAT(pack_error(bad), HasSubstr("replica0/conv2.weight"));
  bad = tensors;
  bad["replica0/fc2.bias"] = {{4}, {1, 2, 3, 4}};
  EXPECT_THAT(pack_error(bad), HasSubstr("replica0/fc2.bias"));
}

// A file can say one shape and hold another number of values.
TEST(ParameterLayout, a_tensor_with_too_few_values_is_named) {
  const NetworkAtWork<> work(odd_network(), options_of(1, KernelSet::kokkos));
  NamedTensors tensors = numbered(work.network.parameters(), "replica0/");
  tensors["replica0/fc2.bias"].values.pop_back();
  EXPECT_THAT(pack_error(tensors), HasSubstr("replica0/fc2.bias"));
}

}  // namespace
}  // namespace crossbow
