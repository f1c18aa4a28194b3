#pragma once
// Neural networks in the Open Neural Network Exchange format (ONNX, operator set 12), for
// onnxruntime and the like: a graph of operators as data, and the file of it.

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <variant>
#include <vector>

namespace crossbow {

using OnnxAttribute = std::variant<std::int64_t, float, std::vector<std::int64_t>>;

/// One operator with one output; values are named, a weight by its tensor.
struct OnnxNode {
  std::string op;    // "Conv"
  std::string name;  // unique
  std::vector<std::string> inputs;
  std::string output;
  std::map<std::string, OnnxAttribute> attributes;
};

struct OnnxWeight {
  std::string name;
  std::vector<std::int64_t> shape;
  std::span<const float> values;  // row-major; must outlive the model
};

/// A network of one input "input" (N, C, H, W) and one output "logits" (N, classes), N
/// being whatever batch it is run with.
struct OnnxModel {
  std::string name;
  std::vector<std::int64_t> input;  // C, H, W
  std::int64_t classes = 0;
  std::vector<OnnxNode> nodes;  // in an order that computes inputs first
  std::vector<OnnxWeight> weights;
  std::vector<std::vector<float>> constants;  // values of weights that no network holds
  std::map<std::string, std::string> metadata;
};

/// Write the model atomically; throw Error(data) with path and reason, also for a model
/// of more than the 2 GiB that a file of this kind can have.
void write_onnx(const std::string& path, const OnnxModel& model);

}  // namespace crossbow
