#include "io/onnx_file.hpp"

#include <limits>

#include <onnx/onnx_pb.h>

#include "base/build_info.hpp"
#include "base/error.hpp"

#include "io/atomic_file.hpp"

namespace crossbow {
namespace {

constexpr std::int64_t ir_version = 7;
constexpr std::int64_t operator_set = 12;  // the last with axes as attributes

void set(onnx::AttributeProto& attribute, std::int64_t value) {
  attribute.set_type(onnx::AttributeProto::INT);
  attribute.set_i(value);
}

void set(onnx::AttributeProto& attribute, float value) {
  attribute.set_type(onnx::AttributeProto::FLOAT);
  attribute.set_f(value);
}

void set(onnx::AttributeProto& attribute, const std::vector<std::int64_t>& values) {
  attribute.set_type(onnx::AttributeProto::INTS);
  attribute.mutable_ints()->Add(values.begin(), values.end());
}

void add_node(const OnnxNode& node, onnx::GraphProto& graph) {
  onnx::NodeProto& proto = *graph.add_node();
  proto.set_op_type(node.op);
  proto.set_name(node.name);
  for (const std::string& input : node.inputs) {
    proto.add_input(input);
  }
  proto.add_output(node.output);
  for (const auto& [name, value] : node.attributes) {
    onnx::AttributeProto& attribute = *proto.add_attribute();
    attribute.set_name(name);
    std::visit([&](const auto& each) { set(attribute, each); }, value);
  }
}

void add_weight(const OnnxWeight& weight, onnx::GraphProto& graph) {
  onnx::TensorProto& proto = *graph.add_initializer();
  proto.set_name(weight.name);
  proto.set_data_type(onnx::TensorProto::FLOAT);
  proto.mutable_dims()->Add(weight.shape.begin(), weight.shape.end());
  proto.set_raw_data(weight.values.data(), weight.values.size_bytes());
}

/// Name and type of an input or output: float32 of these sizes after the batch's.
void describe(const std::string& name,
              const std::vector<std::int64_t>& shape,
              onnx::ValueInfoProto& value) {
  value.set_name(name);
  onnx::TypeProto::Tensor& type = *value.mutable_type()->mutable_tensor_type();
  type.set_elem_type(onnx::TensorProto::FLOAT);
  type.mutable_shape()->add_dim()->set_dim_param("N");
  for (const std::int64_t size : shape) {
    type.mutable_shape()->add_dim()->set_dim_value(size);
  }
}

onnx::ModelProto to_proto(const OnnxModel& model) {
  onnx::ModelProto proto;
  proto.set_ir_version(ir_version);
  proto.set_producer_name("crossbow");
  proto.set_producer_version(std::string(build_info::version));
  proto.add_opset_import()->set_version(operator_set);
  for (const auto& [key, value] : model.metadata) {
    onnx::StringStringEntryProto& entry = *proto.add_metadata_props();
    entry.set_key(key);
    entry.set_value(value);
  }
  onnx::GraphProto& graph = *proto.mutable_graph();
  graph.set_name(model.name);
  describe("input", model.input, *graph.add_input());
  describe("logits", {model.classes}, *graph.add_output());
  for (const OnnxNode& node : model.nodes) {
    add_node(node, graph);
  }
  for (const OnnxWeight& weight : model.weights) {
    add_weight(weight, graph);
  }
  return proto;
}

}  // namespace

void write_onnx(const std::string& path, const OnnxModel& model) {
  const onnx::ModelProto proto = to_proto(model);
  const std::size_t bytes = proto.ByteSizeLong();
  CROSSBOW_VALIDATE(
      bytes <= std::numeric_limits<std::int32_t>::max(),
      ExitCode::data,
      {"the network is too large for an ONNX file",
       std::to_string(bytes) + " bytes, and at most 2147483647 are possible",
       path,
       "Export it to a .npz or .h5 file"});
  write_atomically(path, proto.SerializeAsString());
}

}  // namespace crossbow
