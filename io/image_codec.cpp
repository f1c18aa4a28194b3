#include "io/image_codec.hpp"

#include <algorithm>
#include <array>
#include <new>
#include <string_view>
#include <utility>

#include <png.h>
#include <turbojpeg.h>

#include "base/error.hpp"

#include "io/atomic_file.hpp"

namespace crossbow {
namespace {

// A header of a few bytes can promise 65535 x 65535: what photographs do not have is
// refused before memory is taken.
constexpr std::int64_t most_pixels = 200'000'000;

[[noreturn]] void fail_decoding(const std::string& kind, const std::string& why) {
  throw Error(ExitCode::data,
              ErrorText{.what = "the " + kind + " image cannot be decoded",
                        .why = why,
                        .where = "",
                        .remedy = "Take another copy of it"});
}

void check_size(const std::string& kind, std::int64_t h, std::int64_t w) {
  if (h < 1 || w < 1 || h > most_pixels / w) {
    fail_decoding(kind,
                  "it is " + std::to_string(h) + "x" + std::to_string(w) +
                      ", and at most " + std::to_string(most_pixels) +
                      " pixels are taken");
  }
}

template <std::size_t size>
bool begins_with(std::span<const std::uint8_t> bytes,
                 const std::array<std::uint8_t, size>& magic) {
  return bytes.size() >= size && std::equal(magic.begin(), magic.end(), bytes.begin());
}

int divided_up(int value, int by) {
  return (value + by - 1) / by;
}

}  // namespace

std::int64_t pixel_bytes(const ImageSize& size) {
  return static_cast<std::int64_t>(size.h) * size.w * size.c;
}

ImageSize shrunk(const ImageSize& size, int shrink) {
  return {divided_up(size.h, shrink), divided_up(size.w, shrink), size.c};
}

bool is_jpeg(std::span<const std::uint8_t> bytes) {
  return begins_with(bytes, std::array<std::uint8_t, 3>{0xff, 0xd8, 0xff});
}

bool is_png(std::span<const std::uint8_t> bytes) {
  return begins_with(bytes,
                     std::array<std::uint8_t, 8>{0x89, 'P', 'N', 'G', 13, 10, 26, 10});
}

// ---- JPEG -----------------------------------------------------------------------------

JpegDecoder::JpegDecoder() : handle_(tjInitDecompress()) {
  if (handle_ == nullptr) {
    throw std::bad_alloc();
  }
}

JpegDecoder::~JpegDecoder() {
  if (handle_ != nullptr) {
    tjDestroy(handle_);
  }
}

JpegDecoder::JpegDecoder(JpegDecoder&& other) noexcept
    : handle_(std::exchange(other.handle_, nullptr)) {}

void JpegDecoder::fail() const {
  fail_decoding("JPEG", tjGetErrorStr2(handle_));
}

ImageSize JpegDecoder::size(std::span<const std::uint8_t> jpeg) {
  ImageSize size;
  int subsampling = 0;
  int colours = 0;
  if (tjDecompressHeader3(
          handle_, jpeg.data(), jpeg.size(), &size.w, &size.h, &subsampling, &colours) !=
      0) {
    fail();
  }
  if (colours == TJCS_CMYK || colours == TJCS_YCCK) {
    fail_decoding("JPEG", "it is for printing, in CMYK, not in RGB or grey");
  }
  size.c = colours == TJCS_GRAY ? 1 : 3;
  check_size("JPEG", size.h, size.w);
  return size;
}

void JpegDecoder::decode(std::span<const std::uint8_t> jpeg,
                         int channels,
                         int shrink,
                         std::span<std::uint8_t> pixels) {
  const ImageSize wanted = shrunk(size(jpeg), shrink);
  const std::int64_t bytes = pixel_bytes({wanted.h, wanted.w, channels});
  if (bytes != static_cast<std::int64_t>(pixels.size())) {
    fail_decoding("JPEG",
                  "it has " + std::to_string(bytes) + " bytes of pixels where " +
                      std::to_string(pixels.size()) + " are expected");
  }
  const int format = channels == 1 ? TJPF_GRAY : TJPF_RGB;
  if (tjDecompress2(handle_,
                    jpeg.data(),
                    jpeg.size(),
                    pixels.data(),
                    wanted.w,
                    0,  // rows lie one after the other
                    wanted.h,
                    format,
                    TJFLAG_STOPONWARNING | TJFLAG_LIMITSCANS) != 0) {
    fail();
  }
}

Image decode_jpeg(std::span<const std::uint8_t> jpeg) {
  JpegDecoder decoder;
  const ImageSize size = decoder.size(jpeg);
  Image image{size.h, size.w, size.c, {}};
  image.pixels.resize(static_cast<std::size_t>(pixel_bytes(size)));
  decoder.decode(jpeg, size.c, 1, image.pixels);
  return image;
}

// ---- PNG ------------------------------------------------------------------------------

namespace {

// libpng's state of one image; freed on every way out.
struct PngImage {
  PngImage() { image.version = PNG_IMAGE_VERSION; }
  ~PngImage() { png_image_free(&image); }
  PngImage(const PngImage&) = delete;
  PngImage& operator=(const PngImage&) = delete;
  PngImage(PngImage&&) = delete;
  PngImage& operator=(PngImage&&) = delete;

