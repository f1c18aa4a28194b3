#pragma once
// The files of a folder, or of an archive of one (tar, tar.gz, zip; libarchive), seen the
// same way: as paths within it, with '/' between names. Nothing is unpacked to the disk.

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace crossbow {

struct TreeEntry {
  std::string path;
  bool is_folder = false;
};

/// Whether `path` is a folder, or a link to one, that can be looked at.
bool is_folder(const std::string& path);

/// Whether the ending of the file's name is one of `endings` (".jpg"), in whatever case.
bool has_ending(const std::string& path, std::span<const std::string_view> endings);

/// Whether the name `path` ends as that of an archive does (.tar, .tar.gz, .tgz, .zip,
/// .npz).
bool has_archive_name(const std::string& path);

/// Return what lies in `source`, at any depth of a tree of data, sorted by path. Of an
/// archive every byte is read and its checksums are tested. Throws Error(data) with path
/// and reason.
std::vector<TreeEntry> list_tree(const std::string& source);

/// Return the paths of the first files of an archive, in its own order, a hundred at
/// most: enough to know what it is, without reading it all.
std::vector<std::string> first_files(const std::string& archive);

/// Called with the index of a path and the file's bytes.
using FileVisitor = std::function<void(std::size_t i, std::vector<std::uint8_t> bytes)>;

/// Read the files `paths` (as of list_tree) of `source` and visit each, in the
/// order in which they lie; of several of one name in an archive the last is the one that
/// counts. Throws Error(data) with path and reason, also if one is missing.
void read_tree(const std::string& source,
               const std::vector<std::string>& paths,
               const FileVisitor& visit);

}  // namespace crossbow
