#include "io/row_file.hpp"

#include <cerrno>
#include <cstdint>
#include <utility>

#include <fcntl.h>
#include <unistd.h>

#include "io/atomic_file.hpp"
#include "io/file_bytes.hpp"

namespace crossbow {

RowFile::RowFile(std::string path, std::string_view text) : path_(std::move(path)) {
  write_atomically(path_, text);
  descriptor_ = open(path_.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC);
  if (descriptor_ < 0) {
    throw write_error(path_, errno_text(errno), 0);
  }
}

RowFile::~RowFile() {
  if (descriptor_ >= 0) {
    close(descriptor_);
  }
}

RowFile::RowFile(RowFile&& other) noexcept
    : path_(std::move(other.path_)), descriptor_(std::exchange(other.descriptor_, -1)) {}

void RowFile::append(const std::string& line) {
  const std::string text = line + "\n";
  const off_t end = lseek(descriptor_, 0, SEEK_END);
  const int failure = end < 0 ? errno : write_all(descriptor_, text);
  if (failure != 0) {
    // Half a line would spoil the file for every reader.
    const bool whole = end >= 0 && ftruncate(descriptor_, end) == 0;
    const std::string why = errno_text(failure) + (whole ? "" : ", its last line is cut");
    throw write_error(path_, why, static_cast<std::int64_t>(text.size()));
  }
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  std::size_t begin = 0;
  for (std::size_t end = 0; end != std::string_view::npos; begin = end + 1) {
    end = text.find(separator, begin);
    parts.push_back(text.substr(begin, end - begin));
  }
  return parts;
}

std::vector<std::string> read_lines(const std::string& path, bool cut_is_fine) {
  const std::vector<std::uint8_t> bytes = read_file(path);
  std::string text(bytes.begin(), bytes.end());
  if (cut_is_fine) {
    text.resize(text.rfind('\n') == std::string::npos ? 0 : text.rfind('\n') + 1);
  }
  const std::vector<std::string_view> parts = split(text, '\n');
  std::vector<std::string> lines(parts.begin(), parts.end());
  if (lines.back().empty()) {
    lines.pop_back();
  }
  return lines;
}

}  // namespace crossbow
