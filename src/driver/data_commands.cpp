#include <filesystem>

#include <fmt/format.h>

#include "base/error.hpp"

#include "io/atomic_file.hpp"
#include "io/importers/idx.hpp"

#include "config/run_config.hpp"
#include "driver/commands.hpp"

namespace crossbow {
namespace {

Split split_named(const std::string& name) {
  CROSSBOW_VALIDATE(
      name == "train" || name == "test",
      ExitCode::usage,
      {"there is no split named " + name, "", "--split", "Use train or test"});
  return name == "train" ? Split::train : Split::test;
}

}  // namespace

int keys_command(const std::string& file) {
  if (file.empty()) {
    fmt::print("{}", key_reference());
  } else {
    write_atomically(file, key_reference());
  }
  return 0;
}

int import_command(const ImportRequest& request) {
  CROSSBOW_VALIDATE(
      request.format == "mnist",
      ExitCode::usage,
      {"there is no importer for the format " + request.format, "", "", "Use mnist"});
  std::error_code none;
  const std::filesystem::path target(request.file);
  CROSSBOW_VALIDATE(
      !(std::filesystem::exists(target, none) &&
        std::filesystem::equivalent(target.has_parent_path() ? target.parent_path() : ".",
                                    request.source,
                                    none) &&
        target.extension() != ".h5"),
      ExitCode::usage,
      {"a file of the source would be replaced", "", request.file, "Give another file"});
  const Dataset data = import_idx(request.source, split_named(request.split));
  write_dataset(request.file, data);
  fmt::print("{}: {} images of {}x{}x{}, {} classes, mean {:.6f}, std {:.6f}\n",
             request.file,
             data.n,
             data.h,
             data.w,
             data.c,
             data.classes,
             data.mean,
             data.std);
  return 0;
}

}  // namespace crossbow
