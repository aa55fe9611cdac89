// OnnxGraph: an ONNX model under construction: inputs, operators, constants, outputs. Knows the
// messages of onnx.proto and no network.
//
// Values are named by strings. An operator's value is named by the scope in which it was added, its
// type and a number ("convs.0/Gemm_7"), unless the caller names it; who opens the file in a viewer
// sees these names.
#pragma once

#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "engine/export/onnx/proto_writer.h"

namespace kdgat::exporting {

/// Types of elements, numbered as TensorProto.DataType does.
enum class OnnxType : int { kFloat = 1, kInt64 = 7, kBool = 9 };

/// A name, a type, a shape and a word for people. An extent that is known only when the model runs
/// is a name: extents of one name are equal.
struct OnnxValue {
  std::string name;
  OnnxType type = OnnxType::kFloat;
  std::vector<std::variant<int64_t, std::string>> shape{};
  std::string doc{};
};

using OnnxAttribute = std::variant<int64_t, float, std::string, std::vector<int64_t>>;
using OnnxAttributes = std::vector<std::pair<std::string, OnnxAttribute>>;

/// What a file says of itself.
struct OnnxFacts {
  std::string graph_name, doc;
  std::string producer, producer_version;
  std::vector<std::pair<std::string, std::string>> metadata;
};

class OnnxGraph {
 public:
  /// Of the default operator set in this version.
  explicit OnnxGraph(int opset) : opset_(opset) {}
  int opset() const { return opset_; }

  /// Its name, for op().
  std::string input(const OnnxValue& value);
  /// `value.name` must be that of an operator's value.
  void output(const OnnxValue& value);

  /// Ahead of the values that follow, "convs.0"; "" = none.
  void scope(std::string name) { scope_ = std::move(name); }
  /// Adds an operator of one value and returns the value's name. `name`: of the value, in place of
  /// one made up.
  std::string op(const std::string& type, const std::vector<std::string>& inputs,
                 const OnnxAttributes& attributes = {}, const std::string& name = "");

  /// Constants; `shape` is filled by `values`. One name is one constant: a second call returns the
  /// first.
  std::string floats(const std::string& name, const std::vector<int64_t>& shape,
                     std::span<const float> values);
  std::string integers(const std::string& name, const std::vector<int64_t>& shape,
                       std::span<const int64_t> values);
  /// A number, or a row of numbers, named by what it holds.
  std::string number(float value);
  std::string number(int64_t value);
  std::string row(const std::vector<int64_t>& values);

  /// The bytes of a .onnx file.
  std::string file(const OnnxFacts& facts) const;

 private:
  bool is_new(const std::string& constant);

  int opset_;
  std::string scope_;
  int64_t count_ = 0;
  std::set<std::string> constants_;
  ProtoWriter nodes_, constants_written_, inputs_, outputs_;  // fields of one GraphProto
};

}  // namespace kdgat::exporting
