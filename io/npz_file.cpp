#include "io/npz_file.hpp"

#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include <archive.h>
#include <archive_entry.h>

#include "base/error.hpp"

#include "io/atomic_file.hpp"
#include "io/file_bytes.hpp"

namespace crossbow {
namespace {

constexpr std::string_view ending = ".npy";
constexpr std::size_t block_bytes = std::size_t{1} << 20;  // of reading

struct Close {
  void operator()(archive* open) const { archive_free(open); }
  void operator()(archive_entry* entry) const { archive_entry_free(entry); }
};
using Archive = std::unique_ptr<archive, Close>;
using Entry = std::unique_ptr<archive_entry, Close>;

std::string reason(archive* open) {
  const char* text = archive_error_string(open);
  return text == nullptr ? "no reason" : text;
}

[[noreturn]] void fail(const std::string& what,
                       const std::string& why,
                       const std::string& where) {
  throw Error(ExitCode::data,
              ErrorText{.what = what,
                        .why = why,
                        .where = where,
                        .remedy = "Take another copy of the file, or save it again with "
                                  "numpy.savez"});
}

std::vector<std::uint8_t> read_entry(archive* open, const std::string& where) {
  std::vector<std::uint8_t> bytes;
  for (std::size_t have = 0;;) {
    bytes.resize(have + block_bytes);
    const la_ssize_t got = archive_read_data(open, bytes.data() + have, block_bytes);
    if (got < 0) {
      fail("the array cannot be read", reason(open), where);
    }
    have += static_cast<std::size_t>(got);
    if (got == 0) {
      bytes.resize(have);
      return bytes;
    }
  }
}

/// Go to the next array; return its name, or "" at the end.
std::string next_name(archive* open, const std::string& path) {
  archive_entry* entry = nullptr;
  const int result = archive_read_next_header(open, &entry);
  if (result == ARCHIVE_EOF) {
    return "";
  }
  const char* const name = result == ARCHIVE_OK ? archive_entry_pathname(entry) : nullptr;
  if (name == nullptr) {
    fail(path + " cannot be read as a .npz file", reason(open), "");
  }
  const std::string file = name;
  if (!file.ends_with(ending) || file.size() == ending.size()) {
    fail(path + " is not a .npz file", "it has " + file + ", which is no .npy file", "");
  }
  return file.substr(0, file.size() - ending.size());
}

void write_entry(archive* open, const std::string& name, const NpyArray& array) {
  const std::string header = npy_header(array);
  const Entry entry(archive_entry_new());
  archive_entry_set_pathname(entry.get(), (name + std::string(ending)).c_str());
  archive_entry_set_filetype(entry.get(), AE_IFREG);
  archive_entry_set_perm(entry.get(), 0644);
  archive_entry_set_size(entry.get(),
                         static_cast<la_int64_t>(header.size() + array.bytes.size()));
  archive_write_header(open, entry.get());
  archive_write_data(open, header.data(), header.size());
  archive_write_data(open, array.bytes.data(), array.bytes.size());
}

}  // namespace

NpzArrays read_npz(const std::string& path) {
  check_readable(path);
  const Archive open(archive_read_new());
  // By the list at the end, which a file that was cut lacks.
  archive_read_support_format_zip_seekable(open.get());
  if (archive_read_open_filename(open.get(), path.c_str(), block_bytes) != ARCHIVE_OK) {
    fail(path + " cannot be read as a .npz file", reason(open.get()), "");
  }
  NpzArrays arrays;
  for (std::string name = next_name(open.get(), path); !name.empty();
       name = next_name(open.get(), path)) {
    const std::string where = std::string(path).append(", array ").append(name);
    NpyArray array = parse_npy(read_entry(open.get(), where), where);
    if (!arrays.emplace(name, std::move(array)).second) {
      fail("two arrays have the name " + name, "", path);
    }
  }
  return arrays;
}

void write_npz(const std::string& path, const NpzArrays& arrays) {
  constexpr std::int64_t bytes_per_entry = 1024;  // generous, for headers and the list
  std::int64_t bytes = bytes_per_entry;
  for (const auto& [name, array] : arrays) {
    bytes += static_cast<std::int64_t>(array.bytes.size()) + bytes_per_entry;
  }
  AtomicFile target(path, bytes);
  const Archive open(archive_write_new());
  archive_write_set_format_zip(open.get());
  archive_write_zip_set_compression_store(open.get());
  archive_write_open_filename(open.get(), target.temporary().c_str());
  for (const auto& [name, array] : arrays) {
    write_entry(open.get(), name, array);
  }
  archive_write_close(open.get());
  if (archive_errno(open.get()) != 0) {
    throw write_error(path, reason(open.get()), bytes);
  }
  target.commit();
}

}  // namespace crossbow
