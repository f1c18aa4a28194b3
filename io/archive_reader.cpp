#include "io/archive_reader.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <new>

#include <archive.h>
#include <archive_entry.h>
#include <zlib.h>

#include "base/error.hpp"

#include "io/file_bytes.hpp"

namespace crossbow {
namespace {

constexpr std::size_t block_bytes = 1 << 20;
// A file of a data set; a few bytes of a damaged archive can promise any size.
constexpr std::size_t most_bytes = std::size_t{1} << 36;

bool is_zip_name(const std::string& path) {
  return path.ends_with(".zip") || path.ends_with(".npz");
}

}  // namespace

struct ArchiveReader::State {
  explicit State(const std::string& path) {
    if (archive == nullptr) {
      throw std::bad_alloc();
    }
    if (!is_zip_name(path)) {
      file = gzopen(path.c_str(), "rb");  // takes plain files as well
      if (file == nullptr) {
        throw read_error(path, errno);
      }
      gzbuffer(file, block_bytes);
    }
  }
  ~State() {
    archive_read_free(archive);
    if (file != nullptr) {
      gzclose(file);
    }
  }
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  State(State&&) = delete;
  State& operator=(State&&) = delete;

  // Return the size of the next block in `block`, or -1 with the archive's error set.
  la_ssize_t fill() {
    const int have = gzread(file, block.data(), static_cast<unsigned>(block.size()));
    int code = Z_OK;
    const char* text = gzerror(file, &code);
    // A cut file gives what there is, and this.
    if (have < 0 || code == Z_BUF_ERROR) {
      archive_set_error(archive, EIO, "%s", text);
      return -1;
    }
    return have;
  }

  static la_ssize_t read_block(archive*, void* self, const void** bytes) {
    State& state = *static_cast<State*>(self);
    *bytes = state.block.data();
    return state.fill();
  }

  struct archive* archive = archive_read_new();
  gzFile file = nullptr;
  std::vector<std::uint8_t> block = std::vector<std::uint8_t>(block_bytes);
};

ArchiveReader::ArchiveReader(const std::string& path) : path_(path) {
  check_readable(path);
  state_ = std::make_unique<State>(path);
  int result = ARCHIVE_OK;
  if (state_->file == nullptr) {
    archive_read_support_format_zip(state_->archive);
    result = archive_read_open_filename(state_->archive, path.c_str(), block_bytes);
  } else {
    archive_read_support_format_tar(state_->archive);
    result = archive_read_open(
        state_->archive, state_.get(), nullptr, State::read_block, nullptr);
  }
  if (result != ARCHIVE_OK) {
    fail();
  }
}

ArchiveReader::~ArchiveReader() = default;

void ArchiveReader::fail() const {
  const char* text = archive_error_string(state_->archive);
  throw Error(ExitCode::data,
              ErrorText{.what = "the archive " + path_ + " cannot be read",
                        .why = text == nullptr ? "no reason" : text,
                        .where = name_.empty() ? "" : "at " + name_,
                        .remedy = "Take another copy of it"});
}

void ArchiveReader::finish() {
  la_ssize_t rest = state_->file == nullptr ? 0 : state_->fill();
  while (rest > 0) {  // the checksum lies at the end
    rest = state_->fill();
  }
  if (rest < 0) {
    fail();
  }
}

bool ArchiveReader::next() {
  while (true) {
    archive_entry* entry = nullptr;
    const int result = archive_read_next_header(state_->archive, &entry);
    if (result == ARCHIVE_EOF) {
      finish();
      return false;
    }
    if (result != ARCHIVE_OK && result != ARCHIVE_WARN) {
      fail();
    }
    // A warning is of a name that this locale cannot show; its bytes are there.
    const char* name = archive_entry_pathname(entry);
    name = name == nullptr ? archive_entry_pathname_utf8(entry) : name;
    is_folder_ = archive_entry_filetype(entry) == AE_IFDIR;
    if (name != nullptr && (is_folder_ || archive_entry_filetype(entry) == AE_IFREG)) {
      name_ = std::filesystem::path(name).lexically_normal().generic_string();
      if (name_.ends_with('/')) {
        name_.pop_back();
      }
      return true;
    }
  }
}

std::vector<std::uint8_t> ArchiveReader::read() {
  std::vector<std::uint8_t> bytes;
  const void* part = nullptr;
  std::size_t size = 0;
  la_int64_t offset = 0;
  int result = ARCHIVE_OK;
  while ((result = archive_read_data_block(state_->archive, &part, &size, &offset)) ==
         ARCHIVE_OK) {
    const auto begin = static_cast<std::size_t>(offset);  // sparse files have holes
    if (begin > most_bytes || size > most_bytes - begin) {
      archive_set_error(state_->archive, EFBIG, "a file of it is too large");
      fail();
    }
    bytes.resize(std::max(bytes.size(), begin + size));
    std::copy_n(static_cast<const std::uint8_t*>(part),
                size,
                bytes.begin() + static_cast<std::ptrdiff_t>(begin));
  }
  if (result != ARCHIVE_EOF) {
    fail();
  }
  return bytes;
}

}  // namespace crossbow
