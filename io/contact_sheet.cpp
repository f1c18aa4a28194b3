#include "io/contact_sheet.hpp"

#include <algorithm>
#include <vector>

#include "base/error.hpp"

namespace crossbow {
namespace {

constexpr int most_rows = 10;
constexpr int columns = 10;
constexpr int line = 2;  // [pixels] between cells and around all
constexpr std::uint8_t line_grey = 128;

Image sample_image(const Dataset& data, std::int64_t i) {
  if (!is_compressed(data)) {
    const auto first = data.images.begin() + i * sample_bytes(data);
    return {data.h, data.w, data.c, {first, first + sample_bytes(data)}};
  }
  try {
    return decode_jpeg(jpeg_of(data, i));
  } catch (const Error& error) {
    throw Error(ExitCode::data,
                ErrorText{.what = "sample " + std::to_string(i) + " is damaged",
                          .why = error.what(),
                          .where = data.place,
                          .remedy = "Import the data set again"});
  }
}

// Put `image` into the square of `side` pixels at (top, left), larger side to fit.
void place(Image& sheet, const Image& image, int side, int top, int left) {
  const int largest = std::max(image.h, image.w);
  const int h = std::max(1, static_cast<int>(std::int64_t{image.h} * side / largest));
  const int w = std::max(1, static_cast<int>(std::int64_t{image.w} * side / largest));
  for (int y = 0; y < h; ++y) {
    for (int x = 0; x < w; ++x) {
      const auto from =
          (std::int64_t{y} * image.h / h * image.w + std::int64_t{x} * image.w / w) *
          image.c;
      const auto to = (std::int64_t{top + y} * sheet.w + left + x) * sheet.c;
      for (int c = 0; c < sheet.c; ++c) {
        sheet.pixels[static_cast<std::size_t>(to + c)] =
            image.pixels[static_cast<std::size_t>(from + (image.c == sheet.c ? c : 0))];
      }
    }
  }
}

}  // namespace

Image contact_sheet(const Dataset& data) {
  const int rows = std::min(data.classes, most_rows);
  // Samples without one size show large.
  const int side = data.h == 0 ? 96 : std::clamp(std::max(data.h, data.w), 32, 96);
  Image sheet{rows * (side + line) + line,
              columns * (side + line) + line,
              data.c == 3 ? 3 : 1,
              {}};
  sheet.pixels.assign(static_cast<std::size_t>(pixel_bytes({sheet.h, sheet.w, sheet.c})),
                      line_grey);
  std::vector<int> shown(static_cast<std::size_t>(rows));
  for (std::int64_t i = 0; i < data.n; ++i) {
    const int row = data.labels[static_cast<std::size_t>(i)];
    if (row >= rows || shown[static_cast<std::size_t>(row)] == columns) {
      continue;
    }
    const int column = shown[static_cast<std::size_t>(row)]++;
    place(sheet,
          sample_image(data, i),
          side,
          line + row * (side + line),
          line + column * (side + line));
  }
  return sheet;
}

}  // namespace crossbow
