#pragma once
// Tests of a model on a whole split: the last short batch included, means weighted by
// samples. The split is cut into blocks that learners take in turn, and results are added
// in block order, so the figures do not depend on how many learners test.

#include <cstdint>
#include <memory>
#include <vector>

#include "data/sample_set.hpp"
#include "model/network.hpp"

namespace crossbow {

/// Samples of a block of `samples`: 125, with which LeNet's activations stay in a few
/// MiB, but fewer where those of the network would need more than a GiB.
std::int64_t test_batch(const NetworkPlan& plan, std::int64_t samples);

/// Sums over the samples of a block.
struct BlockResult {
  double loss = 0;
  std::int64_t correct = 0;
};

/// Means over a split.
struct EvaluationResult {
  double loss = 0;
  double accuracy = 0;
};

/// Sum of all blocks, in order.
EvaluationResult mean_of(const std::vector<BlockResult>& blocks, std::int64_t samples);

/// One thread's means of testing.
template <class Exec>
class Evaluator {
 public:
  /// `parameters`: the layout that the weights to be tested have, none: the network's
  /// own.
  Evaluator(const Exec& exec,
            const NetworkPlan& plan,
            const SampleSet& samples,
            KernelSet kernels,
            const ParameterLayout* parameters);

  const Network<Exec>& network() const { return network_; }
  std::int64_t blocks() const { return blocks_; }

  /// Have run() leave the logits of each sample it tests in `logits`, (samples, classes),
  /// which must outlive it.
  void keep_logits(std::vector<float>& logits);

  /// Test blocks first, first + step, ... of `results` (blocks() elements) with these
  /// weights and batch-norm statistics. Blocks.
  void run(const Exec& exec,
           Span<Exec> weights,
           Span<Exec> statistics,
           std::int64_t first,
           std::int64_t step,
           std::vector<BlockResult>& results);

 private:
  BlockResult run_block(const Exec& exec, std::int64_t block);
  void copy_logits(const Exec& exec, std::int64_t first, std::int64_t count);

  std::int64_t samples_, batch_, blocks_;
  Network<Exec> network_;
  BatchFiller<Exec> filler_;
  std::vector<std::int64_t> indices_;
  std::vector<float>* logits_ = nullptr;
};

}  // namespace crossbow
