#pragma once
// The log of a run: plain lines with their time in run.log, warnings on stderr as well.
// Every line is handed to the system when it is written, so that a killed job's log has
// its last lines.

#include <memory>
#include <string>

#include <spdlog/logger.h>

namespace crossbow {

enum class LogStart { fresh, append };  // append: a resumed run

/// Open the log at `path`; lines look like "2026-01-31 12:00:00.123 info    text".
/// `level` info and above go to the file, warnings and errors also to stderr as
/// "crossbow: warning: text". Safe to use from several threads. Throws Error(data) if the
/// file cannot be opened; a line that cannot be written later is dropped and told once on
/// stderr.
std::shared_ptr<spdlog::logger> open_log(const std::string& path, LogStart start);

}  // namespace crossbow
