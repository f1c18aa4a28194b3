#pragma once
// Whether this processor has what the program was compiled for: a program built for one
// node's processor ("native") and started on an older one would die of SIGILL at some
// point.

#include <string_view>
#include <vector>

namespace crossbow {

/// An extension of the instruction set.
struct ProcessorFeature {
  std::string_view name;
  bool built_for = false;
  bool present = false;
};

/// Those that compilers use for arithmetic, on x86-64; none on others.
std::vector<ProcessorFeature> processor_features();

/// Throw Error(device) that names the features that are built for but not present.
void check_processor(const std::vector<ProcessorFeature>& features);

}  // namespace crossbow
