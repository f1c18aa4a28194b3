#include "driver/backend.hpp"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include <unistd.h>

#include "base/build_info.hpp"
#include "base/error.hpp"

#include "topology/cuda_driver.hpp"

namespace crossbow {
namespace {

namespace fs = std::filesystem;

/// The CUDA program, or an empty path.
fs::path find_cuda_program() {
  std::vector<fs::path> candidates;
  if (const char* named = std::getenv("CROSSBOW_CUDA_PROGRAM"); named != nullptr) {
    candidates.emplace_back(named);
  }
  std::error_code ignored;
  const fs::path here = fs::read_symlink("/proc/self/exe", ignored).parent_path();
  candidates.push_back(here / "crossbow-cuda");
  candidates.push_back(here.parent_path() / "cuda" / "crossbow-cuda");
  for (const fs::path& candidate : candidates) {
    if (access(candidate.c_str(), X_OK) == 0) {
      return candidate;
    }
  }
  return {};
}

}  // namespace

void settle_backend(const RunConfig& config, char** argv) {
  const BackendName wanted = config.devices.backend;
  if (build_info::backend == "cuda") {
    CROSSBOW_VALIDATE(
        wanted != BackendName::host,
        ExitCode::usage,
        {"this is the CUDA program but the deck says devices.backend = \"host\"",
         "",
         "",
         "Run it with the program crossbow"});
    CROSSBOW_VALIDATE(
        config.devices.topology.empty() &&
            config.averaging.method != AveragingMethodName::hogwild,
        ExitCode::usage,
        {"this is the CUDA program but the deck asks for what the host alone can do",
         "devices.topology or averaging.method = \"hogwild\"",
         "",
         "Run it with the program crossbow"});
    return;
  }
  // Hogwild and playing a machine are the host's; the deck's check has seen to "cuda".
  if (wanted == BackendName::host ||
      config.averaging.method == AveragingMethodName::hogwild ||
      !config.devices.topology.empty()) {
    return;
  }
  const CudaDevices devices = find_cuda_devices();
  const fs::path program = devices.count > 0 ? find_cuda_program() : fs::path();
  if (!program.empty()) {
    execv(program.c_str(), argv);
    throw Error(ExitCode::device,
                {"the CUDA program cannot be started",
                 std::strerror(errno),
                 program.string(),
                 "Build it again, or set devices.backend = \"host\""});
  }
  CROSSBOW_VALIDATE(
      wanted == BackendName::automatic,
      ExitCode::device,
      {"devices.backend = \"cuda\" cannot be had",
       devices.count > 0 ? "crossbow-cuda was not found" : devices.reason,
       "",
       devices.count > 0 ? "Build the preset cuda or set CROSSBOW_CUDA_PROGRAM"
                         : "Set devices.backend = \"host\""});
}

}  // namespace crossbow
