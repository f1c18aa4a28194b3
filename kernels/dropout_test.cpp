#include "kernels/dropout.hpp"

#include "kernels/reference/dropout.hpp"
#include "kernels/testing.hpp"

namespace crossbow {
namespace {

using namespace testing;

/// A batch's identity.
struct Samples {
  std::vector<std::int64_t> ids, epochs;
};

template <class Exec>
std::vector<float> run(const Exec& exec,
                       const DropoutKey& key,
                       const Samples& samples,
                       const std::vector<float>& x) {
  const Array<Exec, std::int64_t> ids(exec, samples.ids), epochs(exec, samples.epochs);
  const Array<Exec> x_there(exec, x), y(exec, static_cast<std::int64_t>(x.size()));
  dropout(exec, key, ids.view(), epochs.view(), x_there.view(), y.span());
  return y.values();
}

std::vector<float> ones(const DropoutKey& key) {
  return std::vector<float>(static_cast<std::size_t>(key.n * key.size), 1);
}

template <class Exec>
class DropoutTest : public ::testing::Test {};
TYPED_TEST_SUITE(DropoutTest, Spaces, TargetName);

TYPED_TEST(DropoutTest, agrees_with_reference) {
  const TypeParam exec = test_instance<TypeParam>();
  // Sizes around a block of four random numbers and around a host work item.
  for (const std::int64_t size : {1, 3, 4, 5, 64, 255, 256, 1031}) {
    for (const float p : {0.0F, 0.25F, 0.5F, 0.9F}) {
      const DropoutKey key{17, 23, 3, size, p};
      const Samples samples{{5, 0, (std::int64_t{1} << 40) + 1}, {1, 1, 2}};
      const std::vector<float> x = random_values(key.n * size, 1);
      std::vector<double> expected(x.size());
      reference::dropout(key,
                         samples.ids.data(),
                         samples.epochs.data(),
                         to_double(x).data(),
                         expected.data());
      // 1 - p, its inverse and the product are rounded.
      expect_close(run(exec, key, samples, x), expected, 4 * 0x1p-24, "y");
    }
  }
}

TYPED_TEST(DropoutTest, empty_batch) {
  const TypeParam exec = test_instance<TypeParam>();
  EXPECT_TRUE(run(exec, {1, 1, 0, 10, 0.5F}, {{}, {}}, {}).empty());
}

TYPED_TEST(DropoutTest, drops_the_asked_share) {
  const TypeParam exec = test_instance<TypeParam>();
  for (const float p : {0.1F, 0.5F, 0.75F}) {
    const DropoutKey key{3, 4, 2, 50000, p};
    const std::vector<float> y = run(exec, key, {{1, 2}, {1, 1}}, ones(key));
    double dropped = 0;
    for (const float value : y) {
      dropped += value == 0 ? 1 : 0;
      ASSERT_TRUE(value == 0 || std::abs(value * (1 - p) - 1) < 1e-6) << value;
    }
    // Binomial: five standard deviations of sqrt(p (1 - p) / 100000).
    EXPECT_NEAR(dropped / static_cast<double>(y.size()),
                p,
                5 * std::sqrt(p * (1 - p) / static_cast<double>(y.size())));
  }
}

TYPED_TEST(DropoutTest, does_not_depend_on_the_slot) {
  const TypeParam exec = test_instance<TypeParam>();
  const DropoutKey key{3, 4, 3, 101, 0.5F};
  const std::vector<float> y = run(exec, key, {{7, 8, 9}, {1, 1, 2}}, ones(key));
  const std::vector<float> other = run(exec, key, {{9, 7, 8}, {2, 1, 1}}, ones(key));
  const auto row = [](const std::vector<float>& values, std::ptrdiff_t slot) {
    return std::vector<float>(values.begin() + slot * 101,
                              values.begin() + (slot + 1) * 101);
  };
  EXPECT_EQ(row(y, 0), row(other, 1));
  EXPECT_EQ(row(y, 1), row(other, 2));
  EXPECT_EQ(row(y, 2), row(other, 0));
}

TYPED_TEST(DropoutTest, every_coordinate_changes_the_mask) {
  const TypeParam exec = test_instance<TypeParam>();
  const DropoutKey key{3, 4, 1, 101, 0.5F};
  DropoutKey other_seed = key, other_tensor = key;
  other_seed.seed = 5;
  other_tensor.tensor = 5;
  const std::vector<float> x = ones(key), mask = run(exec, key, {{7}, {1}}, x);
  EXPECT_NE(mask, run(exec, other_seed, {{7}, {1}}, x));
  EXPECT_NE(mask, run(exec, other_tensor, {{7}, {1}}, x));
  EXPECT_NE(mask, run(exec, key, {{8}, {1}}, x));
  EXPECT_NE(mask, run(exec, key, {{7}, {2}}, x));
}

TYPED_TEST(DropoutTest, backward_has_the_mask_of_forward) {
  const TypeParam exec = test_instance<TypeParam>();
  const DropoutKey key{3, 4, 2, 1000, 0.3F};
  const Samples samples{{11, 12}, {1, 1}};
  const std::vector<float> y = run(exec, key, samples, ones(key));
  const std::vector<float> dy = random_values(key.n * key.size, 1);
  const std::vector<float> dx = run(exec, key, samples, dy);
  for (std::size_t i = 0; i < dx.size(); ++i) {
    ASSERT_EQ(dx[i], dy[i] * y[i]) << i;
  }
}

TYPED_TEST(DropoutTest, works_in_place) {
  const TypeParam exec = test_instance<TypeParam>();
  const DropoutKey key{3, 4, 2, 333, 0.3F};
  const Samples samples{{11, 12}, {1, 1}};
  const std::vector<float> x = random_values(key.n * key.size, 1);
  const Array<TypeParam, std::int64_t> ids(exec, samples.ids),
      epochs(exec, samples.epochs);
  const Array<TypeParam> data(exec, x);
  dropout(exec, key, ids.view(), epochs.view(), data.view(), data.span());
  expect_same_bits(data.values(), run(exec, key, samples, x), "y in the place of x");
}

}  // namespace
}  // namespace crossbow
