#pragma once
// Gzip files in memory (zlib), with every fault of theirs told: not gzip, cut, damaged,
// followed by other bytes.

#include <cstdint>
#include <string>
#include <vector>

namespace crossbow {

/// Whether `bytes` begin as a gzip file does.
bool is_gzip(const std::vector<std::uint8_t>& bytes);

/// Return the uncompressed bytes of a gzip file of one or more members, `limit` [bytes]
/// at most; only a result shorter than `limit` was checked to its end (length and CRC).
/// `path` is for messages. Throws Error(data) with path, the offset in the uncompressed
/// bytes and the fault.
std::vector<std::uint8_t> gunzip(const std::vector<std::uint8_t>& bytes,
                                 std::size_t limit,
                                 const std::string& path);

}  // namespace crossbow
