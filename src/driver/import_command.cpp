#include <cstdio>
#include <filesystem>
#include <string>

#include <fmt/format.h>
#include <unistd.h>

#include "base/error.hpp"
#include "base/scoped_timer.hpp"

#include "io/atomic_file.hpp"
#include "io/importers/importer.hpp"

#include "driver/commands.hpp"

namespace crossbow {
namespace {

namespace fs = std::filesystem;

/// One line on standard error that is written over; nothing unless that is a terminal.
class ImportLine {
 public:
  ~ImportLine() {
    if (is_shown_) {
      fmt::print(stderr, "\r\033[K");
    }
  }
  ImportLine() = default;
  ImportLine(const ImportLine&) = delete;
  ImportLine& operator=(const ImportLine&) = delete;
  ImportLine(ImportLine&&) = delete;
  ImportLine& operator=(ImportLine&&) = delete;

  void show(const char* step, std::int64_t done, std::int64_t total) {
    constexpr double interval = 0.1;  // [s]
    if (is_terminal_ && since_shown_.seconds() >= interval) {
      fmt::print(stderr, "\r{} {} of {}\033[K", step, done, total);
      std::fflush(stderr);
      since_shown_.restart();
      is_shown_ = true;
    }
  }

 private:
  bool is_terminal_ = isatty(STDERR_FILENO) == 1;
  bool is_shown_ = false;
  Stopwatch since_shown_;
};

const Importer& importer_of(const std::string& format) {
  const Importer* importer = importer_named(format);
  std::string names;
  for (const Importer& known : importers()) {
    names += (names.empty() ? "" : ", ") + std::string(known.name);
  }
  CROSSBOW_VALIDATE(
      importer != nullptr,
      ExitCode::usage,
      {"there is no importer for the format " + format, "", "", "Use one of " + names});
  return *importer;
}

bool is_one_of(const std::string& value, const char* a, const char* b) {
  return value == a || value == b;
}

/// A slip in the order of arguments must not cost a file of the source.
void check_target(const ImportRequest& request) {
  std::error_code none;
  const fs::path target(request.file);
  const fs::path folder = target.has_parent_path() ? target.parent_path() : ".";
  const bool is_source = fs::equivalent(target, request.source, none);
  const bool is_in_source = fs::exists(target, none) &&
                            fs::equivalent(folder, request.source, none) &&
                            target.extension() != ".h5";
  CROSSBOW_VALIDATE(
      !is_source && !is_in_source,
      ExitCode::usage,
      {"a file of the source would be replaced", "", request.file, "Give another file"});
}

}  // namespace

int import_command(const ImportRequest& request) {
  const Importer& importer = importer_of(request.format);
  CROSSBOW_VALIDATE(
      is_one_of(request.split, "train", "test"),
      ExitCode::usage,
      {"there is no split named " + request.split, "", "--split", "Use train or test"});
  CROSSBOW_VALIDATE(is_one_of(request.on_error, "stop", "skip"),
                    ExitCode::usage,
                    {"a bad sample cannot be answered with " + request.on_error,
                     "",
                     "--on-error",
                     "Use stop or skip"});
  CROSSBOW_VALIDATE(!request.decode || request.format == "image-folder",
                    ExitCode::usage,
                    {"the format " + request.format + " holds no JPEG files",
                     "",
                     "--decode",
                     "Leave it out"});
  check_target(request);
  check_writable(request.file);
  ImportResult result;
  {
    ImportLine line;
    result = importer.import(
        request.source,
        {.split = request.split == "train" ? Split::train : Split::test,
         .skip_bad = request.on_error == "skip",
         .decode = request.decode,
         .progress = [&](const char* step, std::int64_t done, std::int64_t total) {
           line.show(step, done, total);
         }});
  }
  write_dataset(request.file, result.data);
  if (result.faults.count() > 0) {
    fmt::print(stderr,
               "left out for {} fault{}:{}\n",
               result.faults.count(),
               result.faults.count() == 1 ? "" : "s",
               result.faults.list());
  }
  const Dataset& data = result.data;
  fmt::print("{}: {} images of {}, {} classes, mean {:.6f}, std {:.6f}\n",
             request.file,
             data.n,
             image_shape_text(data),
             data.classes,
             data.mean,
             data.std);
  return 0;
}

}  // namespace crossbow
