#include "engine/setup/labelled_graphs.h"

#include "engine/train/data_set.h"
#include "kdgat/error.h"

namespace kdgat::setup {

void require_two_classes(const std::string& why, int64_t classes) {
  if (classes == 2) return;
  throw Error(ExitCode::kData,
              why + ": that takes two classes, these graphs have " + std::to_string(classes),
              "the stage classifier learns any number of classes; kdgat data inspect shows them");
}

void refuse_id_embedding(const std::string& id_embedding) {
  throw Error(ExitCode::kUsage,
              "id_embedding=" + id_embedding + ": the nodes of labelled graphs have no identifiers",
              "leave id_embedding away");
}

std::string scoring_stage(const graph::GraphStore& store) {
  return train::is_labelled_graphs(store) ? "classify" : "";
}

}  // namespace kdgat::setup
