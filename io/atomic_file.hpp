#pragma once
// A file that appears under its name whole or not at all: written under a temporary name
// beside it, brought to the disk, then renamed. Whatever ends the program in between, the
// file that was there before stays whole.

#include <cstdint>
#include <string>
#include <string_view>

namespace crossbow {

class AtomicFile {
 public:
  /// Create the temporary file beside `path` and see that `bytes` [bytes] fit, where the
  /// file system can tell. Throws Error(data) with path, reason, bytes needed and bytes
  /// free.
  AtomicFile(const std::string& path, std::int64_t bytes);
  /// Remove the temporary file unless committed.
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;
  AtomicFile(AtomicFile&&) = delete;
  AtomicFile& operator=(AtomicFile&&) = delete;

  /// Return the name to write to until `commit`.
  const std::string& temporary() const { return temporary_; }
  /// Return the name it will have and the bytes it was announced with.
  const std::string& path() const { return path_; }
  std::int64_t bytes() const { return bytes_; }
  /// Write the whole content at once (for text).
  void write(std::string_view content);
  /// Bring the content to the disk and give it its name. Blocks until both are on the
  /// disk.
  void commit();

 private:
  std::string path_;
  std::string temporary_;
  std::int64_t bytes_ = 0;
  int descriptor_ = -1;
};

/// Write a whole text to `path` at once, on the disk when this returns. Throws
/// Error(data).
void write_atomically(const std::string& path, std::string_view text);

/// Throw Error(data) with path and reason unless a file can be written to `path`: for the
/// start of what takes long and writes at its end.
void check_writable(const std::string& path);

/// Whether `name` (without folder) is what an interrupted write of a file `stem...` left
/// behind.
bool is_temporary_name(std::string_view name);

}  // namespace crossbow
