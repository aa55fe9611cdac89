#include "engine/export/c/c_tables.h"

#include <algorithm>
#include <cmath>

#include "engine/export/c/runtime_texts.h"

namespace kdgat::exporting {

namespace {

constexpr int64_t kDescriptorBytes = 32;  // of a kdgat_layer, where pointers have eight

/// Between brackets, in lines of up to 100 characters.
template <class T, class Text>
std::string list_of(std::span<const T> values, const Text& text) {
  constexpr std::size_t kLine = 100;
  std::string out = "{\n", line;
  for (const T value : values) {
    const std::string one = text(value) + ",";
    if (line.size() + one.size() > kLine) {
      out += "    " + line + "\n";
      line.clear();
    }
    line += one;
  }
  return out + "    " + line + "\n};\n";
}

}  // namespace

std::string c_name_of(const std::string& tensor) {
  std::string out = "kdgat_" + tensor;
  std::replace(out.begin(), out.end(), '.', '_');
  return out;
}

std::string CTables::floats(const std::string& name, std::span<const float> values) {
  std::string c_name = c_name_of(name);
  text_ += "static const float " + c_name + "[" + std::to_string(values.size()) +
           "] = " + list_of(values, c_float);
  bytes_ += static_cast<int64_t>(values.size_bytes());
  return c_name;
}

std::string CTables::tensor(const std::string& name, const std::vector<int64_t>& shape) {
  return floats(name, weights_.floats(name, shape));
}

void CTables::bytes_table(const std::string& c_name, std::span<const int8_t> values) {
  text_ += "static const int8_t " + c_name + "[" + std::to_string(values.size()) +
           "] = " + list_of(values, [](int8_t v) { return std::to_string(v); });
  bytes_ += static_cast<int64_t>(values.size());
}

std::vector<float> CTables::round_rows(std::vector<float>& values, int64_t rows, int64_t width,
                                       std::vector<int8_t>& bytes) {
  constexpr float kMost = 127;
  std::vector<float> scales;
  bytes.resize(values.size());
  for (int64_t r = 0; r < rows; ++r) {
    float* row = values.data() + r * width;
    float most = 0;
    for (int64_t c = 0; c < width; ++c) most = std::max(most, std::abs(row[c]));
    const float scale = most / kMost;
    scales.push_back(scale);
    for (int64_t c = 0; c < width; ++c) {
      const float steps = scale > 0 ? std::round(row[c] / scale) : 0;
      const auto byte = static_cast<int8_t>(std::clamp(steps, -kMost, kMost));
      bytes[static_cast<std::size_t>(r * width + c)] = byte;
      row[c] = static_cast<float>(byte) * scale;
    }
  }
  return scales;
}

std::string CTables::linear(const std::string& name, int64_t inputs, int64_t outputs,
                            bool has_bias) {
  return linear(c_name_of(name), name + ".weight", has_bias ? name + ".bias" : "", inputs, outputs);
}

std::string CTables::linear(const std::string& c_name, const std::string& weight,
                            const std::string& bias, int64_t inputs, int64_t outputs) {
  const std::span<const float> from = weights_.floats(weight, {outputs, inputs});
  widest_ = std::max(widest_, inputs);
  const auto transposed = [&](const auto& values) {
    auto out = values;
    for (int64_t o = 0; o < outputs; ++o) {
      for (int64_t i = 0; i < inputs; ++i) {
        out[static_cast<std::size_t>(i * outputs + o)] =
            values[static_cast<std::size_t>(o * inputs + i)];
      }
    }
    return out;
  };
  std::vector<float> values(from.begin(), from.end());
  std::string scale = "0";
  if (int8_) {
    std::vector<int8_t> steps;
    const std::vector<float> scales = round_rows(values, outputs, inputs, steps);
    scale = floats(weight + "_scale", scales);
    bytes_table(c_name_of(weight), transposed(steps));
    rounded_[weight] = values;
  } else {
    floats(weight, transposed(values));
  }
  const std::string of_bias = bias.empty() ? "0" : tensor(bias, {outputs});
  text_ += "static const kdgat_layer " + c_name + " = {" + c_name_of(weight) + ", " + scale + ", " +
           of_bias + ", " + std::to_string(inputs) + ", " + std::to_string(outputs) + "};\n";
  bytes_ += kDescriptorBytes;
  return c_name;
}

void CTables::embedding(std::span<const float> values, int64_t rows, int64_t width) {
  if (!int8_) {
    floats("embedding", values);
    return;
  }
  rounded_embedding_.assign(values.begin(), values.end());
  std::vector<int8_t> steps;
  const std::vector<float> scales = round_rows(rounded_embedding_, rows, width, steps);
  floats("embedding_scale", scales);
  bytes_table("kdgat_embedding", steps);
}

void CTables::ids(std::span<const int64_t> values) {
  // C has no empty tables: without ids there is one that is not looked at.
  const std::vector<int64_t> none = {0};
  const std::span<const int64_t> all = values.empty() ? std::span<const int64_t>(none) : values;
  text_ += "static const uint32_t kdgat_ids[" + std::to_string(all.size()) +
           "] = " + list_of(all, [](int64_t id) { return std::to_string(id) + "u"; });
  bytes_ += static_cast<int64_t>(4 * all.size());
}

}  // namespace kdgat::exporting
