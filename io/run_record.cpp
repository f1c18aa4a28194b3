#include "io/run_record.hpp"

#include <string>
#include <vector>

#include "base/error.hpp"

#include "io/atomic_file.hpp"
#include "io/file_bytes.hpp"

namespace crossbow {
namespace {

using nlohmann::json;

/// What is nested deeper than any record of ours would use up the stack later.
bool limit_depth(int depth, json::parse_event_t, json&) {
  constexpr int deepest = 100;
  if (depth > deepest) {
    throw json::other_error::create(
        500, "nested more than " + std::to_string(deepest) + " deep", nullptr);
  }
  return true;
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
  try {
    return nlohmann::json::parse(bytes, limit_depth);
  } catch (const json::exception& failure) {
    throw Error(ExitCode::data,
                ErrorText{.what = "the file is not JSON",
                          .why = failure.what(),
                          .where = path,
                          .remedy = "Restore the file or write it again"});
  }
}

}  // namespace crossbow
