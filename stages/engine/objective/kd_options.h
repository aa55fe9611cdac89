// Options of knowledge distillation: a student learns from a trained teacher, too. Training stages
// that can distill derive from these beside TrainOptions. Knows no model.
#pragma once

#include <filesystem>
#include <string>
#include <tuple>
#include <vector>

#include "kdgat/options.h"
#include "kdgat/stage.h"

namespace kdgat::objective {

struct KdOptions {
  bool use_kd = false;
  std::string teacher_path;
  std::string teacher = "auto";
  bool offload_teacher_to_cpu = false;
  bool use_teacher_cache = true;
  double temperature = 4.0;
  double kd_alpha = 0.7;

  /// How the teacher is kept; "none" where there is nothing to distil.
  std::string teacher_mode() const { return use_kd ? teacher : "none"; }

  static auto table() {
    using O = KdOptions;
    return std::tuple{
        field("use_kd", &O::use_kd, Purpose::kTeacher,
              "Distill: learn from a trained teacher beside the data.")
            .first("Learn from a trained teacher next to the data."),
        field("teacher_path", &O::teacher_path, Purpose::kTeacher,
              "Run folder, step folder or model.safetensors of the teacher, where no step it needs "
              "makes one."),
        field("teacher", &O::teacher, Purpose::kTeacher,
              "cache: its outputs are computed once into a file, then it leaves memory; resident: "
              "it runs each step; offload: so, with its weights on the CPU in between; auto: by "
              "the bytes.")
            .choices({"auto", "cache", "resident", "offload"})
            .runtime(),
        field("offload_teacher_to_cpu", &O::offload_teacher_to_cpu, Purpose::kTeacher,
              "Let teacher=auto offload where it does not cache.")
            .runtime(),
        field("use_teacher_cache", &O::use_teacher_cache, Purpose::kTeacher,
              "Let teacher=auto cache where a quarter of the free disk and 8 GiB suffice.")
            .runtime(),
        field("temperature", &O::temperature, Purpose::kTeacher,
              "Softmax temperature of teacher and student logits (classifier).")
            .alias("kd_temperature")
            .range(0.01, 1000),
        field("kd_alpha", &O::kd_alpha, Purpose::kTeacher,
              "Weight of the teacher in the loss; the data has the rest of 1.")
            .alias("alpha")
            .range(0, 1)};
  }
};

/// Throws Error(kUsage) if use_kd wants a teacher and there is none, or two: that of input
/// "teacher" and another under teacher_path. While a step is planned the input may have no path
/// yet.
void check_teacher(const KdOptions& options, const Request& request);

/// The file or folder of the teacher: that of input "teacher", or teacher_path; empty without
/// use_kd. Throws as check_teacher(). Warns of a teacher that is not used.
std::filesystem::path teacher_source(const KdOptions& options, const Request& request,
                                     const Host& host);

}  // namespace kdgat::objective
