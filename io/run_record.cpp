#include "io/run_record.hpp"

#include <algorithm>
#include <iterator>
#include <string>
#include <vector>

#include "base/error.hpp"

#include "io/atomic_file.hpp"
#include "io/file_bytes.hpp"

namespace crossbow {
namespace {

using nlohmann::json;

[[noreturn]] void refuse(const std::string& why, const std::string& path) {
  throw Error(ExitCode::data,
              ErrorText{.what = "the file is not JSON",
                        .why = why,
                        .where = path,
                        .remedy = "Restore the file or write it again"});
}

/// "line 3, column 7" of byte `byte`, from 1.
std::string place_of(const std::vector<std::uint8_t>& bytes, std::size_t byte) {
  const auto end = bytes.begin() + static_cast<std::ptrdiff_t>(
                                       std::min(byte == 0 ? 0 : byte - 1, bytes.size()));
  const auto line_begin =
      std::find(std::make_reverse_iterator(end), bytes.rend(), '\n').base();
  return "line " + std::to_string(1 + std::count(bytes.begin(), end, '\n')) +
         ", column " + std::to_string(1 + (end - line_begin));
}

}  // namespace

std::string run_record_text(const json& record) {
  return record.dump(2, ' ', false, json::error_handler_t::replace) + "\n";
}

void write_run_record(const std::string& path, const json& record) {
  write_atomically(path, run_record_text(record));
}

nlohmann::json read_run_record(const std::string& path) {
  const std::vector<std::uint8_t> bytes = read_file(path);
  // What is nested deeper than any record of ours would use up the stack later.
  const auto limit_depth = [&](int depth, json::parse_event_t, json&) {
    constexpr int deepest = 100;
    if (depth > deepest) {
      refuse("it is nested more than " + std::to_string(deepest) + " deep", path);
    }
    return true;
  };
  try {
    return json::parse(bytes, limit_depth);
  } catch (const json::parse_error& failure) {
    refuse(place_of(bytes, failure.byte), path);
  } catch (const json::out_of_range&) {
    refuse("a number in it is beyond what a double can hold", path);
  }
}

}  // namespace crossbow
