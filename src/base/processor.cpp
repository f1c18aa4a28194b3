#include "base/processor.hpp"

#include <string>

#include "base/error.hpp"

namespace crossbow {
namespace {

#ifdef __AVX2__
constexpr bool avx2 = true;
#else
constexpr bool avx2 = false;
#endif
#ifdef __FMA__
constexpr bool fma = true;
#else
constexpr bool fma = false;
#endif
#ifdef __BMI2__
constexpr bool bmi2 = true;
#else
constexpr bool bmi2 = false;
#endif
#ifdef __AVX512F__
constexpr bool avx512f = true;
#else
constexpr bool avx512f = false;
#endif
#ifdef __AVX512BW__
constexpr bool avx512bw = true;
#else
constexpr bool avx512bw = false;
#endif
#ifdef __AVX512VL__
constexpr bool avx512vl = true;
#else
constexpr bool avx512vl = false;
#endif

}  // namespace

std::vector<ProcessorFeature> processor_features() {
#ifdef __x86_64__
  __builtin_cpu_init();
  return {{"AVX2", avx2, __builtin_cpu_supports("avx2") != 0},
          {"FMA", fma, __builtin_cpu_supports("fma") != 0},
          {"BMI2", bmi2, __builtin_cpu_supports("bmi2") != 0},
          {"AVX-512F", avx512f, __builtin_cpu_supports("avx512f") != 0},
          {"AVX-512BW", avx512bw, __builtin_cpu_supports("avx512bw") != 0},
          {"AVX-512VL", avx512vl, __builtin_cpu_supports("avx512vl") != 0}};
#else
  return {};
#endif
}

void check_processor(const std::vector<ProcessorFeature>& features) {
  std::string missing;
  for (const ProcessorFeature& feature : features) {
    if (feature.built_for && !feature.present) {
      missing.append(missing.empty() ? "" : ", ").append(feature.name);
    }
  }
  CROSSBOW_VALIDATE(
      missing.empty(),
      ExitCode::device,
      {"this processor cannot run the program",
       "it was built for one that has " + missing,
       "",
       "Build it on this machine, or with CROSSBOW_ARCH=x86-64-v3 for all of them"});
}

}  // namespace crossbow
