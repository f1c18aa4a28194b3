#pragma once
// How a lower layer says something worth a line without knowing where lines go.

#include <functional>
#include <string>

namespace crossbow {

/// Called with one finished line without its end; may be empty, then the line is dropped.
using Notice = std::function<void(const std::string&)>;

/// Say `line` if anybody listens.
inline void say(const Notice& notice, const std::string& line) {
  if (notice) {
    notice(line);
  }
}

}  // namespace crossbow
