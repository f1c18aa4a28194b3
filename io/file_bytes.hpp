#pragma once
// Whole files as bytes, and the sentence for a system call that failed: path, the
// system's reason and a remedy. The other readers and writers of io stand on these.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"

namespace crossbow {

/// Return the error for a failed read of `path`; `error_number` is errno.
Error read_error(const std::string& path, int error_number);

/// Return the error for a failed write of `path`; `why` is the reason, `bytes` the size
/// that was to be written [bytes]; the free space of the file system is added.
Error write_error(const std::string& path, const std::string& why, std::int64_t bytes);

/// Return the system's text for `error_number`.
std::string errno_text(int error_number);

/// Return the bytes of a regular file; throw Error(data) with path and reason if that
/// fails.
std::vector<std::uint8_t> read_file(const std::string& path);

/// Throw Error(data) unless `path` is a regular file that may be read.
void check_readable(const std::string& path);

/// Write all of `bytes` to a descriptor; return 0, or errno.
int write_all(int descriptor, std::string_view bytes);

}  // namespace crossbow
