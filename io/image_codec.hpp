#pragma once
// JPEG (libjpeg-turbo) and PNG (libpng) images in memory, with every fault of theirs
// told: another kind of file, cut, damaged, too large. Pixels are uint8, (h, w, c).

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace crossbow {

/// Height, width and channels: 1 (grey) or 3 (RGB).
struct ImageSize {
  int h = 0, w = 0, c = 0;
  bool operator==(const ImageSize&) const = default;
};

/// Return the bytes of an image's pixels (h * w * c).
std::int64_t pixel_bytes(const ImageSize& size);

struct Image {
  int h = 0, w = 0, c = 0;
  std::vector<std::uint8_t> pixels;  // (h, w, c)
};

/// Whether `bytes` begin as a JPEG or PNG file does.
bool is_jpeg(std::span<const std::uint8_t> bytes);
bool is_png(std::span<const std::uint8_t> bytes);

/// Decodes JPEG images one after the other, without allocating anything but what
/// libjpeg-turbo does inside. One for each thread. Every function throws Error(data) with
/// what is wrong; which image it was is the caller's to add.
class JpegDecoder {
 public:
  JpegDecoder();
  ~JpegDecoder();
  JpegDecoder(JpegDecoder&& other) noexcept;
  JpegDecoder& operator=(JpegDecoder&&) = delete;
  JpegDecoder(const JpegDecoder&) = delete;
  JpegDecoder& operator=(const JpegDecoder&) = delete;

  /// Read the header: size and channels as stored.
  ImageSize size(std::span<const std::uint8_t> jpeg);

  /// Decode to `pixels` (ceil(h / shrink), ceil(w / shrink), channels). `channels` is 1
  /// or 3, whatever is stored: grey is repeated, colour becomes its luminance. `shrink`
  /// is 1, 2, 4 or 8; decoding to a smaller size costs less than decoding all. A warning
  /// of the library (data that end too early, or are damaged) is an error.
  void decode(std::span<const std::uint8_t> jpeg,
              int channels,
              int shrink,
              std::span<std::uint8_t> pixels);

 private:
  [[noreturn]] void fail() const;

  void* handle_;
};

/// Return the size of an image of `size` decoded with `shrink`.
ImageSize shrunk(const ImageSize& size, int shrink);

/// Decode one JPEG with the channels that are stored; a JpegDecoder is for many.
Image decode_jpeg(std::span<const std::uint8_t> jpeg);

/// Decode a PNG to 8 bits: grey to c = 1, colour and palettes to c = 3; transparency is
/// left out. Throws Error(data).
Image decode_png(std::span<const std::uint8_t> png);

/// Write an image of one or three channels to `path` atomically. Throws Error(data).
void write_png(const std::string& path, const Image& image);

}  // namespace crossbow
