#include "driver/output_folder.hpp"

#include <filesystem>

#include "base/error.hpp"

namespace crossbow {
namespace {

namespace fs = std::filesystem;

/// The first of path.1, path.2, ... that does not exist.
std::string free_name(const std::string& path) {
  int number = 1;
  std::error_code none;
  while (fs::exists(path + "." + std::to_string(number), none)) {
    ++number;
  }
  return path + "." + std::to_string(number);
}

/// "out/" names the folder "out", but "out/.1" is inside of it; and of a link it is the
/// folder behind it that is moved aside, not the link.
std::string folder_itself(std::string path) {
  while (path.size() > 1 && path.back() == '/') {
    path.pop_back();
  }
  std::error_code error;
  const bool is_link = fs::is_symlink(path, error);
  const fs::path target = is_link ? fs::canonical(path, error) : fs::path(path);
  return error ? path : target.string();
}

}  // namespace

void make_folder(const std::string& path) {
  std::error_code error;
  fs::create_directories(path, error);
  CROSSBOW_VALIDATE(!error,
                    ExitCode::data,
                    {"the output folder cannot be made",
                     error.message(),
                     path,
                     "Set run.output to a folder that you may write to"});
}

OutputFolder::OutputFolder(const std::string& path, const Notice& notice)
    : path_(folder_itself(path)) {
  make_folder(path_);
  // Whatever is opened for writing: a pipe there would be waited for, for ever.
  check_file("run.lock");
  check_file("run.log");
  lock(notice);
}

void OutputFolder::check_file(const std::string& name) const {
  std::error_code none;
  const fs::file_status status = fs::status(file(name), none);
  CROSSBOW_VALIDATE(!fs::exists(status) || fs::is_regular_file(status),
                    ExitCode::data,
                    {file(name) + " is not a file",
                     "the run writes one of that name",
                     "",
                     "Remove it, or set another run.output"});
}

void OutputFolder::move_earlier_run_aside(const Notice& notice) {
  // Either would be mixed up with what this run writes; a later --resume takes the
  // newest.
  if (!fs::exists(file("history.csv")) && !fs::exists(file("checkpoints"))) {
    return;
  }
  const std::string aside = free_name(path_);
  std::error_code error;
  fs::rename(path_, aside, error);
  CROSSBOW_VALIDATE(!error,
                    ExitCode::data,
                    {"the folder of an earlier run cannot be moved aside",
                     error.message(),
                     path_,
                     "Set another run.output"});
  make_folder(path_);
  lock(notice);
  say(notice, "the earlier run in " + path_ + " is now in " + aside);
}

void OutputFolder::lock(const Notice& notice) {
  lock_.reset();
  lock_.emplace(file("run.lock"), notice);
}

std::string OutputFolder::file(const std::string& name) const {
  return path_ + "/" + name;
}

}  // namespace crossbow
