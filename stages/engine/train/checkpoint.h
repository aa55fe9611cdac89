// A checkpoint file: named tensors and a JSON state in one safetensors file, complete or absent.
// Knows nothing about what the tensors are.
#pragma once

#include <filesystem>
#include <future>
#include <nlohmann/json.hpp>
#include <optional>

#include "engine/train/optimizer.h"
#include "kdgat/stage.h"

namespace kdgat::train {

/// Writes checkpoints beside the training: save() copies the tensors, a thread writes them, makes
/// them last and puts them in the place of the checkpoint before, which stands until then.
class CheckpointWriter {
 public:
  CheckpointWriter() = default;
  CheckpointWriter(const CheckpointWriter&) = delete;
  CheckpointWriter& operator=(const CheckpointWriter&) = delete;
  /// Waits for the last one, whatever becomes of it.
  ~CheckpointWriter() = default;

  /// Waits for the one before and throws what that failed with: Error(kData).
  void save(const std::filesystem::path& path, const NamedTensors& tensors,
            const nlohmann::json& state);
  /// Waits until the memory of the copies is free again: between two steps there is room for them,
  /// in the middle of one there may be none.
  void release() const;
  /// Waits until the last one stands; throws as save().
  void finish();

 private:
  std::future<void> copied_, last_;
};

/// Writes one from the tensors as they are, without copies, and waits until it stands.
void save_checkpoint(const std::filesystem::path& path, const NamedTensors& tensors,
                     const nlohmann::json& state);

/// The checkpoint of a step; empty without a folder.
std::filesystem::path checkpoint_file(const Request& request);

/// To be called once the model is saved.
void clear_checkpoint(const Request& request);

/// The state of the file, or nothing if there is none. Tensors are not touched.
std::optional<nlohmann::json> read_checkpoint_state(const std::filesystem::path& path);

/// Copies the file's tensors into `tensors`, in place. Throws Error(kData) naming the file and the
/// tensor if one is missing, left over or of another shape; then none was changed.
void load_checkpoint(const std::filesystem::path& path, const NamedTensors& tensors);

}  // namespace kdgat::train
