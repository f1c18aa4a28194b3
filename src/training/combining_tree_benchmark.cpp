// The combining tree's sum against the transfer model: seconds for models of 1 MB to
// 400 MB, measured and predicted from the rate that plain streams of as many bytes get.
//
//   build/release/crossbow_training_benchmark [synthetic machine] [learners a device]

#include <cstdint>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>

#include "base/median.hpp"
#include "base/scoped_timer.hpp"
#include "base/wait.hpp"

#include "kernels/instance.hpp"
#include "topology/devices.hpp"
#include "topology/placement.hpp"
#include "topology/probe.hpp"
#include "topology/reduction_plan.hpp"
#include "topology/thread_binding.hpp"

#include "averaging/combining_tree.hpp"

namespace crossbow {
namespace {

using Exec = Kokkos::Serial;

constexpr int repeats = 9;

/// Run work(j) in `count` threads, each on its PUs where it can be bound.
template <class Work>
void in_bound_threads(const Topology& machine, const Placement& placement, Work work) {
  std::vector<std::thread> threads;
  threads.reserve(placement.pus_of_learner.size());
  for (int j = 0; j < placement.learners(); ++j) {
    threads.emplace_back([&, j] {
      bind_this_thread(machine, placement.pus_of_learner[static_cast<std::size_t>(j)]);
      work(j);
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
}

/// What one of the threads gets of memory while all stream at the same time [GB/s]: they
/// read two arrays and write one, which is read before it is written, of `bytes` in all.
double stream_rate(const Topology& machine, const Placement& placement, double bytes) {
  const int k = placement.learners();
  const auto n = static_cast<std::size_t>(bytes / 3 / sizeof(float) / k);
  Rendezvous together(k);
  std::vector<double> rates;
  Stopwatch watch;
  in_bound_threads(machine, placement, [&](int) {
    std::vector<float> a(n, 1.0F), b(n, 2.0F), c(n, 3.0F);
    for (int repeat = 0; repeat <= repeats; ++repeat) {
      together.arrive_and_wait([&] { watch.restart(); });
      float* __restrict out = a.data();
      const float* __restrict first = b.data();
      const float* __restrict second = c.data();
      for (std::size_t i = 0; i < n; ++i) {
        out[i] = first[i] + second[i];
      }
      together.arrive_and_wait([&] {
        if (repeat > 0) {
          rates.push_back(4.0 * sizeof(float) * static_cast<double>(n) * 1e-9 /
                          watch.seconds());
        }
      });
    }
  });
  return upper_median(rates);
}

/// Seconds of one sum of all learners' corrections into z.
double sum_seconds(const Topology& machine,
                   const Placement& placement,
                   const ReductionTree& tree,
                   std::int64_t elements) {
  const int k = placement.learners();
  const Exec main = make_instance<Exec>(1);
  CombiningTree<Exec> sum(
      main, tree, std::vector<int>(tree.parent.size(), k / tree.devices()), elements);
  const auto n = static_cast<std::size_t>(elements);
  const Buffer<Exec> z = make_buffer(main, "z", n),
                     z_prev = make_buffer(main, "z_prev", n),
                     z_next = make_buffer(main, "z_next", n);
  Rendezvous together(k);
  std::vector<double> seconds;
  Stopwatch watch;
  in_bound_threads(machine, placement, [&](int j) {
    const Exec exec = make_instance<Exec>(1);
    Kokkos::deep_copy(exec, sum.corrections(j, {0, 0, elements}), 1e-3F);
    for (std::int32_t turn = 1; turn <= repeats + 1; ++turn) {
      together.arrive_and_wait([&] { watch.restart(); });
      for (int step = 0; step < sum.chunks(); ++step) {
        const Chunk chunk = sum.chunk(j, step);
        const auto part = [&](const Buffer<Exec>& vector) {
          return Span<Exec>(vector.data() + chunk.offset,
                            static_cast<std::size_t>(chunk.size));
        };
        sum.bring(j, exec, chunk, turn, {0.5F, {}, part(z), part(z_prev), part(z_next)});
      }
      together.arrive_and_wait([&] {
        if (turn > 1) {
          seconds.push_back(watch.seconds());
        }
      });
    }
  });
  return upper_median(seconds);
}

void compare(const Topology& live,
             const Topology& machine,
             int learners,
             double megabytes) {
  const auto bytes = static_cast<std::int64_t>(1e6 * megabytes);
  // A played machine's learners share the real cores.
  const int k = learners * static_cast<int>(machine.devices().size());
  const Placement placement = place_learners(live, k, 1);
  TransferRates rates;
  rates.core_memory = stream_rate(live, placement, static_cast<double>(bytes) * (k + 3));
  rates.node_memory = rates.core_memory * k;  // no node's own limit is known here
  const ReductionPlan plan = plan_reduction(machine, learners, bytes, rates);
  const double measured = sum_seconds(
      live, placement, plan.tree, bytes / static_cast<std::int64_t>(sizeof(float)));
  fmt::print("{:>8.0f} {:>10.1f} {:>12.3f} {:>12.3f} {:>8.2f}\n",
             megabytes,
             rates.core_memory,
             1e3 * measured,
             1e3 * plan.cost.seconds,
             plan.cost.seconds / measured);
  std::fflush(stdout);
}

void run(const std::string& description, int learners) {
  const Topology live = probe_live();
  const Topology machine = with_host_devices(
      description.empty() ? live : probe_synthetic(description), HostDomain::numa);
  fmt::print("{} device(s), {} learner(s) on each\n{:>8} {:>10} {:>12} {:>12} {:>8}\n",
             machine.devices().size(),
             learners,
             "MB",
             "GB/s",
             "measured ms",
             "predicted ms",
             "ratio");
  for (const double megabytes : {1.0, 4.0, 16.0, 64.0, 128.0, 400.0}) {
    compare(live, machine, learners, megabytes);
  }
}

}  // namespace
}  // namespace crossbow

int main(int argc, char** argv) {
  const Kokkos::ScopeGuard kokkos(crossbow::quiet_settings());
  crossbow::run(argc > 1 ? argv[1] : "", argc > 2 ? std::atoi(argv[2]) : 2);
  return 0;
}
