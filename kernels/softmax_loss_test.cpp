#include "kernels/softmax_loss.hpp"

#include "kernels/reference/softmax_loss.hpp"
#include "kernels/testing.hpp"

namespace crossbow {
namespace {

using namespace testing;

struct Results {
  std::vector<float> losses;
  std::vector<std::int32_t> correct;
  std::vector<float> dlogits;
};

template <class Exec>
Results run(const Exec& exec,
            const SoftmaxShape& s,
            const std::vector<float>& logits,
            const std::vector<std::int32_t>& labels,
            bool gradient = true) {
  const Array<Exec> logits_there(exec, logits), losses(exec, s.n),
      dlogits(exec, gradient ? s.n * s.classes : 0);
  const Array<Exec, std::int32_t> labels_there(exec, labels), correct(exec, s.n);
  softmax_cross_entropy<Exec>(exec,
                              s,
                              logits_there.view(),
                              labels_there.view(),
                              {losses.span(), correct.span(), dlogits.span()});
  return {losses.values(), correct.values(), dlogits.values()};
}

std::vector<std::int32_t> some_labels(const SoftmaxShape& s) {
  std::vector<std::int32_t> labels(static_cast<std::size_t>(s.n));
  for (std::size_t i = 0; i < labels.size(); ++i) {
    labels[i] = static_cast<std::int32_t>(i * 7 % static_cast<std::size_t>(s.classes));
  }
  return labels;
}

template <class Exec>
class SoftmaxTest : public ::testing::Test {};
TYPED_TEST_SUITE(SoftmaxTest, Spaces, TargetName);

TYPED_TEST(SoftmaxTest, agrees_with_reference) {
  const TypeParam exec = test_instance<TypeParam>();
  const SoftmaxShape cases[] = {{1, 1},
                                {1, 2},
                                {7, 10},
                                {64, 10},
                                {5, 100},
                                {3, 1000},
                                {0, 10},
                                {1, 1, 0.1F},
                                {7, 10, 0.1F},
                                {5, 100, 0.9F},
                                {3, 1000, 0.01F}};
  for (const SoftmaxShape& s : cases) {
    for (const float factor : {1.0F, 20.0F, 1e4F}) {
      SCOPED_TRACE(std::to_string(s.n) + " x " + std::to_string(s.classes));
      std::vector<float> logits = random_values(s.n * s.classes, 1);
      for (float& logit : logits) {
        logit *= factor;
      }
      const std::vector<std::int32_t> labels = some_labels(s);
      std::vector<double> losses(labels.size()), dlogits(logits.size());
      std::vector<std::int32_t> correct(labels.size());
      reference::softmax_cross_entropy<double>(
          s,
          to_double(logits).data(),
          labels.data(),
          {losses.data(), correct.data(), dlogits.data()});
      const Results results = run(exec, s, logits, labels);
      // The difference of two logits is rounded by 2^-24 of its size (expect_close scales
      // by it), exp turns that into a relative error, the sum adds its own.
      const double tolerance = sum_tolerance(s.classes) + 2 * factor * 0x1p-24;
      expect_close(results.losses, losses, tolerance, "losses");
      // Gradients are at most 1/n.
      std::vector<float> scaled = results.dlogits;
      for (std::size_t i = 0; i < scaled.size(); ++i) {
        scaled[i] *= static_cast<float>(s.n);
        dlogits[i] *= static_cast<double>(s.n);
      }
      expect_close(scaled, dlogits, tolerance, "n dlogits");
      EXPECT_EQ(results.correct, correct);
      const Results without = run(exec, s, logits, labels, false);
      expect_close(without.losses, losses, tolerance, "losses without gradient");
      EXPECT_EQ(without.correct, correct);
    }
  }
}

TYPED_TEST(SoftmaxTest, large_logits_do_not_overflow) {
  const TypeParam exec = test_instance<TypeParam>();
  const Results results = run(exec, {2, 2}, {1e4F, -1e4F, 1e4F, -1e4F}, {0, 1});
  EXPECT_EQ(results.losses, (std::vector<float>{0, 2e4F}));
  EXPECT_EQ(results.correct, (std::vector<std::int32_t>{1, 0}));
  EXPECT_EQ(results.dlogits, (std::vector<float>{0, 0, 0.5F, -0.5F}));
}

TYPED_TEST(SoftmaxTest, first_of_equal_logits_wins) {
  const TypeParam exec = test_instance<TypeParam>();
  const Results results = run(exec, {2, 3}, {1, 2, 2, 1, 2, 2}, {1, 2});
  EXPECT_EQ(results.correct, (std::vector<std::int32_t>{1, 0}));
}

TYPED_TEST(SoftmaxTest, nan_is_seen_and_never_correct) {
  const TypeParam exec = test_instance<TypeParam>();
  for (const std::size_t place : {0U, 1U, 2U}) {
    for (const std::int32_t label : {0, 1, 2}) {
      std::vector<float> logits = {3, 2, 1, 3, 2, 1};
      logits[place] = NAN;
      const Results results = run(exec, {2, 3}, logits, {label, 0});
      EXPECT_TRUE(std::isnan(results.losses[0]));
      EXPECT_EQ(results.correct[0], 0);
      EXPECT_FALSE(std::isnan(results.losses[1])) << "another sample";
      EXPECT_EQ(results.correct[1], 1);
      EXPECT_TRUE(std::isnan(results.dlogits[0]));
    }
  }
}

TEST(SoftmaxReference, worked_example) {
  const double logits[3] = {std::log(1.0), std::log(2.0), std::log(5.0)};
  const std::int32_t label = 1;
  double loss = 0, dlogits[3];
  std::int32_t correct = 1;
  reference::softmax_cross_entropy<double>(
      {1, 3}, logits, &label, {&loss, &correct, dlogits});
  EXPECT_NEAR(loss, -std::log(2.0 / 8), 1e-15);
  EXPECT_EQ(correct, 0);
  EXPECT_NEAR(dlogits[0], 1.0 / 8, 1e-15);
  EXPECT_NEAR(dlogits[1], 2.0 / 8 - 1, 1e-15);
  EXPECT_NEAR(dlogits[2], 5.0 / 8, 1e-15);
}

// torch.nn.functional.cross_entropy(logits, labels, label_smoothing=0.1), PyTorch 2.
TEST(SoftmaxReference, label_smoothing_is_pytorchs) {
  const double logits[6] = {1, 2, -1, 0.5, -2, 3};
  const std::int32_t labels[2] = {1, 0};
  double losses[2], dlogits[6];
  std::int32_t correct[2];
  reference::softmax_cross_entropy<double>(
      {2, 3, 0.1F}, logits, labels, {losses, correct, dlogits});
  EXPECT_NEAR(losses[0], 0.482345550102, 1e-7);  // 0.1 is rounded to a float
  EXPECT_NEAR(losses[1], 2.585097246364, 1e-7);
  const double expected[6] = {0.113081563505,
                              -0.113974410318,
                              0.000892846813,
                              -0.428972292685,
                              -0.01357252403,
                              0.442544816715};
  for (int i = 0; i < 6; ++i) {
    EXPECT_NEAR(dlogits[i], expected[i], 1e-7) << i;
  }
}

class SoftmaxGradient : public ::testing::TestWithParam<float> {};
INSTANTIATE_TEST_SUITE_P(Smoothing, SoftmaxGradient, ::testing::Values(0.0F, 0.3F));

TEST_P(SoftmaxGradient, of_the_reference_by_finite_differences) {
  const SoftmaxShape s{4, 5, GetParam()};
  std::vector<double> logits = to_double(random_values(s.n * s.classes, 1));
  const std::vector<std::int32_t> labels = some_labels(s);
  std::vector<double> losses(4), dlogits(logits.size());
  std::vector<std::int32_t> correct(4);
  reference::softmax_cross_entropy<double>(
      s, logits.data(), labels.data(), {losses.data(), correct.data(), dlogits.data()});
  const auto mean_loss = [&] {
    reference::softmax_cross_entropy<double>(
        s, logits.data(), labels.data(), {losses.data(), correct.data(), nullptr});
    return weighted_sum({0.25, 0.25, 0.25, 0.25}, losses);
  };
  expect_gradient(logits, dlogits, mean_loss, "dlogits");
}

}  // namespace
}  // namespace crossbow
