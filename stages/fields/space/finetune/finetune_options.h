// Options of the finetune stage. The defaults are those of the published fine-tuning script, but
// for the mean as readout.
#pragma once

#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

#include "engine/train/train_options.h"
#include "fields/space/model/sgmp_config.h"
#include "fields/space/model/tree_form.h"

namespace kdgat::finetune {

struct FinetuneOptions : train::TrainOptions, space::SgmpForm, space::SgmpSizes, space::HeadForm {
  std::string task = "classification";
  std::string representation = "encoder";
  std::string encoder_path;
  bool freeze_encoder = false;
  double label_fraction = 1;
  int64_t least_labels = 4;
  int64_t path_budget = 4096;

  FinetuneOptions() {
    lr = 1e-4;
    max_epochs = 100;
    batch_size = 16;
    optimize_batch_size = false;
    weight_decay = 5e-4;
    monitor_metric = "val_accuracy";
    monitor_mode = "max";
  }

  static auto table() {
    using O = FinetuneOptions;
    return std::tuple_cat(
        std::tuple{
            field("task", &O::task,
                  "classification of graphs, or regression of the number their labels give "
                  "(data.target_column).")
                .choices({"classification", "regression"}),
            field("representation", &O::representation,
                  "What the head sees: states of an encoder, or the shape of the trees in 15 "
                  "hand-crafted features.")
                .choices({"encoder", "shape"}),
            field("encoder_path", &O::encoder_path, Purpose::kTeacher,
                  "Pre-trained encoder: run folder, step folder or model.safetensors of gtssl, "
                  "where no step it needs makes one; without any it starts from scratch.")
                .alias("pretrained_model"),
            field("freeze_encoder", &O::freeze_encoder, Purpose::kTeacher,
                  "Train the head alone; with head=linear a linear probe."),
            field("label_fraction", &O::label_fraction, Purpose::kData,
                  "Share of the training graphs of each class whose labels are used.")
                .range(1e-6, 1),
            field("least_labels", &O::least_labels, "But of each class so many, if there are.")
                .range(1, 1e9),
            field("hidden", &O::hidden, Purpose::kModel, "Channels of an encoder from scratch.")
                .first()
                .alias("hidden_channels")
                .range(2, 4096),
            field("interactions", &O::interactions, Purpose::kModel,
                  "Blocks of an encoder from scratch.")
                .alias("num_interactions")
                .range(1, 64),
            field("path_budget", &O::path_budget, Purpose::kMemory,
                  "Third-order paths alive at once.")
                .range(1, 1 << 24)},
        space::SgmpForm::table(), space::HeadForm::table(), train::TrainOptions::table());
  }

  std::vector<Diagnostic> validate() const {
    std::vector<Diagnostic> problems = train::TrainOptions::validate();
    const bool of_classes = monitor_metric != "val_loss" && monitor_metric != "train_loss";
    if (task == "regression" && of_classes) {
      problems.push_back({"", "monitor_metric: " + monitor_metric + " is of classes",
                          "with task=regression use monitor_metric=val_loss monitor_mode=min"});
    }
    return problems;
  }
};

}  // namespace kdgat::finetune
