#pragma once
// One split of an image data set: in memory, and as the HDF5 file that `crossbow import`
// writes (io/README.md has the format).

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace crossbow {

/// One split, whole in memory. Its samples are pixels (`images`) or stay compressed
/// (`jpeg`, `offsets`); the other of the two is empty.
struct Dataset {
  std::int64_t n = 0;  // samples
  int h = 0, w = 0;    // 0, 0: compressed samples of more than one size
  int c = 0;           // channels; compressed ones are decoded to it
  int classes = 0;
  std::vector<std::uint8_t> images;      // (n, h, w, c)
  std::vector<std::uint8_t> jpeg;        // JPEG files, one after the other
  std::vector<std::int64_t> offsets;     // (n + 1): where each begins, and the end
  std::vector<std::int32_t> labels;      // (n), each 0 <= label < classes
  std::vector<std::string> class_names;  // (classes) or empty
  double mean = 0;                       // of value / 255 over all pixels
  double std = 0;                        // of the same, over all pixels (no n - 1)
  std::string source;                    // what it was imported from
  std::string place;                     // file or folder that it was loaded from
  std::string digest;                    // SHA-256 of the source's bytes, hexadecimal
};

/// Return the bytes that a sample's pixels have (h * w * c); 0 where sizes differ.
std::int64_t sample_bytes(const Dataset& data);

/// Whether the samples are JPEG files.
bool is_compressed(const Dataset& data);

/// Return the JPEG file of sample `i` of a compressed set.
std::span<const std::uint8_t> jpeg_of(const Dataset& data, std::int64_t i);

/// Exact sums over pixels, from which mean and std come.
struct PixelSums {
  std::uint64_t sum = 0;
  std::uint64_t squares = 0;  // 255^2 * 2^47 values fit
  std::uint64_t count = 0;

  PixelSums& operator+=(const PixelSums& other);
};

/// Return the sums over `pixels`.
PixelSums sums_of(std::span<const std::uint8_t> pixels);

/// Set `mean` and `std` from sums over all pixels.
void set_statistics(Dataset& data, const PixelSums& sums);

/// Set `mean` and `std` from the images; not for a compressed set.
void compute_statistics(Dataset& data);

/// Check sizes, counts and labels; throw Error(data) with file `where`, sample and value.
void check_dataset(const Dataset& data, const std::string& where);

/// Write `data` to `path` atomically. Throws Error(data) with path, reason and bytes
/// needed; then a file that was there is as it was.
void write_dataset(const std::string& path, const Dataset& data);

/// Read and check a file of `write_dataset`; throw Error(data) with path, what and value.
Dataset read_dataset(const std::string& path);

}  // namespace crossbow
