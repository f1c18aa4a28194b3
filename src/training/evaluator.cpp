#include "training/evaluator.hpp"

#include <algorithm>
#include <numeric>

#include "model/host_transfer.hpp"

namespace crossbow {
namespace {

NetworkOptions inference_options(std::int64_t batch,
                                 KernelSet kernels,
                                 const ParameterLayout* imposed) {
  NetworkOptions options;
  options.batch = batch;
  options.kernels = kernels;
  options.inference = true;
  options.imposed = imposed;
  return options;
}

}  // namespace

std::int64_t test_batch(const NetworkPlan& plan, std::int64_t samples) {
  constexpr std::int64_t usual = 125;
  constexpr double most_bytes = 1 << 30;
  const double fitting = std::clamp(most_bytes / activation_bytes(plan), 1.0, 1e9);
  return std::min({samples, usual, static_cast<std::int64_t>(fitting)});
}

EvaluationResult mean_of(const std::vector<BlockResult>& blocks, std::int64_t samples) {
  double loss = 0;
  std::int64_t correct = 0;
  for (const BlockResult& block : blocks) {
    loss += block.loss;
    correct += block.correct;
  }
  const auto n = static_cast<double>(samples);
  return {loss / n, static_cast<double>(correct) / n};
}

template <class Exec>
Evaluator<Exec>::Evaluator(const Exec& exec,
                           const NetworkPlan& plan,
                           const SampleSet& samples,
                           KernelSet kernels,
                           const ParameterLayout* parameters)
    : samples_(samples.data.n),
      batch_(test_batch(plan, samples_)),
      blocks_((samples_ + batch_ - 1) / batch_),
      network_(exec, plan, inference_options(batch_, kernels, parameters)),
      filler_(exec, samples, batch_) {}

template <class Exec>
void Evaluator<Exec>::keep_logits(std::vector<float>& logits) {
  logits.resize(network_.logits().extent(0) / static_cast<std::size_t>(batch_) *
                static_cast<std::size_t>(samples_));
  logits_ = &logits;
}

template <class Exec>
void Evaluator<Exec>::run(const Exec& exec,
                          Span<Exec> weights,
                          Span<Exec> statistics,
                          std::int64_t first,
                          std::int64_t step,
                          std::vector<BlockResult>& results) {
  network_.bind(weights, Span<Exec>(), statistics);
  for (std::int64_t block = first; block < blocks_; block += step) {
    results[static_cast<std::size_t>(block)] = run_block(exec, block);
  }
}

template <class Exec>
BlockResult Evaluator<Exec>::run_block(const Exec& exec, std::int64_t block) {
  const std::int64_t first = block * batch_;
  const std::int64_t count = std::min(batch_, samples_ - first);
  indices_.resize(static_cast<std::size_t>(count));
  std::iota(indices_.begin(), indices_.end(), first);
  const BatchResult<Exec>& result =
      network_.forward(exec, filler_.fill(exec, indices_, 0), false);
  if (logits_ != nullptr) {
    copy_logits(exec, first, count);
  }
  const auto losses = to_host<Exec, float>(exec, as_span(result.losses));
  const auto correct = to_host<Exec, std::int32_t>(exec, as_span(result.correct));
  return {std::accumulate(losses.begin(), losses.begin() + count, 0.0),
          std::accumulate(correct.begin(), correct.begin() + count, std::int64_t{0})};
}

template <class Exec>
void Evaluator<Exec>::copy_logits(const Exec& exec,
                                  std::int64_t first,
                                  std::int64_t count) {
  const auto values = to_host<Exec, const float>(exec, network_.logits());
  const auto classes = static_cast<std::int64_t>(values.size()) / batch_;
  std::copy_n(values.begin(), count * classes, logits_->begin() + first * classes);
}

#define CROSSBOW_INSTANTIATE(Exec) template class Evaluator<Exec>;
CROSSBOW_FOR_EACH_SPACE(CROSSBOW_INSTANTIATE)

}  // namespace crossbow
