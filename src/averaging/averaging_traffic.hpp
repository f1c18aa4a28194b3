#pragma once
// What averaging moves through memory, counted from the definitions of its kernels: the
// least that synchronisation can cost where the caches keep nothing from pass to pass.
//
// An array that a kernel reads counts once, one that it writes counts once, as the STREAM
// benchmark counts; so does memory_rate (training/memory_rate.hpp), which the bytes are
// held against. What a learner's own step moves in any case (g, w, v in; w, v out) is not
// averaging's and left out.

#include <cstdint>
#include <optional>
#include <vector>

#include "averaging/averaging_options.hpp"

namespace crossbow {

/// Bytes that averaging of vectors of `elements` floats moves in a round, all learners
/// together, as a mean over the rounds of a period. None where nothing is averaged, and
/// for methods in which learners do not all make steps of their own: those have nothing
/// that could be left out.
std::optional<double> averaging_bytes(const AveragingOptions& options,
                                      const std::vector<int>& learners_of_device,
                                      std::int64_t elements);

}  // namespace crossbow
