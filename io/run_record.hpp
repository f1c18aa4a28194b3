#pragma once
// run.json, the record of a run: whatever the driver puts into it, as one file that is
// always whole.

#include <string>

#include <nlohmann/json.hpp>

namespace crossbow {

/// The record as text: indented, with an end of line. A NaN becomes null and bytes that
/// are not UTF-8 (of a path, say) a replacement character.
std::string run_record_text(const nlohmann::json& record);

/// Write that text to `path` atomically. Throws Error(data) with path and reason.
void write_run_record(const std::string& path, const nlohmann::json& record);

/// Read it back; throw Error(data) with path and place of what is not JSON.
nlohmann::json read_run_record(const std::string& path);

}  // namespace crossbow
