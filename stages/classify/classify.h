// The classify stage: `kdgat score` with a classifier of labelled graphs. Says of each graph of
// files how probable each class is, with nothing but the model file. Writes no file: what it finds
// it sends to the host.
#pragma once

#include "classify/classify_options.h"
#include "kdgat/stage.h"

namespace kdgat::classify {

struct Classify {
  using Options = ClassifyOptions;
  static StageInfo info();
  static nlohmann::json plan(const Options& options, const Request& request);
  /// Sends {"what":"columns"}, the names of what a row has, and for each graph, in the order of the
  /// input, {"event":"metrics","what":"row","index": its
  /// place,"values":{"graph","label","predicted", "p CLASS" of each class}}; label is empty where
  /// the input has none. The result counts graphs.
  static nlohmann::json run(const Options& options, const Request& request, Host& host);
};

}  // namespace kdgat::classify
