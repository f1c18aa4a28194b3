#include <fmt/format.h>

#include "io/atomic_file.hpp"

#include "config/run_config.hpp"
#include "driver/commands.hpp"

namespace crossbow {

int keys_command(const std::string& file) {
  if (file.empty()) {
    fmt::print("{}", key_reference());
  } else {
    write_atomically(file, key_reference());
  }
  return 0;
}

}  // namespace crossbow
