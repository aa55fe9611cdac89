// Teacher: a trained model whose outputs a student learns to match. It is never a submodule of what
// is trained or saved, draws no noise and takes no gradients.
//
// G graphs, N nodes of a batch.
#pragma once

#include <torch/nn/module.h>
#include <torch/types.h>

#include <filesystem>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "engine/graph/pack.h"
#include "engine/kernels/batch_tensors.h"
#include "engine/objective/kd_options.h"
#include "engine/train/objective.h"
#include "kdgat/stage.h"

namespace kdgat::objective {

/// One output of a teacher, [N, width] or [G, width].
struct TeacherTensor {
  std::string name;
  bool per_node = false;
  int64_t width = 0;
};

class Teacher {
 public:
  virtual ~Teacher() = default;

  /// Called before the student runs, so that what outputs() will need can travel meanwhile.
  virtual void prepare() {}
  /// Outputs for the graphs of `batch`, float, on the device. On the CPU with one thread the rows
  /// of a graph do not depend on the batch it is in, bit by bit.
  virtual std::vector<torch::Tensor> outputs(const graph::GraphBatch& batch) = 0;
  /// What outputs() gives: of a classifier "logits" [G, 2]; of an autoencoder "latent", the mean of
  /// z (the published sample of z is noise to whoever learns from it), and "features", by node.
  virtual std::vector<TeacherTensor> tensors() const = 0;
  /// Whether batches must carry edge features.
  virtual bool with_edge_attr() const { return false; }
};

/// A teacher that runs.
class ModelTeacher : public Teacher {
 public:
  /// `file` as find_teacher() gives it. `model` is what it must be, "vgae" or "gat"; `data` the
  /// layout of the student's graphs (train::layout_of). Throws Error(kData) with the reason: no
  /// frozen configuration, another kind, other features or vocabulary, weights that do not fit
  /// strictly or differ from their hashes.
  ModelTeacher(const std::filesystem::path& file, const std::string& model,
               const nlohmann::json& data);

  /// Where it runs. `offload`: its weights stay in host memory (pinned for a GPU), are copied to
  /// the device on a side stream from prepare() on, and dropped after outputs().
  void place(torch::Device device, bool offload);

  void prepare() override;
  std::vector<torch::Tensor> outputs(const graph::GraphBatch& batch) override;
  std::vector<TeacherTensor> tensors() const override { return tensors_; }
  bool with_edge_attr() const override { return scorer_->with_edge_attr(); }

  /// Of names, weights and configuration.
  const std::string& content_hash() const { return content_hash_; }
  const nlohmann::json& config() const { return config_; }  ///< of the model
  int64_t bytes() const;                                    ///< of its weights

 private:
  std::vector<torch::Tensor> weights() const;

  std::unique_ptr<train::Scorer> scorer_;
  std::shared_ptr<torch::nn::Module> module_;
  std::function<std::vector<torch::Tensor>(const kernels::BatchTensors&)> forward_;
  std::vector<TeacherTensor> tensors_;
  std::string content_hash_;
  nlohmann::json config_;
  torch::Device device_ = torch::kCPU;
  std::vector<torch::Tensor> host_;    ///< weights while offloaded
  std::vector<torch::Tensor> copies_;  ///< on the device, between prepare() and outputs()
  std::function<void()> wait_;         ///< makes the current stream wait for the copies
};

/// The model file that a run folder, step folder or model file stands for; in a run folder the one
/// model of kind `model`. Throws Error(kUsage): nothing there, none or several of that kind, or a
/// PyTorch checkpoint, with what to do about each.
std::filesystem::path find_teacher(const std::filesystem::path& path, const std::string& model);

/// find_teacher() and ModelTeacher; null for an empty path.
std::unique_ptr<ModelTeacher> load_teacher(const std::filesystem::path& path,
                                           const std::string& model, const nlohmann::json& data);

/// How a teacher is kept, of KdOptions.
struct TeacherUse {
  std::string mode = "auto";  ///< auto, cache, resident, offload
  bool may_cache = true, may_offload = false;
  std::filesystem::path folder;  ///< for the cache; empty = no cache
  torch::Device device = torch::kCPU;
  std::function<void(const std::string&)> note;
  /// While outputs are computed; may throw to stop.
  std::function<void(int64_t done, int64_t total)> progress;
};

/// Of the options and the step at hand. `host` outlives it.
TeacherUse teacher_use(const KdOptions& options, const Request& request, const Host& host);

/// Chooses how, says so, and does it. `graphs`: all that the student will see.
std::unique_ptr<Teacher> keep_teacher(std::unique_ptr<ModelTeacher> teacher,
                                      const graph::GraphStore& store,
                                      const std::vector<int64_t>& graphs, const TeacherUse& use);

}  // namespace kdgat::objective
