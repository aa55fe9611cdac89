#include "engine/train/checkpoint.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <utility>

#include "engine/file/metadata_json.h"
#include "engine/file/safetensors.h"
#include "engine/memory/meter.h"
#include "kdgat/atomic_file.h"

namespace kdgat::train {
namespace {

file::DType dtype_of(const at::Tensor& tensor) {
  switch (tensor.scalar_type()) {
    case at::kFloat:
      return file::DType::kF32;
    case at::kDouble:
      return file::DType::kF64;
    case at::kLong:
      return file::DType::kI64;
    case at::kInt:
      return file::DType::kI32;
    case at::kHalf:
      return file::DType::kF16;
    case at::kBFloat16:
      return file::DType::kBF16;
    case at::kBool:
      return file::DType::kBool;
    default:
      throw Error(ExitCode::kStageFailed, "a checkpoint cannot hold this type of tensor");
  }
}

NamedTensors on_host(const NamedTensors& tensors, bool copy) {
  NamedTensors out;
  for (const auto& [name, tensor] : tensors) {
    out.emplace_back(
        name, tensor.detach().to(at::kCPU, tensor.scalar_type(),
                                 /*non_blocking=*/false, copy, at::MemoryFormat::Contiguous));
  }
  return out;
}

void write(AtomicFile& file, const NamedTensors& tensors, const std::string& state) {
  file::SafetensorsWriter writer;
  for (const auto& [name, tensor] : tensors) {
    writer.add(name, dtype_of(tensor), tensor.sizes().vec(), tensor.const_data_ptr());
  }
  writer.metadata("state", state);
  writer.write(file, /*hashes=*/true);
}

[[noreturn]] void refuse(const std::filesystem::path& path, const std::string& what) {
  throw Error(ExitCode::kData, path.string() + ": " + what,
              "the checkpoint is of another model; remove it to start over");
}

}  // namespace

void CheckpointWriter::save(const std::filesystem::path& path, const NamedTensors& tensors,
                            const nlohmann::json& state) {
  finish();
  std::filesystem::create_directories(path.parent_path());
  NamedTensors copies;
  try {
    copies = on_host(tensors, /*copy=*/true);
  } catch (const std::exception& error) {
    if (!memory::is_out_of_memory(error)) throw;
    copies.clear();
    return save_checkpoint(path, tensors, state);  // no room for copies: the training waits
  }
  std::promise<void> copied;  // one that is dropped counts as kept
  copied_ = copied.get_future();
  last_ = std::async(std::launch::async, [path, copies = std::move(copies), text = state.dump(),
                                          copied = std::move(copied)]() mutable {
    AtomicFile file(path);
    write(file, copies, text);
    copies.clear();
    copied.set_value();
    file.commit();
  });
}

void CheckpointWriter::release() const {
  if (copied_.valid()) copied_.wait();
}

void CheckpointWriter::finish() {
  if (last_.valid()) last_.get();
}

void save_checkpoint(const std::filesystem::path& path, const NamedTensors& tensors,
                     const nlohmann::json& state) {
  std::filesystem::create_directories(path.parent_path());
  AtomicFile file(path);
  write(file, on_host(tensors, /*copy=*/false), state.dump());
  file.commit();
}

std::filesystem::path checkpoint_file(const Request& request) {
  if (request.run_dir.empty()) return {};
  return request.run_dir / "checkpoint" / "state.safetensors";
}

void clear_checkpoint(const Request& request) {
  if (!request.run_dir.empty()) std::filesystem::remove_all(request.run_dir / "checkpoint");
}

std::optional<nlohmann::json> read_checkpoint_state(const std::filesystem::path& path) {
  if (!std::filesystem::exists(path)) return std::nullopt;
  try {
    const file::SafetensorsFile file = file::SafetensorsFile::open(path);
    if (const auto faults = file::verify_hashes(file); !faults.empty()) {
      throw Error(ExitCode::kData, faults);
    }
    if (!file.metadata().contains("state")) refuse(path, "holds no training state");
    return file::metadata_json(file, "state");
  } catch (const Error& e) {
    std::vector<Diagnostic> faults = e.diagnostics();
    for (Diagnostic& fault : faults)
      fault.hint = "the checkpoint is damaged; remove it to start over";
    throw Error(e.code(), std::move(faults));
  }
}

void load_checkpoint(const std::filesystem::path& path, const NamedTensors& tensors) {
  const file::SafetensorsFile file = file::SafetensorsFile::open(path);
  for (const auto& [name, tensor] : tensors) {
    if (!file.has(name)) refuse(path, "tensor " + name + " is missing");
    const file::TensorView& view = file.tensor(name);
    if (view.dtype != dtype_of(tensor) || view.shape != tensor.sizes().vec()) {
      refuse(path, "tensor " + name + " has another shape or type");
    }
  }
  if (file.tensors().size() != tensors.size())
    refuse(path, "holds tensors this model does not have");
  const at::NoGradGuard no_grad;
  for (const auto& [name, tensor] : tensors) {
    const file::TensorView& view = file.tensor(name);
    // from_blob wants a pointer it could write through; it is only read.
    void* data = const_cast<std::byte*>(view.data);
    tensor.copy_(at::from_blob(data, view.shape, tensor.options().device(at::kCPU)));
  }
}

}  // namespace kdgat::train
