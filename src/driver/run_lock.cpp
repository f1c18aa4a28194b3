#include "driver/run_lock.hpp"

#include <array>
#include <cerrno>
#include <climits>
#include <cstring>
#include <filesystem>
#include <fstream>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.hpp"

namespace crossbow {
namespace {

/// Who writes into a folder; no host: nobody.
struct Owner {
  std::string host;
  long process = 0;

  std::string text() const { return fmt::format("process {} on {}", process, host); }
};

std::string this_host() {
  std::array<char, HOST_NAME_MAX + 1> name = {};
  gethostname(name.data(), name.size() - 1);
  return name.data();
}

Owner own_name() {
  return {this_host(), getpid()};
}

Owner read_owner(const std::string& path) {
  Owner owner;
  std::ifstream file(path);
  if (!(file >> owner.host >> owner.process)) {
    return {};
  }
  return owner;
}

/// When the file was written to or beaten, asked anew: a network file system answers from
/// what it knew when a file was opened. {0, 0}: it is not there.
std::pair<std::int64_t, std::int64_t> time_of(const std::string& path) {
  struct stat status = {};
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) {
    return {};
  }
  fstat(file, &status);
  close(file);
  return {status.st_mtim.tv_sec, status.st_mtim.tv_nsec};
}

/// Whether the open file is still the one of that name.
bool is_same_file(int file, const std::string& path) {
  struct stat opened = {}, named = {};
  return fstat(file, &opened) == 0 && stat(path.c_str(), &named) == 0 &&
         opened.st_dev == named.st_dev && opened.st_ino == named.st_ino;
}

/// Whether the owner's pulse is felt within `pulse.patience`.
bool lives(const std::string& path, const LockPulse& pulse) {
  const auto before = time_of(path);
  const auto end = std::chrono::steady_clock::now() + pulse.patience;
  while (std::chrono::steady_clock::now() < end) {
    std::this_thread::sleep_for(pulse.beat / 2);
    if (time_of(path) != before) {
      return true;
    }
  }
  return false;
}

[[noreturn]] void refuse(const std::string& path, const Owner& owner) {
  throw Error(ExitCode::data,
              {"another run is writing into the output folder",
               owner.host.empty() ? "" : owner.text(),
               std::filesystem::path(path).parent_path().string(),
               "Wait for it, or set another run.output"});
}

}  // namespace

RunLock::RunLock(const std::string& path, const Notice& notice, const LockPulse& pulse)
    : path_(path), pulse_(pulse) {
  try {
    take(notice);
    heart_ = std::thread([this] { beat(); });
  } catch (...) {
    close(file_);
    throw;
  }
}

void RunLock::open_file() {
  if (file_ >= 0) {
    close(file_);
  }
  file_ = open(path_.c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0666);
  CROSSBOW_VALIDATE(file_ >= 0,
                    ExitCode::data,
                    {"the output folder cannot be written to",
                     std::strerror(errno),
                     path_,
                     "Set run.output to a folder that you may write to"});
}

void RunLock::take(const Notice& notice) {
  bool is_locked = false, is_held = false;
  do {
    open_file();
    is_locked = flock(file_, LOCK_EX | LOCK_NB) == 0;
    is_held = !is_locked && errno == EWOULDBLOCK;
    // Its owner may have moved the folder aside between the two calls.
  } while (is_locked && !is_same_file(file_, path_));
  const Owner owner = read_owner(path_);
  if (is_held) {
    refuse(path_, owner);
  }
  if (!owner.host.empty()) {
    // The system has let go of what a killed process of this machine held.
    const bool is_known_dead = is_locked && owner.host == this_host();
    if (!is_known_dead && lives(path_, pulse_)) {
      refuse(path_, owner);
    }
    say(notice,
        fmt::format("the run before ({}) was killed; its lock is taken over",
                    owner.text()));
  }
  const Owner own = own_name();
  const std::string text = fmt::format("{} {}\n", own.host, own.process);
  const bool is_written =
      ftruncate(file_, 0) == 0 &&
      pwrite(file_, text.data(), text.size(), 0) == static_cast<ssize_t>(text.size());
  CROSSBOW_VALIDATE(is_written,
                    ExitCode::data,
                    {"the output folder cannot be written to",
                     std::strerror(errno),
                     path_,
                     "Check its file system, or set another run.output"});
}

void RunLock::beat() {
  std::unique_lock lock(mutex_);
  while (!changed_.wait_for(lock, pulse_.beat, [this] { return ends_; })) {
    futimens(file_, nullptr);
    const Owner owner = read_owner(path_);
    if (!owner.host.empty() && owner.text() != own_name().text()) {
      is_lost_ = true;
    }
  }
}

RunLock::~RunLock() {
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
    changed_.notify_all();
  }
  heart_.join();
  if (!is_lost_) {
    // An empty file names nobody. Should that fail, the next run listens for our pulse.
    [[maybe_unused]] const int failed = ftruncate(file_, 0);
  }
  close(file_);
}

}  // namespace crossbow
