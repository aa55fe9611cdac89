// The textgcn stage: classifies the documents of one graph of words and documents. Owns graph and
// model for the length of run(). Knows no other stage. Computes on the CPU.
#pragma once

#include "fields/texts/textgcn/textgcn_options.h"
#include "kdgat/stage.h"

namespace kdgat::textgcn {

struct TextGcn {
  using Options = TextGcnOptions;
  static StageInfo info();
  /// Parameters, and bytes by category; empty while the texts are not imported.
  static nlohmann::json plan(const Options& options, const Request& request);
  /// Writes model.safetensors into request.run_dir; continues from a checkpoint there.
  static nlohmann::json run(const Options& options, const Request& request, Host& host);
};

}  // namespace kdgat::textgcn
