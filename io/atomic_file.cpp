#include "io/atomic_file.hpp"

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <utility>

#include <fcntl.h>
#include <unistd.h>

#include "io/file_bytes.hpp"

namespace crossbow {
namespace {

constexpr std::string_view mark = ".temporary-";

// Blocks are asked for before anything is written: a full disk or a used-up quota then
// shows here, with errno, and not as half a file. File systems that cannot reserve say
// so; never mind.
int reserve(int descriptor, std::int64_t bytes) {
  int result = 0;
  do {
    result = bytes > 0 ? fallocate(descriptor, 0, 0, bytes) : 0;
  } while (result != 0 && errno == EINTR);
  const int failure = result != 0 ? errno : 0;
  const bool counts = failure == ENOSPC || failure == EDQUOT || failure == EFBIG;
  if (!counts && ftruncate(descriptor, 0) != 0) {
    return errno;
  }
  return counts ? failure : 0;
}

int sync_folder(const std::filesystem::path& folder) {
  const std::string name = folder.empty() ? "." : folder.string();
  const int descriptor = open(name.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) {
    return errno;
  }
  const int failure = fsync(descriptor) != 0 ? errno : 0;
  close(descriptor);
  return failure == EINVAL ? 0 : failure;  // EINVAL: this file system cannot sync folders
}

/// What a link leads to: the rename must not put a file in the link's place.
std::string behind_links(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::is_symlink(path, error)) {
    return path;
  }
  const std::filesystem::path target = std::filesystem::weakly_canonical(path, error);
  return error ? path : target.string();
}

/// Nor in that of a device or a pipe, which would be gone.
void check_replaceable(const std::string& path, std::int64_t bytes) {
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status)) {
    const bool folder = std::filesystem::is_directory(status);
    throw write_error(
        path, folder ? "Is a directory" : "it is there and not a regular file", bytes);
  }
}

}  // namespace

AtomicFile::AtomicFile(const std::string& path, std::int64_t bytes)
    : path_(behind_links(path)), bytes_(bytes) {
  check_replaceable(path_, bytes_);
  const std::string stem = path_ + std::string(mark) + std::to_string(getpid()) + "-";
  for (int i = 0; descriptor_ < 0; ++i) {
    temporary_ = stem + std::to_string(i);
    const int flags = O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC;
    descriptor_ = open(temporary_.c_str(), flags, 0666);
    if (descriptor_ < 0 && errno != EEXIST) {
      throw write_error(path_, errno_text(errno), bytes_);
    }
  }
  if (const int failure = reserve(descriptor_, bytes_); failure != 0) {
    const Error error = write_error(path_, errno_text(failure), bytes_);
    close(descriptor_);
    std::remove(temporary_.c_str());
    throw error;
  }
}

AtomicFile::~AtomicFile() {
  if (descriptor_ >= 0) {
    close(descriptor_);
    std::remove(temporary_.c_str());
  }
}

void AtomicFile::write(std::string_view content) {
  if (const int failure = write_all(descriptor_, content); failure != 0) {
    throw write_error(path_, errno_text(failure), bytes_);
  }
}

void AtomicFile::commit() {
  int failure = fsync(descriptor_) != 0 ? errno : 0;
  if (close(std::exchange(descriptor_, -1)) != 0 && failure == 0) {
    failure = errno;
  }
  if (failure == 0 && std::rename(temporary_.c_str(), path_.c_str()) != 0) {
    failure = errno;
  }
  if (failure != 0) {
    std::remove(temporary_.c_str());
    throw write_error(path_, errno_text(failure), bytes_);
  }
  if (failure = sync_folder(std::filesystem::path(path_).parent_path()); failure != 0) {
    throw Error(ExitCode::data,
                {.what = "the new name of " + path_ + " may not be on the disk yet",
                 .why = errno_text(failure),
                 .where = "",
                 .remedy = "Check the file system"});
  }
}

void write_atomically(const std::string& path, std::string_view text) {
  AtomicFile file(path, static_cast<std::int64_t>(text.size()));
  file.write(text);
  file.commit();
}

void check_writable(const std::string& path) {
  const AtomicFile trial(path, 0);
}

bool is_temporary_name(std::string_view name) {
  return name.find(mark) != std::string_view::npos;
}

}  // namespace crossbow
