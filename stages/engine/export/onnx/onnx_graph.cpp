#include "engine/export/onnx/onnx_graph.h"

#include <cstddef>

#include "kdgat/text.h"

namespace kdgat::exporting {
namespace {

// Numbers of fields in onnx.proto.
namespace model_field {
enum {
  kIrVersion = 1,
  kProducer = 2,
  kProducerVersion = 3,
  kDoc = 6,
  kGraph = 7,
  kOpset = 8,
  kMetadata = 14
};
}
namespace graph_field {
enum { kNode = 1, kName = 2, kInitializer = 5, kInput = 11, kOutput = 12 };
}
namespace node_field {
enum { kInput = 1, kOutput = 2, kName = 3, kOpType = 4, kAttribute = 5 };
}
namespace attribute_field {
enum { kName = 1, kFloat = 2, kInt = 3, kString = 4, kInts = 8, kType = 20 };
}
namespace tensor_field {
enum { kDims = 1, kType = 2, kIntegers = 7, kName = 8, kRaw = 9 };
}
namespace value_field {
enum { kName = 1, kType = 2, kDoc = 3 };
}
/// AttributeProto.AttributeType.
enum { kTypeFloat = 1, kTypeInt = 2, kTypeString = 3, kTypeInts = 7 };

/// What came with ONNX 1.10 to 1.13, and so with either set of operators.
constexpr int64_t kIrVersion = 8;

ProtoWriter attribute_of(const std::string& name, const OnnxAttribute& value) {
  ProtoWriter out;
  out.text(attribute_field::kName, name);
  if (const auto* integer = std::get_if<int64_t>(&value)) {
    out.integer(attribute_field::kInt, *integer);
    out.integer(attribute_field::kType, kTypeInt);
  } else if (const auto* real = std::get_if<float>(&value)) {
    out.real(attribute_field::kFloat, *real);
    out.integer(attribute_field::kType, kTypeFloat);
  } else if (const auto* text = std::get_if<std::string>(&value)) {
    out.text(attribute_field::kString, *text);
    out.integer(attribute_field::kType, kTypeString);
  } else {
    // Not packed: so onnx.proto has it.
    for (const int64_t i : std::get<std::vector<int64_t>>(value)) {
      out.integer(attribute_field::kInts, i);
    }
    out.integer(attribute_field::kType, kTypeInts);
  }
  return out;
}

ProtoWriter value_info(const OnnxValue& value) {
  ProtoWriter shape;
  for (const auto& extent : value.shape) {
    ProtoWriter dim;
    if (const auto* known = std::get_if<int64_t>(&extent)) {
      dim.integer(1, *known);
    } else {
      dim.text(2, std::get<std::string>(extent));
    }
    shape.message(1, dim);
  }
  ProtoWriter tensor;
  tensor.integer(1, static_cast<int64_t>(value.type));
  tensor.message(2, shape);
  ProtoWriter type;
  type.message(1, tensor);
  ProtoWriter out;
  out.text(value_field::kName, value.name);
  out.message(value_field::kType, type);
  if (!value.doc.empty()) out.text(value_field::kDoc, value.doc);
  return out;
}

ProtoWriter tensor_of(const std::string& name, OnnxType type, const std::vector<int64_t>& shape) {
  ProtoWriter out;
  for (const int64_t extent : shape) out.integer(tensor_field::kDims, extent);
  out.integer(tensor_field::kType, static_cast<int64_t>(type));
  out.text(tensor_field::kName, name);
  return out;
}

}  // namespace

std::string OnnxGraph::input(const OnnxValue& value) {
  inputs_.message(graph_field::kInput, value_info(value));
  return value.name;
}

void OnnxGraph::output(const OnnxValue& value) {
  outputs_.message(graph_field::kOutput, value_info(value));
}

std::string OnnxGraph::op(const std::string& type, const std::vector<std::string>& inputs,
                          const OnnxAttributes& attributes, const std::string& name) {
  std::string value = name;
  if (value.empty()) {
    value = (scope_.empty() ? "" : scope_ + "/") + type + "_" + std::to_string(count_++);
  }
  ProtoWriter node;
  for (const std::string& input : inputs) node.text(node_field::kInput, input);
  node.text(node_field::kOutput, value);
  node.text(node_field::kName, value);
  node.text(node_field::kOpType, type);
  for (const auto& [key, of] : attributes) {
    node.message(node_field::kAttribute, attribute_of(key, of));
  }
  nodes_.message(graph_field::kNode, node);
  return value;
}

bool OnnxGraph::is_new(const std::string& constant) { return constants_.insert(constant).second; }

std::string OnnxGraph::floats(const std::string& name, const std::vector<int64_t>& shape,
                              std::span<const float> values) {
  if (!is_new(name)) return name;
  ProtoWriter tensor = tensor_of(name, OnnxType::kFloat, shape);
  // As in memory: little-endian, like the model files, on the machines that this is built for.
  tensor.text(tensor_field::kRaw,
              {reinterpret_cast<const char*>(values.data()), values.size_bytes()});
  constants_written_.message(graph_field::kInitializer, tensor);
  return name;
}

std::string OnnxGraph::integers(const std::string& name, const std::vector<int64_t>& shape,
                                std::span<const int64_t> values) {
  if (!is_new(name)) return name;
  ProtoWriter tensor = tensor_of(name, OnnxType::kInt64, shape);
  tensor.packed(tensor_field::kIntegers, values);
  constants_written_.message(graph_field::kInitializer, tensor);
  return name;
}

std::string OnnxGraph::number(float value) {
  return floats("number/" + format_number("%.9g", static_cast<double>(value)), {}, {&value, 1});
}

std::string OnnxGraph::number(int64_t value) {
  return integers("integer/" + std::to_string(value), {}, {&value, 1});
}

std::string OnnxGraph::row(const std::vector<int64_t>& values) {
  std::string name = "row/";
  for (std::size_t i = 0; i < values.size(); ++i) {
    name += (i > 0 ? "," : "") + std::to_string(values[i]);
  }
  return integers(name, {static_cast<int64_t>(values.size())}, values);
}

std::string OnnxGraph::file(const OnnxFacts& facts) const {
  ProtoWriter name;
  name.text(graph_field::kName, facts.graph_name);
  // Fields of a message may stand in any order, and parts of it one behind the other are one.
  const std::string graph = nodes_.bytes() + name.bytes() + constants_written_.bytes() +
                            inputs_.bytes() + outputs_.bytes();
  ProtoWriter opset;
  opset.integer(2, opset_);
  ProtoWriter out;
  out.integer(model_field::kIrVersion, kIrVersion);
  out.text(model_field::kProducer, facts.producer);
  out.text(model_field::kProducerVersion, facts.producer_version);
  out.text(model_field::kDoc, facts.doc);
  out.text(model_field::kGraph, graph);
  out.message(model_field::kOpset, opset);
  for (const auto& [key, value] : facts.metadata) {
    ProtoWriter entry;
    entry.text(1, key);
    entry.text(2, value);
    out.message(model_field::kMetadata, entry);
  }
  return std::move(out).take();
}

}  // namespace kdgat::exporting
