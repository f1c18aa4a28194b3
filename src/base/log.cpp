#include "base/log.hpp"

#include <cstdio>
#include <utility>
#include <vector>

#include <spdlog/sinks/basic_file_sink.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include "base/error.hpp"

namespace crossbow {
namespace {

spdlog::sink_ptr make_file_sink(const std::string& path, LogStart start) {
  try {
    auto sink = std::make_shared<spdlog::sinks::basic_file_sink_mt>(
        path, start == LogStart::fresh);
    sink->set_pattern("%Y-%m-%d %H:%M:%S.%e %-7l %v");
    return sink;
  } catch (const spdlog::spdlog_ex& failure) {
    throw Error(ExitCode::data,
                ErrorText{.what = "cannot open the log",
                          .why = failure.what(),
                          .where = path,
                          .remedy = "Check run.output and its permissions"});
  }
}

spdlog::sink_ptr make_warning_sink() {
  auto sink = std::make_shared<spdlog::sinks::stderr_sink_mt>();
  sink->set_level(spdlog::level::warn);
  sink->set_pattern("crossbow: %l: %v");
  return sink;
}

}  // namespace

std::shared_ptr<spdlog::logger> open_log(const std::string& path, LogStart start) {
  std::vector<spdlog::sink_ptr> sinks{make_file_sink(path, start), make_warning_sink()};
  auto log = std::make_shared<spdlog::logger>("crossbow", sinks.begin(), sinks.end());
  log->flush_on(spdlog::level::trace);
  log->set_error_handler([path, told = false](const std::string& why) mutable {
    if (!std::exchange(told, true)) {
      std::fprintf(stderr,
                   "crossbow: warning: lines of the log are lost (%s, %s)\n",
                   why.c_str(),
                   path.c_str());
    }
  });
  return log;
}

}  // namespace crossbow
