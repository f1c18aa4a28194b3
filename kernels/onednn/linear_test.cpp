// Which of oneDNN's codes a linear layer runs as: never its plain loops, which would make
// a training a hundred times slower than the processor allows.

#include "kernels/linear.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "kernels/onednn/operations.hpp"
#include "kernels/onednn/support.hpp"
#include "kernels/testing.hpp"

namespace crossbow::onednn {
namespace {

using namespace testing;
using tag = dnnl::memory::format_tag;

/// Of the three passes in the layout that make_linear chooses.
std::string codes_of(const LinearShape& s) {
  LinearOptions options;
  options.shape = s;
  const auto exec = test_instance<Kokkos::Serial>();
  const auto linear = onednn::make_linear<Kokkos::Serial>(exec, options);
  const auto layout =
      std::dynamic_pointer_cast<const OnednnLayout>(linear->weight_layout());
  const auto x = descriptor({s.n, s.in()}, tag::nc);
  const auto y = descriptor({s.n, s.units}, tag::nc);
  const auto bias = descriptor({s.units}, tag::x);
  const dnnl::inner_product_forward::primitive_desc forward(
      host_engine(),
      dnnl::prop_kind::forward_training,
      x,
      layout->descriptor(),
      bias,
      y,
      attributes());
  const dnnl::inner_product_backward_weights::primitive_desc gradient(
      host_engine(), x, layout->descriptor(), bias, y, forward, attributes());
  const dnnl::inner_product_backward_data::primitive_desc data(
      host_engine(), x, layout->descriptor(), y, forward, attributes());
  return std::string(forward.impl_info_str()) + ", " + data.impl_info_str() + ", " +
         gradient.impl_info_str();
}

void expect_fast_code() {
  const std::vector<LinearShape> shapes = {{2, 7, 7, 64, 1024, true, false},
                                           {64, 7, 7, 64, 1024, true, true},
                                           {32, 1, 1, 1024, 10, true, false},
                                           {16, 1, 1, 512, 1000, true, false},
                                           {4, 1, 1, 64, 4, true, false}};
  for (const LinearShape& shape : shapes) {
    const std::string code = codes_of(shape);
    EXPECT_EQ(code.find("ref"), std::string::npos)
        << code << " for " << shape.units << " units at batch " << shape.n;
  }
}

TEST(OnednnLinear, runs_as_fast_code_on_this_processor) {
  expect_fast_code();
}

// A processor with AVX2 only, whichever this one is. To be asked for before anything else
// is made: each test is a process of its own under ctest.
TEST(OnednnLinear, runs_as_fast_code_with_avx2) {
  if (dnnl::set_max_cpu_isa(dnnl::cpu_isa::avx2) != dnnl::status::success) {
    GTEST_SKIP() << "oneDNN has been used before; run this test alone";
  }
  expect_fast_code();
}

}  // namespace
}  // namespace crossbow::onednn
