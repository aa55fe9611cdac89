// A checkpoint file: named tensors and a JSON state in one safetensors file, complete or absent.
// Knows nothing about what the tensors are.
#pragma once

#include <filesystem>
#include <future>
#include <nlohmann/json.hpp>
#include <optional>

#include "train/optimizer.h"

namespace kdgat::train {

/// Writes checkpoints beside the training. What is saved is with the system when save() returns,
/// so that the tensors may change; a thread makes it last (fsync takes longer than all the rest)
/// and puts it in the place of the one before. Until then that one stands.
class CheckpointWriter {
 public:
  CheckpointWriter() = default;
  CheckpointWriter(const CheckpointWriter&) = delete;
  CheckpointWriter& operator=(const CheckpointWriter&) = delete;
  /// Waits for the last one, whatever becomes of it.
  ~CheckpointWriter() = default;

  /// Tensors on a device are copied to the host first. Waits for the one before and throws what
  /// that failed with: Error(kData).
  void save(const std::filesystem::path& path, const NamedTensors& tensors,
            const nlohmann::json& state);
  /// Waits until the last one stands; throws as save().
  void finish();

 private:
  std::future<void> last_;
};

/// Writes one and waits until it stands.
void save_checkpoint(const std::filesystem::path& path, const NamedTensors& tensors,
                     const nlohmann::json& state);

/// The state of the file, or nothing if there is none. Tensors are not touched.
std::optional<nlohmann::json> read_checkpoint_state(const std::filesystem::path& path);

/// Copies the file's tensors into `tensors`, in place. Throws Error(kData) naming the file and the
/// tensor if one is missing, left over or of another shape; then none was changed.
void load_checkpoint(const std::filesystem::path& path, const NamedTensors& tensors);

}  // namespace kdgat::train
