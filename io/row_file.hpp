#pragma once
// A text file that grows by whole lines while a run goes on, each handed to the system at
// once: what history.csv and tuner.csv are written through.

#include <string>
#include <string_view>
#include <vector>

namespace crossbow {

class RowFile {
 public:
  /// Begin with `text`, whole lines; a file that was there is replaced. Throws
  /// Error(data) with path and reason.
  RowFile(std::string path, std::string_view text);
  ~RowFile();
  RowFile(RowFile&& other) noexcept;
  RowFile& operator=(RowFile&&) = delete;
  RowFile(const RowFile&) = delete;
  RowFile& operator=(const RowFile&) = delete;

  /// Write `line`, which has no end, at once. Throws Error(data) with path and reason;
  /// then the file is as before.
  void append(const std::string& line);

 private:
  std::string path_;
  int descriptor_ = -1;
};

/// The parts of `text` between separators; one more than there are separators.
std::vector<std::string_view> split(std::string_view text, char separator);

/// The lines of the file without their ends. `cut_is_fine`: leave out a last line without
/// its end, which a killed job may leave. Throws Error(data) with path and reason.
std::vector<std::string> read_lines(const std::string& path, bool cut_is_fine);

}  // namespace crossbow
