#include "driver/progress_line.hpp"

#include <cerrno>
#include <cmath>
#include <cstdio>

#include <fmt/format.h>
#include <unistd.h>

namespace crossbow {
namespace {

constexpr double plain_interval = 30;  // [s]: a batch job's log stays readable

/// "1:02:03" or "2:03".
std::string duration(double seconds) {
  if (!std::isfinite(seconds)) {
    return "-";
  }
  const auto whole = std::llround(seconds);
  const long long hours = whole / 3600;
  const long long minutes = whole / 60 % 60;
  return hours > 0 ? fmt::format("{}:{:02}:{:02}", hours, minutes, whole % 60)
                   : fmt::format("{}:{:02}", minutes, whole % 60);
}

/// Write to standard output at once. A run is not lost with its reader: once that is gone
/// (`| head`), the rest goes nowhere.
void put(const std::string& text) {
  const bool is_written =
      std::fputs(text.c_str(), stdout) >= 0 && std::fflush(stdout) == 0;
  if (!is_written && errno == EPIPE) {
    [[maybe_unused]] const std::FILE* nowhere = std::freopen("/dev/null", "w", stdout);
  }
}

}  // namespace

ProgressLine::ProgressLine() : terminal_(isatty(STDOUT_FILENO) == 1) {}

void ProgressLine::show(const TrainingProgress& p) {
  if (!terminal_ && since_plain_line_.seconds() < plain_interval) {
    return;
  }
  const std::string line = fmt::format(
      "epoch {:.2f} of {:g}  {:.0f} images/s  {} learner{}  loss {:.4f}  {} left",
      p.epoch,
      p.epochs,
      p.images_per_second,
      p.learners,
      p.learners == 1 ? "" : "s",
      p.loss,
      duration(p.seconds_left));
  if (terminal_) {
    put(fmt::format("\r{}\033[K", line));
    shown_ = true;
  } else {
    put(line + "\n");
    since_plain_line_.restart();
  }
}

void ProgressLine::print(const std::string& line) {
  put(fmt::format("{}{}\n", shown_ ? "\r\033[K" : "", line));
  shown_ = false;
}

}  // namespace crossbow
