#include "driver/job_limit.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <memory>

namespace crossbow {

std::optional<double> seconds_until(const std::string& end, std::time_t now) {
  std::tm local = {};
  const char* rest = strptime(end.c_str(), "%Y-%m-%dT%H:%M:%S", &local);
  if (rest == nullptr || (*rest != '\0' && *rest != '\n')) {
    return std::nullopt;
  }
  local.tm_isdst = -1;  // whichever holds on that day
  const std::time_t time = std::mktime(&local);
  return time == -1 ? std::nullopt : std::optional<double>(std::difftime(time, now));
}

std::optional<double> seconds_until_job_end() {
  if (std::getenv("SLURM_JOB_ID") == nullptr) {
    return std::nullopt;
  }
  // One task of an array has the array's own id for its job id: squeue would tell of all.
  const char* command =
      "job=$SLURM_JOB_ID; [ -z \"$SLURM_ARRAY_TASK_ID\" ] || "
      "job=${SLURM_ARRAY_JOB_ID}_$SLURM_ARRAY_TASK_ID; "
      "exec timeout 10 squeue -h -j \"$job\" -o %e 2>/dev/null </dev/null";
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> answer(popen(command, "r"),
                                                               &pclose);
  std::array<char, 64> line = {};
  if (answer == nullptr ||
      std::fgets(line.data(), static_cast<int>(line.size()), answer.get()) == nullptr) {
    return std::nullopt;
  }
  return seconds_until(line.data(), std::time(nullptr));
}

double stop_before(double seconds) {
  return seconds - std::min(30.0, std::max(0.0, seconds) / 4);
}

}  // namespace crossbow
