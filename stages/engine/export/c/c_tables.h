// CTables: the numbers of a model as tables of C, in floats or rounded to bytes.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "engine/native/weights.h"

namespace kdgat::exporting {

class CTables {
 public:
  /// `weights` must outlive it.
  CTables(native::Weights& weights, bool int8) : weights_(weights), int8_(int8) {}

  /// A linear layer of the tensors "<name>.weight" [outputs, inputs] and, if it has one,
  /// "<name>.bias": its weights transposed, and a kdgat_layer. Returns the layer's name in C.
  std::string linear(const std::string& name, int64_t inputs, int64_t outputs,
                     bool has_bias = true);
  /// The same of tensors with other names.
  std::string linear(const std::string& c_name, const std::string& weight, const std::string& bias,
                     int64_t inputs, int64_t outputs);
  /// A table of floats; returns its name in C.
  std::string floats(const std::string& name, std::span<const float> values);
  /// The same of a tensor of this shape.
  std::string tensor(const std::string& name, const std::vector<int64_t>& shape);
  /// kdgat_embedding [rows, width], and kdgat_embedding_scale of int8.
  void embedding(std::span<const float> values, int64_t rows, int64_t width);
  /// kdgat_ids: raw ids, ascending.
  void ids(std::span<const int64_t> values);

  native::Weights& weights() { return weights_; }
  const std::string& text() const { return text_; }
  int64_t bytes() const { return bytes_; }
  /// The most inputs of a linear layer.
  int64_t widest() const { return widest_; }
  /// What the C computes with in place of a tensor of the file, by name; empty of floats.
  const std::map<std::string, std::vector<float>>& rounded() const { return rounded_; }
  const std::vector<float>& rounded_embedding() const { return rounded_embedding_; }

 private:
  /// One scale for each of `rows` rows of `width`: 127 is the largest of a row. Values become what
  /// their bytes stand for.
  static std::vector<float> round_rows(std::vector<float>& values, int64_t rows, int64_t width,
                                       std::vector<int8_t>& bytes);
  void bytes_table(const std::string& c_name, std::span<const int8_t> values);

  native::Weights& weights_;
  bool int8_;
  std::string text_;
  int64_t bytes_ = 0, widest_ = 1;
  std::map<std::string, std::vector<float>> rounded_;
  std::vector<float> rounded_embedding_;
};

/// "convs.0.lin" -> "kdgat_convs_0_lin".
std::string c_name_of(const std::string& tensor);

}  // namespace kdgat::exporting
