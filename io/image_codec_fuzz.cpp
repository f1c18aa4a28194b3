// Fuzz target of the JPEG and PNG decoders. The first byte: the channels that are asked
// for (bit 0) and how much is shrunk (bits 1 and 2); the rest is the image.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/fuzzing.hpp"

#include "io/image_codec.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace crossbow;
  constexpr std::int64_t most_bytes = 1 << 24;  // larger ones are only slow
  if (size < 1) {
    return 0;
  }
  const int channels = (data[0] & 1U) == 0 ? 1 : 3;
  const int shrink = 1 << (data[0] >> 1U & 3U);
  const std::span<const std::uint8_t> file(data + 1, size - 1);
  static JpegDecoder decoder;  // one for many, as in a loader
  const auto header = fuzzing::accepted([&] { return decoder.size(file); });
  if (header && pixel_bytes(*header) <= most_bytes) {
    const ImageSize wanted = shrunk({header->h, header->w, channels}, shrink);
    std::vector<std::uint8_t> pixels(static_cast<std::size_t>(pixel_bytes(wanted)));
    fuzzing::accepted([&] {
      decoder.decode(file, channels, shrink, pixels);
      return true;
    });
  }
  if (is_png(file)) {
    const auto image = fuzzing::accepted([&] { return decode_png(file); });
    fuzzing::require(!image || std::int64_t(image->pixels.size()) ==
                                   pixel_bytes({image->h, image->w, image->c}),
                     "a PNG has the pixels of its size");
  }
  return 0;
}
