#pragma once
// Reads the regular files and folders of an archive in its order (libarchive). Bytes pass
// through zlib first where they are gzip: libarchive 3.6 does not test gzip's checksum.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace crossbow {

class ArchiveReader {
 public:
  /// Open `path`: zip if its name says so (.zip, .npz), else tar, plain or gzip. Every
  /// function throws Error(data) with path, member and the library's reason.
  explicit ArchiveReader(const std::string& path);
  ~ArchiveReader();
  ArchiveReader(const ArchiveReader&) = delete;
  ArchiveReader& operator=(const ArchiveReader&) = delete;
  ArchiveReader(ArchiveReader&&) = delete;
  ArchiveReader& operator=(ArchiveReader&&) = delete;

  /// Go to the next file or folder; false at the end, when all checksums were right.
  bool next();
  /// Return the member's path, without "./" before and "/" behind it.
  const std::string& name() const { return name_; }
  bool is_folder() const { return is_folder_; }
  /// Return the member's bytes; call once.
  std::vector<std::uint8_t> read();

 private:
  struct State;
  void finish();
  [[noreturn]] void fail() const;

  std::string path_;
  std::string name_;
  bool is_folder_ = false;
  std::unique_ptr<State> state_;
};

}  // namespace crossbow
