#pragma once
// The inner loops of the host's matrix products: small panels of rows that stay in
// registers while a vector loop goes over the columns.
//
// multiply() keeps 4 x 4 coefficients in registers and adds four rows of w to four rows
// of y at a time: 16 multiply-adds for 12 loads and stores, which is enough to be bound
// by arithmetic when the rows lie in the first-level cache.

#include <cstdint>

#include <Kokkos_Macros.hpp>

namespace crossbow {

/// Coefficients a(p, k) = data[p row_stride + k term_stride].
struct PanelCoefficients {
  const float* data;
  std::int64_t row_stride, term_stride;
};

/// Rows of a matrix, `stride` elements apart.
template <class T>
struct PanelRows {
  T* data;
  std::int64_t stride;
};

/// Rows and terms of a product.
struct PanelSize {
  std::int64_t rows, terms;
};

/// y(p, j) += sum over k of a(p, k) w(k, j) for P rows, K terms and j < width.
template <int P, int K>
KOKKOS_INLINE_FUNCTION void multiply_panel(const PanelCoefficients& a,
                                           const PanelRows<const float>& w,
                                           const PanelRows<float>& y,
                                           std::int64_t width) {
  float coefficient[P][K];
  for (int p = 0; p < P; ++p) {
    for (int k = 0; k < K; ++k) {
      coefficient[p][k] = a.data[p * a.row_stride + k * a.term_stride];
    }
  }
  const float* const w_data = w.data;
  float* const y_data = y.data;
  const std::int64_t w_stride = w.stride, y_stride = y.stride;
#pragma GCC ivdep
  for (std::int64_t j = 0; j < width; ++j) {
    float term[K], sum[P];
    for (int k = 0; k < K; ++k) {
      term[k] = w_data[k * w_stride + j];
    }
    for (int p = 0; p < P; ++p) {
      sum[p] = y_data[p * y_stride + j];
    }
    for (int k = 0; k < K; ++k) {
      for (int p = 0; p < P; ++p) {
        sum[p] += coefficient[p][k] * term[k];
      }
    }
    for (int p = 0; p < P; ++p) {
      y_data[p * y_stride + j] = sum[p];
    }
  }
}

/// The same for P rows and any number of terms.
template <int P>
KOKKOS_INLINE_FUNCTION void multiply_terms(PanelCoefficients a,
                                           std::int64_t terms,
                                           PanelRows<const float> w,
                                           const PanelRows<float>& y,
                                           std::int64_t width) {
  std::int64_t k = 0;
  for (; k + 4 <= terms; k += 4) {
    multiply_panel<P, 4>(a, w, y, width);
    a.data += 4 * a.term_stride;
    w.data += 4 * w.stride;
  }
  for (; k < terms; ++k) {
    multiply_panel<P, 1>(a, w, y, width);
    a.data += a.term_stride;
    w.data += w.stride;
  }
}

/// y(p, j) += sum over k of a(p, k) w(k, j) for any number of rows and terms. Rows of y
/// must not overlap each other or w. Terms are added in the order of k.
KOKKOS_INLINE_FUNCTION void multiply(PanelCoefficients a,
                                     const PanelSize& size,
                                     const PanelRows<const float>& w,
                                     PanelRows<float> y,
                                     std::int64_t width) {
  std::int64_t p = 0;
  for (; p + 4 <= size.rows; p += 4) {
    multiply_terms<4>(a, size.terms, w, y, width);
    a.data += 4 * a.row_stride;
    y.data += 4 * y.stride;
  }
  for (; p < size.rows; ++p) {
    multiply_terms<1>(a, size.terms, w, y, width);
    a.data += a.row_stride;
    y.data += y.stride;
  }
}

/// y(p, k) = sum over j < width of a(p, j) b(k, j) for P rows of a and K rows of b.
template <int P, int K>
KOKKOS_INLINE_FUNCTION void dot_panel(const PanelRows<const float>& a,
                                      const PanelRows<const float>& b,
                                      const PanelRows<float>& y,
                                      std::int64_t width) {
  // The lanes are the vector registers: sums over j are lane by lane, so that no
  // -ffast-math is needed to reorder them.
  constexpr int lanes = 16;
  float sum[P][K][lanes] = {};
  std::int64_t j = 0;
  for (; j + lanes <= width; j += lanes) {
    for (int p = 0; p < P; ++p) {
      for (int k = 0; k < K; ++k) {
        for (int lane = 0; lane < lanes; ++lane) {
          sum[p][k][lane] +=
              a.data[p * a.stride + j + lane] * b.data[k * b.stride + j + lane];
        }
      }
    }
  }
  for (int p = 0; p < P; ++p) {
    for (int k = 0; k < K; ++k) {
      float total = 0;
      for (int lane = 0; lane < lanes; ++lane) {
        total += sum[p][k][lane];
      }
      for (std::int64_t rest = j; rest < width; ++rest) {
        total += a.data[p * a.stride + rest] * b.data[k * b.stride + rest];
      }
      y.data[p * y.stride + k] = total;
    }
  }
}

/// y(p, k) = sum over j < width of a(p, j) b(k, j) for any number of rows.
KOKKOS_INLINE_FUNCTION void dot_rows(PanelRows<const float> a,
                                     const PanelSize& size,
                                     PanelRows<const float> b,
                                     PanelRows<float> y,
                                     std::int64_t width) {
  const auto go_over_b = [&](auto rows) {
    PanelRows<const float> b_row = b;
    PanelRows<float> y_row = y;
    std::int64_t k = 0;
    for (; k + 4 <= size.terms; k += 4) {
      dot_panel<rows(), 4>(a, b_row, y_row, width);
      b_row.data += 4 * b.stride;
      y_row.data += 4;
    }
    for (; k < size.terms; ++k) {
      dot_panel<rows(), 1>(a, b_row, y_row, width);
      b_row.data += b.stride;
      y_row.data += 1;
    }
  };
  std::int64_t p = 0;
  for (; p + 4 <= size.rows; p += 4) {
    go_over_b(std::integral_constant<int, 4>{});
    a.data += 4 * a.stride;
    y.data += 4 * y.stride;
  }
  for (; p < size.rows; ++p) {
    go_over_b(std::integral_constant<int, 1>{});
    a.data += a.stride;
    y.data += y.stride;
  }
}

}  // namespace crossbow
