#pragma once
// For tests only: archives made on the spot.

#include <map>
#include <string>

#include <archive.h>
#include <archive_entry.h>

#include "io/test_support.hpp"

namespace crossbow::testing_support {

/// Write files (path -> bytes; a path ending in '/' is a folder) to an archive whose kind
/// its name says: .tar, .tar.gz, .zip.
inline void write_archive(const std::string& path,
                          const std::map<std::string, Bytes>& files) {
  struct archive* target = archive_write_new();
  if (path.ends_with(".zip") || path.ends_with(".npz")) {
    archive_write_set_format_zip(target);
  } else {
    archive_write_set_format_ustar(target);
  }
  if (path.ends_with(".gz")) {
    archive_write_add_filter_gzip(target);
  }
  archive_write_open_filename(target, path.c_str());
  for (const auto& [name, bytes] : files) {
    archive_entry* entry = archive_entry_new();
    archive_entry_set_pathname(entry, name.c_str());
    archive_entry_set_filetype(entry, name.ends_with('/') ? AE_IFDIR : AE_IFREG);
    archive_entry_set_perm(entry, 0755);
    archive_entry_set_size(entry, static_cast<la_int64_t>(bytes.size()));
    archive_write_header(target, entry);
    archive_write_data(target, bytes.data(), bytes.size());
    archive_entry_free(entry);
  }
  archive_write_close(target);
  archive_write_free(target);
}

/// Write the same files below a folder.
inline void write_folder(const std::string& folder,
                         const std::map<std::string, Bytes>& files) {
  for (const auto& [name, bytes] : files) {
    const std::filesystem::path path = std::filesystem::path(folder) / name;
    std::filesystem::create_directories(path.parent_path());
    if (!name.ends_with('/')) {
      write_bytes(path.string(), bytes);
    }
  }
}

}  // namespace crossbow::testing_support
