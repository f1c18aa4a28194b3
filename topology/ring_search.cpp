#include "topology/ring_search.hpp"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <numeric>

namespace crossbow {
namespace {

std::size_t at(int index) {
  return static_cast<std::size_t>(index);
}

/// What is left of the NVLinks between pairs of devices [GB/s].
class LinksLeft {
 public:
  explicit LinksLeft(const Topology& topology)
      : n_(topology.devices().size()), rates_(n_ * n_, 0) {
    for (const NvLink& link : topology.nvlinks()) {
      add(link.a, link.b, link.rate);
    }
  }

  double between(int a, int b) const { return rates_[at(a) * n_ + at(b)]; }

  void add(int a, int b, double rate) {
    rates_[at(a) * n_ + at(b)] += rate;
    rates_[at(b) * n_ + at(a)] += rate;
  }

  /// The narrowest link of a ring.
  double narrowest(const std::vector<int>& ring) const {
    double rate = std::numeric_limits<double>::infinity();
    for (std::size_t i = 0; i < ring.size(); ++i) {
      rate = std::min(rate, between(ring[i], ring[(i + 1) % ring.size()]));
    }
    return rate;
  }

  void take(const std::vector<int>& ring, double rate) {
    for (std::size_t i = 0; i < ring.size(); ++i) {
      add(ring[i], ring[(i + 1) % ring.size()], -rate);
    }
  }

  /// No set of rings carries more: each takes two links of every device.
  double most() const {
    double most = std::numeric_limits<double>::infinity();
    for (std::size_t a = 0; a < n_; ++a) {
      const auto row = rates_.begin() + static_cast<std::ptrdiff_t>(a * n_);
      most = std::min(
          most, std::accumulate(row, row + static_cast<std::ptrdiff_t>(n_), 0.0) / 2);
    }
    return most;
  }

 private:
  std::size_t n_;
  std::vector<double> rates_;
};

/// Call `visit` with every ring of n devices, each in one direction only.
template <class Visit>
void for_each_ring(int n, Visit visit) {
  std::vector<int> order(at(n));
  std::iota(order.begin(), order.end(), 0);
  do {
    if (n < 3 || order[1] < order.back()) {
      visit(order);
    }
  } while (std::next_permutation(order.begin() + 1, order.end()));
}

/// Searches for the rings that carry most together, widest first.
class Packing {
 public:
  explicit Packing(const Topology& topology) : left_(topology) {
    for_each_ring(static_cast<int>(topology.devices().size()),
                  [this](const std::vector<int>& ring) {
                    if (left_.narrowest(ring) > 0) {
                      rings_.push_back(ring);
                    }
                  });
    std::stable_sort(rings_.begin(), rings_.end(), [this](const auto& a, const auto& b) {
      return left_.narrowest(a) > left_.narrowest(b);
    });
    most_ = left_.most();
    search(0);
  }

  std::vector<Ring> take_best() {
    for (Ring& ring : best_) {
      ring.share /= best_total_;
    }
    return std::move(best_);
  }

 private:
  /// A search of this many steps is long enough: the first rings found are good ones.
  static constexpr int most_steps = 20000;

  void search(std::size_t first) {
    if (total_ > best_total_ + 1e-9) {
      best_ = taken_;
      best_total_ = total_;
    }
    for (std::size_t i = first; i < rings_.size(); ++i) {
      const bool is_done = best_total_ >= most_ - 1e-9 || ++steps_ > most_steps ||
                           total_ + left_.most() <= best_total_ + 1e-9;
      if (is_done) {
        return;
      }
      const double rate = left_.narrowest(rings_[i]);
      if (rate > 1e-9) {
        left_.take(rings_[i], rate);
        taken_.push_back({rings_[i], rate});
        total_ += rate;
        search(i + 1);
        total_ -= rate;
        taken_.pop_back();
        left_.take(rings_[i], -rate);
      }
    }
  }

  LinksLeft left_;
  std::vector<std::vector<int>> rings_;
  std::vector<Ring> taken_, best_;
  double total_ = 0, best_total_ = 0, most_ = 0;
  int steps_ = 0;
};

}  // namespace

std::vector<Ring> pack_nvlink_rings(const Topology& topology) {
  const auto n = static_cast<int>(topology.devices().size());
  if (n < 2 || n > most_devices_for_all_rings) {
    return {};
  }
  return Packing(topology).take_best();
}

Ring best_single_ring(const TransferModel& model,
                      const std::vector<int>& order,
                      std::int64_t bytes) {
  const auto n = static_cast<int>(order.size());
  Ring best;
  double best_seconds = std::numeric_limits<double>::infinity();
  const auto consider = [&](const std::vector<int>& ring) {
    const double seconds =
        model.cost(traffic_of_rings(model, {{ring, 1}}), bytes).seconds;
    if (seconds < best_seconds) {
      best_seconds = seconds;
      best.order = ring;
    }
  };
  consider(order);
  if (n <= most_devices_for_all_rings) {
    for_each_ring(n, consider);
  } else {
    std::vector<int> by_number(order.size());
    std::iota(by_number.begin(), by_number.end(), 0);
    consider(by_number);
  }
  return best;
}

}  // namespace crossbow
