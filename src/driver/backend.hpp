#pragma once
// Which of the two programs runs a deck: crossbow (host) or crossbow-cuda.

#include "config/run_config.hpp"

namespace crossbow {

/// Make sure that this program can run `config`. The host program gives way to
/// crossbow-cuda (exec, does not return) where the deck says "cuda", or "auto" and a
/// device answers; it is looked for in CROSSBOW_CUDA_PROGRAM, beside the program, then in
/// ../cuda. Throws Error(device) where CUDA is asked for and cannot be had, Error(usage)
/// where the CUDA program is given a host deck. argv: the program's own, passed on.
void settle_backend(const RunConfig& config, char** argv);

}  // namespace crossbow
