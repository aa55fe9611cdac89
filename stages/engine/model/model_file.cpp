#include "engine/model/model_file.h"

#include <ATen/ATen.h>

#include <utility>
#include <vector>

#include "kdgat/error.h"

namespace kdgat::model {

namespace {

using file::DType;

constexpr std::pair<at::ScalarType, DType> kTypes[] = {
    {at::kFloat, DType::kF32},     {at::kDouble, DType::kF64}, {at::kHalf, DType::kF16},
    {at::kBFloat16, DType::kBF16}, {at::kLong, DType::kI64},   {at::kInt, DType::kI32},
    {at::kByte, DType::kU8},       {at::kChar, DType::kI8},    {at::kBool, DType::kBool},
    {at::kShort, DType::kI16}};

at::ScalarType type_of(DType dtype) {
  for (const auto& [type, known] : kTypes) {
    if (known == dtype) return type;
  }
  throw std::logic_error("every type of a file has its own here");
}

DType dtype_of(const at::Tensor& tensor) {
  for (const auto& [type, dtype] : kTypes) {
    if (type == tensor.scalar_type()) return dtype;
  }
  throw Error(ExitCode::kData, std::string("tensors of type ") + toString(tensor.scalar_type()) +
                                   " cannot be saved");
}

std::vector<std::pair<std::string, at::Tensor>> state_of(const torch::nn::Module& module) {
  std::vector<std::pair<std::string, at::Tensor>> out;
  for (const auto& item : module.named_parameters()) out.emplace_back(item.key(), item.value());
  for (const auto& item : module.named_buffers()) out.emplace_back(item.key(), item.value());
  return out;
}

}  // namespace

void save_model(const std::filesystem::path& path, const torch::nn::Module& module,
                const ModelHeader& header) {
  file::SafetensorsWriter writer;
  std::vector<at::Tensor> kept;
  for (const auto& [key, tensor] : state_of(module)) {
    kept.push_back(tensor.detach().cpu().contiguous());
    writer.add(key, dtype_of(tensor), tensor.sizes().vec(), kept.back().const_data_ptr());
  }
  writer.metadata("parameters", std::to_string(count_parameters(module)));
  writer.metadata("model", header.name);
  writer.metadata("config", header.config.dump());
  if (!header.data.empty()) writer.metadata("data", header.data.dump());
  if (!header.scored_by.empty()) writer.metadata("scored_by", header.scored_by);
  if (!header.decision.empty()) writer.metadata("decision", header.decision.dump());
  writer.without_padding();
  writer.write(path, true);
}

at::Tensor finite_tensor(const file::SafetensorsFile& file, const std::string& name) {
  const file::TensorView& view = file.tensor(name);
  // from_blob wants a pointer it could write through; it is only read.
  at::Tensor values = at::from_blob(const_cast<std::byte*>(view.data), view.shape,
                                    at::TensorOptions().dtype(type_of(view.dtype)));
  if (!values.is_floating_point() || values.isfinite().all().item<bool>()) return values;
  throw Error(ExitCode::kData,
              file.path().string() + ": tensor '" + name + "' holds a number that is not finite",
              "the training has diverged, or the file was changed: train the model again");
}

void load_weights(torch::nn::Module& module, const file::SafetensorsFile& file) {
  const at::NoGradGuard no_grad;
  std::vector<Diagnostic> wrong;
  const auto report = [&](const std::string& text) {
    wrong.push_back({file.path().string(), text, ""});
  };
  const auto state = state_of(module);
  std::map<std::string, file::TensorView> rest = file.tensors();
  for (const auto& [key, tensor] : state) {
    const auto found = rest.find(key);
    if (found == rest.end()) {
      report("no tensor '" + key + "', which the model needs");
      continue;
    }
    if (found->second.shape != tensor.sizes().vec() || found->second.dtype != dtype_of(tensor)) {
      report("tensor '" + key + "' is " + file::dtype_name(found->second.dtype) + " " +
             nlohmann::json(found->second.shape).dump() + ", the model needs " +
             file::dtype_name(dtype_of(tensor)) + " " +
             nlohmann::json(tensor.sizes().vec()).dump());
    }
    rest.erase(found);
  }
  for (const auto& [key, view] : rest) report("tensor '" + key + "' is not part of the model");
  if (!wrong.empty()) throw Error(ExitCode::kData, std::move(wrong));
  std::vector<at::Tensor> values;  // all of them, before the first is copied
  values.reserve(state.size());
  for (const auto& [key, tensor] : state) values.push_back(finite_tensor(file, key));
  for (std::size_t i = 0; i < state.size(); ++i) at::Tensor(state[i].second).copy_(values[i]);
}

int64_t count_parameters(const torch::nn::Module& module) {
  int64_t out = 0;
  for (const at::Tensor& p : module.parameters()) out += p.numel();
  return out;
}

}  // namespace kdgat::model
