#include "training/memory_rate.hpp"

#include <algorithm>
#include <cstdint>
#include <exception>
#include <utility>
#include <vector>

#include <unistd.h>

#include "base/median.hpp"
#include "base/scoped_timer.hpp"
#include "base/wait.hpp"

#include "kernels/elementwise.hpp"
#include "kernels/instance.hpp"

#include "training/learner_threads.hpp"
#include "training/trainer_setup.hpp"

namespace crossbow {
namespace {

constexpr int turns = 7;
constexpr std::int64_t arrays = 3;

/// Bytes of all arrays: so many that the last-level cache holds a small part of them.
std::int64_t stream_bytes() {
  const std::int64_t cache = std::max<std::int64_t>(0, sysconf(_SC_LEVEL3_CACHE_SIZE));
  return std::clamp<std::int64_t>(8 * cache, 256 << 20, 1 << 30);
}

template <class Exec>
class MemoryStream {
 public:
  explicit MemoryStream(const TrainerOptions& options)
      : o_(options),
        elements_(stream_bytes() / arrays / std::int64_t{sizeof(float)} / o_.learners),
        together_(o_.learners) {}

  double rate() {
    run_learner_threads(
        o_.learners,
        [this](int j) { run_guarded(j); },
        [this] { together_.abort(); },
        failure_);
    return upper_median(std::move(rates_));
  }

 private:
  void run_guarded(int j) {
    try {
      run(j);
    } catch (const Aborted&) {
      // Another one has said why.
    } catch (...) {
      failure_.add(j, 0, std::current_exception());
      together_.abort();
    }
  }

  void run(int j) {
    settle_thread(o_, j);
    const Exec exec = make_instance<Exec>(o_.threads);
    const auto n = static_cast<std::size_t>(elements_);
    const Buffer<Exec> a = make_buffer(exec, "crossbow::stream", n),
                       b = make_buffer(exec, "crossbow::stream", n),
                       sum = make_buffer(exec, "crossbow::stream", n);
    exec.fence("crossbow::memory_rate");
    for (int turn = 0; turn <= turns; ++turn) {
      together_.arrive_and_wait([&] { watch_.restart(); });
      add<Exec>(exec, as_span(a), as_span(b), as_span(sum));
      exec.fence("crossbow::memory_rate");
      together_.arrive_and_wait([&] { count(turn); });
    }
  }

  void count(int turn) {
    if (turn > 0) {  // the first one warms up
      const auto elements = static_cast<double>(elements_ * arrays * o_.learners);
      rates_.push_back(1e-9 * sizeof(float) * elements / watch_.seconds());
    }
  }

  const TrainerOptions& o_;
  std::int64_t elements_;  // of each array
  Rendezvous together_;
  Stopwatch watch_;
  std::vector<double> rates_;
  FirstFailure failure_;
};

}  // namespace

template <class Exec>
double memory_rate(const TrainerOptions& options) {
  return MemoryStream<Exec>(options).rate();
}

#define CROSSBOW_INSTANTIATE(Exec) \
  template double memory_rate<Exec>(const TrainerOptions&);
CROSSBOW_FOR_EACH_SPACE(CROSSBOW_INSTANTIATE)

}  // namespace crossbow