  png_image image = {};
};

// Keep the first `c` of each pixel's `stored` values, in place.
void drop_alpha(Image& image, std::size_t stored) {
  const auto c = static_cast<std::size_t>(image.c);
  const std::size_t pixels = image.pixels.size() / stored;
  for (std::size_t i = 0; i < pixels; ++i) {
    for (std::size_t k = 0; k < c; ++k) {
      image.pixels[i * c + k] = image.pixels[i * stored + k];
    }
  }
  image.pixels.resize(pixels * c);
}

}  // namespace

Image decode_png(std::span<const std::uint8_t> png) {
  PngImage state;
  png_image& source = state.image;
  if (png_image_begin_read_from_memory(&source, png.data(), png.size()) == 0) {
    fail_decoding("PNG", source.message);
  }
  check_size("PNG", source.height, source.width);
  const bool is_grey = (source.format & PNG_FORMAT_FLAG_COLOR) == 0;
  const bool has_alpha = (source.format & PNG_FORMAT_FLAG_ALPHA) != 0;
  source.format = is_grey ? PNG_FORMAT_GRAY : PNG_FORMAT_RGB;
  // Alpha that is not asked for would be blended with a background.
  source.format |= has_alpha ? PNG_FORMAT_FLAG_ALPHA : 0U;
  source.flags |= PNG_IMAGE_FLAG_16BIT_sRGB;
  Image image{static_cast<int>(source.height),
              static_cast<int>(source.width),
              is_grey ? 1 : 3,
              {}};
  image.pixels.resize(PNG_IMAGE_SIZE(source));
  if (png_image_finish_read(&source, nullptr, image.pixels.data(), 0, nullptr) == 0) {
    fail_decoding("PNG", source.message);
  }
  if (has_alpha) {
    drop_alpha(image, static_cast<std::size_t>(image.c) + 1);
  }
  return image;
}

void write_png(const std::string& path, const Image& image) {
  PngImage state;
  png_image& target = state.image;
  target.height = static_cast<png_uint_32>(image.h);
  target.width = static_cast<png_uint_32>(image.w);
  target.format = image.c == 1 ? PNG_FORMAT_GRAY : PNG_FORMAT_RGB;
  png_alloc_size_t bytes = PNG_IMAGE_PNG_SIZE_MAX(target);
  std::vector<std::uint8_t> png(bytes);
  const bool is_made =
      png_image_write_to_memory(
          &target, png.data(), &bytes, 0, image.pixels.data(), 0, nullptr) != 0;
  CROSSBOW_VALIDATE(is_made,
                    ExitCode::internal_error,
                    {.what = "the picture cannot be made",
                     .why = target.message,
                     .where = path,
                     .remedy = ""});
  write_atomically(path,
                   std::string_view(reinterpret_cast<const char*>(png.data()), bytes));
}

}  // namespace crossbow
