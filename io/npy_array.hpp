#pragma once
// One array in numpy's .npy form: a header that says type and shape, then the elements.
// Nothing of a header is believed unchecked.

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace crossbow {

/// Elements in C order (the last dimension is the fastest), little-endian.
struct NpyArray {
  std::string type;  // numpy's kind and bytes an element: "f4", "u1", "i8", "b1"; "U12"
  std::vector<std::int64_t> shape;  // empty: one value
  std::vector<std::uint8_t> bytes;
};

/// Return an array of type "f4" with these values.
NpyArray npy_floats(std::vector<std::int64_t> shape, std::span<const float> values);

/// Return the elements as T: float, double, std::int32_t or std::int64_t. Floating-point
/// elements become floating-point numbers only, integers and truth values any. Throws
/// Error(data) naming `where` for another type and for an integer that T cannot hold.
template <class T>
std::vector<T> npy_values(const NpyArray& array, const std::string& where);

/// Return the array of a whole .npy file; one in Fortran order is turned into C order.
/// Throws Error(data) naming `where` for what is damaged and for what no reader should
/// take: Python objects, records, big-endian numbers, float16.
NpyArray parse_npy(std::vector<std::uint8_t> file, const std::string& where);

/// Return what stands before the elements in the .npy file of `array`.
std::string npy_header(const NpyArray& array);

}  // namespace crossbow
