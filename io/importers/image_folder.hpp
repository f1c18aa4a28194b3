#pragma once
// Imports a folder, or an archive of one, with a folder of JPEG and PNG files for each
// class (format "image-folder"). Above the classes may lie folders train and test (or
// val, valid, validation), and around all of it any others.

#include <string>

#include "io/importers/import_job.hpp"

namespace crossbow {

/// Whether the name `path` ends as that of a JPEG or PNG file does.
bool has_image_name(const std::string& path);

/// Whether folder or archive `source` has images in folders.
bool is_image_folder(const std::string& source);

/// Return the SHA-256 of an archive's bytes, or of the paths and bytes of all images of a
/// folder, sorted by path: path, a zero byte, the number of bytes (int64) and the bytes.
std::string image_folder_digest(const std::string& source);

/// Read a split of `source`. Classes are the folders' names, sorted (bytewise); samples
/// are sorted by class and path. If all are JPEG files they stay so unless
/// `options.decode`; else they are decoded and must have one size. All must have the same
/// channels: grey (1) or colour (3). Every image is decoded once, by all processors, for
/// mean, std and faults. Throws Error(data).
ImportResult import_image_folder(const std::string& source, const ImportOptions& options);

}  // namespace crossbow
