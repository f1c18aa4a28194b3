#include "io/importers/image_folder.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <mutex>
#include <string_view>
#include <tuple>
#include <utility>

#include "base/error.hpp"

#include "io/file_digest.hpp"
#include "io/file_tree.hpp"
#include "io/image_codec.hpp"
#include "io/importers/class_folders.hpp"
#include "io/importers/workers.hpp"

namespace crossbow {
namespace {

using Bytes = std::vector<std::uint8_t>;

struct Sample {
  std::string path;
  std::int32_t label = 0;
  Bytes bytes;     // of the file; then, if it is decoded, its pixels
  ImageSize size;  // no pixels: it is bad
  PixelSums sums;

  bool is_good() const { return size.h > 0; }
};

std::vector<Sample> read_samples(const ClassFolders& classes,
                                 const std::string& source,
                                 const ImportOptions& options) {
  std::vector<Sample> samples(classes.paths.size());
  for (std::size_t i = 0; i < samples.size(); ++i) {
    samples[i].path = classes.paths[i];
    samples[i].label = classes.labels[i];
  }
  std::int64_t done = 0;
  read_tree(source, classes.paths, [&](std::size_t i, Bytes bytes) {
    samples[i].bytes = std::move(bytes);
    report_progress(options, "reading", ++done, std::ssize(samples));
  });
  return samples;
}

// Decode a file's bytes to `pixels`, whose memory is used again.
ImageSize decode(JpegDecoder& decoder, const Bytes& file, Bytes& pixels) {
  if (is_jpeg(file)) {
    const ImageSize size = decoder.size(file);
    pixels.resize(static_cast<std::size_t>(pixel_bytes(size)));
    decoder.decode(file, size.c, 1, pixels);
    return size;
  }
  CROSSBOW_VALIDATE(is_png(file),
                    ExitCode::data,
                    {.what = "the file is neither JPEG nor PNG",
                     .why = "by its first bytes",
                     .where = "",
                     .remedy = "Convert it"});
  Image image = decode_png(file);
  pixels = std::move(image.pixels);
  return {image.h, image.w, image.c};
}

// Decode every sample once, and keep its pixels in place of the file if `keep_pixels`.
void decode_samples(std::vector<Sample>& samples,
                    bool keep_pixels,
                    const ImportOptions& options,
                    ImportFaults& faults) {
  std::mutex mutex;
  std::map<std::int64_t, std::string> messages;  // by sample, whoever finds them first
  share_turns(std::ssize(samples), [&](Turns& turns, bool is_caller) {
    JpegDecoder decoder;
    Bytes pixels;
    for (std::int64_t i = turns.next(); i < turns.count(); i = turns.next()) {
      Sample& sample = samples[static_cast<std::size_t>(i)];
      try {
        sample.size = decode(decoder, sample.bytes, pixels);
        sample.sums = sums_of(pixels);
        if (keep_pixels) {
          sample.bytes = pixels;
        }
      } catch (const Error& error) {
        const std::lock_guard lock(mutex);
        messages[i] = error.what();
      }
      if (is_caller) {
        report_progress(options, "decoding", i, turns.count());
      }
    }
  });
  for (const auto& [i, message] : messages) {
    faults.add(samples[static_cast<std::size_t>(i)].path, message);
  }
}

std::string text_of(const ImageSize& size) {
  return std::to_string(size.h) + "x" + std::to_string(size.w) + "x" +
         std::to_string(size.c);
}

// What must be the same of all: the size, if they are to be one array, and the channels.
ImageSize common_part(const ImageSize& size, bool one_size) {
  return one_size ? size : ImageSize{0, 0, size.c};
}

// The one that most good samples have.
ImageSize usual_part(const std::vector<Sample>& samples, bool one_size) {
  std::map<std::tuple<int, int, int>, std::int64_t> counts;
  for (const Sample& sample : samples) {
    if (sample.is_good()) {
      const ImageSize part = common_part(sample.size, one_size);
      ++counts[{part.h, part.w, part.c}];
    }
  }
  const auto most =
      std::max_element(counts.begin(), counts.end(), [](const auto& a, const auto& b) {
        return a.second < b.second;
      });
  if (most == counts.end()) {
    return {};
  }
  const auto [h, w, c] = most->first;
  return {h, w, c};
}

void refuse_odd_ones(std::vector<Sample>& samples, bool one_size, ImportFaults& faults) {
  const ImageSize usual = usual_part(samples, one_size);
  const auto colours = [](int channels) { return channels == 1 ? "grey" : "in colour"; };
  for (Sample& sample : samples) {
    if (!sample.is_good() || common_part(sample.size, one_size) == usual) {
      continue;
    }
    faults.add(sample.path,
               sample.size.c != usual.c ? std::string("it is ") + colours(sample.size.c) +
                                              " where most are " + colours(usual.c)
                                        : "it is " + text_of(sample.size) +
                                              " where most are " + text_of(usual));
    sample.size = {};
  }
}

void keep_jpeg(Dataset& data, std::vector<Sample>& samples) {
  const ImageSize first = samples.front().size;
  const bool one_size = std::all_of(
      samples.begin(), samples.end(), [&](const auto& s) { return s.size == first; });
  if (!one_size) {
    data.h = data.w = 0;
  }
  std::size_t bytes = 0;
  for (const Sample& sample : samples) {
    bytes += sample.bytes.size();
  }
  data.jpeg.reserve(bytes);
  data.offsets.push_back(0);
  for (Sample& sample : samples) {
    data.jpeg.insert(data.jpeg.end(), sample.bytes.begin(), sample.bytes.end());
    data.offsets.push_back(std::ssize(data.jpeg));
    Bytes().swap(sample.bytes);
  }
}

void keep_pixels(Dataset& data, std::vector<Sample>& samples) {
  for (Sample& sample : samples) {
    data.images.insert(data.images.end(), sample.bytes.begin(), sample.bytes.end());
    Bytes().swap(sample.bytes);
  }
}

// Whether most files are JPEG, so that samples can stay as they are.
bool are_mostly_jpeg(const std::vector<Sample>& samples) {
  const auto count = std::count_if(
      samples.begin(), samples.end(), [](const auto& s) { return is_png(s.bytes); });
  return 2 * count < std::ssize(samples);
}

// PNG files cannot stay as they are among JPEG files.
void refuse_pngs(std::vector<Sample>& samples, ImportFaults& faults) {
  for (Sample& sample : samples) {
    if (is_png(sample.bytes)) {
      faults.add(sample.path, "it is PNG where most are JPEG (convert it, or --decode)");
      sample.size = {};
    }
  }
}

// All but class names and source, of samples that fit together.
Dataset assemble(std::vector<Sample>& samples, bool is_compressed) {
  Dataset data;
  data.n = std::ssize(samples);
  data.h = samples.front().size.h;
  data.w = samples.front().size.w;
  data.c = samples.front().size.c;
  PixelSums sums;
  for (const Sample& sample : samples) {
    data.labels.push_back(sample.label);
    sums += sample.sums;
  }
  set_statistics(data, sums);
  if (is_compressed) {
    keep_jpeg(data, samples);
  } else {
    keep_pixels(data, samples);
  }
  return data;
}

}  // namespace

bool has_image_name(const std::string& path) {
  constexpr std::array<std::string_view, 3> endings{".jpg", ".jpeg", ".png"};
  return has_ending(path, endings);
}

bool is_image_folder(const std::string& source) {
  const auto is_in_a_class = [](const std::string& path) {
    return has_image_name(path) && path.find('/') != std::string::npos;
  };
  if (!is_folder(source)) {
    const auto files =
        has_archive_name(source) ? first_files(source) : std::vector<std::string>();
    return std::any_of(files.begin(), files.end(), is_in_a_class);
  }
  const std::vector<TreeEntry> entries = list_tree(source);
  return std::any_of(entries.begin(), entries.end(), [&](const TreeEntry& entry) {
    return !entry.is_folder && is_in_a_class(entry.path);
  });
}

std::string image_folder_digest(const std::string& source) {
  if (!is_folder(source)) {
    return sha256_of_files({source});
  }
  std::vector<std::string> paths;
  for (const TreeEntry& entry : list_tree(source)) {
    if (!entry.is_folder && has_image_name(entry.path)) {
      paths.push_back(entry.path);
    }
  }
  Sha256 sha;
  read_tree(source, paths, [&](std::size_t i, const Bytes& bytes) {
    sha.update(paths[i]);
    sha.update_value('\0');
    sha.update_value(static_cast<std::int64_t>(bytes.size()));
    sha.update(bytes.data(), bytes.size());
  });
  return sha.hex();
}

ImportResult import_image_folder(const std::string& source,
                                 const ImportOptions& options) {
  ImportResult result;
  const ClassFolders classes =
      find_classes(list_tree(source), options.split, source, result.faults);
  std::vector<Sample> samples = read_samples(classes, source, options);
  const bool is_compressed = !options.decode && are_mostly_jpeg(samples);
  decode_samples(samples, !is_compressed, options, result.faults);
  if (is_compressed) {
    refuse_pngs(samples, result.faults);
  }
  refuse_odd_ones(samples, !is_compressed, result.faults);
  std::erase_if(samples, [](const Sample& sample) { return !sample.is_good(); });
  check_faults(result.faults, options, std::ssize(samples), source);

  result.data = assemble(samples, is_compressed);
  result.data.classes = static_cast<int>(classes.class_names.size());
  result.data.class_names = classes.class_names;
  result.data.source = source;
  result.data.digest = image_folder_digest(source);
  return result;
}

}  // namespace crossbow
