#include "kernels/lrn.hpp"

#include "kernels/reference/lrn.hpp"
#include "kernels/testing.hpp"

namespace crossbow {
namespace {

using namespace testing;

// rows, c, size, alpha, beta, k: AlexNet's, even, of one channel, wider than the channels
const LrnShape shapes[] = {{60, 96, 5, 1e-4F, 0.75F, 2},
                           {7, 23, 4, 0.5F, 0.75F, 1},
                           {5, 17, 1, 1, 0.5F, 1},
                           {3, 1, 5, 1, 0.75F, 1},
                           {2, 3, 9, 2, 1.5F, 0.5F},
                           {0, 4, 5, 1, 0.75F, 1}};

template <class Exec>
class LrnTest : public ::testing::Test {};
TYPED_TEST_SUITE(LrnTest, Spaces, TargetName);

TYPED_TEST(LrnTest, agrees_with_reference) {
  const TypeParam exec = test_instance<TypeParam>();
  for (const LrnShape& s : shapes) {
    SCOPED_TRACE(std::to_string(s.c) + " channels, size " + std::to_string(s.size));
    const std::vector<float> x = random_values(s.rows * s.c, 1);
    const std::vector<float> dy = random_values(s.rows * s.c, 2);
    std::vector<double> y(x.size()), dx(x.size());
    reference::lrn_forward(s, to_double(x).data(), y.data());
    reference::lrn_backward(s, to_double(x).data(), to_double(dy).data(), dx.data());
    const Array<TypeParam> x_there(exec, x), dy_there(exec, dy), d(exec, s.rows * s.c),
        y_there(exec, s.rows * s.c), dx_there(exec, s.rows * s.c);
    lrn_forward(exec, s, x_there.view(), d.span(), y_there.span());
    lrn_backward(exec,
                 s,
                 {x_there.view(), d.view(), y_there.view(), dy_there.view()},
                 dx_there.span());
    // A power turns a relative error into beta times that.
    expect_close(y_there.values(), y, 2 * sum_tolerance(s.size), "y");
    expect_close(dx_there.values(), dx, 4 * sum_tolerance(s.size), "dx");
  }
}

TYPED_TEST(LrnTest, nan_reaches_the_channels_that_see_it) {
  const TypeParam exec = test_instance<TypeParam>();
  const LrnShape s{2, 12, 4, 1, 0.75F, 1};  // from two channels before to one after
  std::vector<float> x = random_values(24, 1);
  x[5] = NAN;
  const Array<TypeParam> x_there(exec, x), d(exec, 24), y(exec, 24);
  lrn_forward(exec, s, x_there.view(), d.span(), y.span());
  const std::vector<float> values = y.values();
  for (std::size_t i = 0; i < values.size(); ++i) {
    EXPECT_EQ(std::isnan(values[i]), 4 <= i && i <= 7) << i;
  }
}

// torch.nn.functional.local_response_norm(x, size, alpha=0.5, beta=0.75, k=2) and its
// gradient for dy = 1 ... 8, PyTorch 2; float's 0.75 and 0.5 are exact.
TEST(LrnReference, is_pytorchs) {
  const double x[8] = {-1.5, 2, 0.5, -3, 1, 2.5, 0, -2}, dy[8] = {1, 2, 3, 4, 5, 6, 7, 8};
  const std::vector<double> y_of[2] = {{-0.722198951546,
                                        0.773319089387,
                                        0.189343480485,
                                        -1.050824010004,
                                        0.378686960969,
                                        0.879762801777,
                                        0.0,
                                        -0.871938715396},
                                       {-0.696484150397,
                                        0.920896022795,
                                        0.178877031572,
                                        -1.106355529369,
                                        0.349466032546,
                                        0.878739623395,
                                        0.0,
                                        -0.820352498431}};
  const std::vector<double> dx_of[2] = {{0.553189127394,
                                         0.989043472015,
                                         1.151085783945,
                                         2.023738276264,
                                         1.751239181723,
                                         2.679033568694,
                                         2.978245702289,
                                         3.189403069783},
                                        {0.616401782469,
                                         1.157008840175,
                                         1.068490396189,
                                         1.871102043199,
                                         1.640896911924,
                                         2.231831634007,
                                         2.791840803535,
                                         2.531373423731}};
  for (int i = 0; i < 2; ++i) {
    const LrnShape s{1, 8, 5 - i, 0.5F, 0.75F, 2};
    double y[8], dx[8];
    reference::lrn_forward(s, x, y);
    reference::lrn_backward(s, x, dy, dx);
    for (std::size_t c = 0; c < 8; ++c) {
      EXPECT_NEAR(y[c], y_of[i][c], 1e-11) << "size " << s.size << ", channel " << c;
      EXPECT_NEAR(dx[c], dx_of[i][c], 1e-11) << "size " << s.size << ", channel " << c;
    }
  }
}

TEST(LrnReference, gradient_by_finite_differences) {
  for (const LrnShape& shape : shapes) {
    LrnShape s = shape;
    s.rows = s.rows < 2 ? s.rows : 2;
    std::vector<double> x = to_double(random_values(s.rows * s.c, 1));
    const std::vector<double> dy = to_double(random_values(s.rows * s.c, 2));
    std::vector<double> y(x.size()), dx(x.size());
    reference::lrn_backward(s, x.data(), dy.data(), dx.data());
    const auto loss = [&] {
      reference::lrn_forward(s, x.data(), y.data());
      return weighted_sum(dy, y);
    };
    expect_gradient(x, dx, loss, "dx");
  }
}

}  // namespace
}  // namespace crossbow
