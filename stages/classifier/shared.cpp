#include "classifier/shared.h"

#include <string>

#include "engine/graph/feature_stats.h"
#include "kdgat/error.h"

namespace kdgat::classifier {

void say_what_is_dropped(const model::GatForm& form, int64_t edge_features, const Host& host) {
  if (edge_features == 0 || form.kind().reads_edges || form.conv == "none") return;
  host.log("warning",
           "conv=" + form.conv + " does not read the features of edges (" +
               std::to_string(edge_features) + "): " +
               model::conv_list([](const model::ConvKind& kind) { return kind.reads_edges; }) +
               " do");
}

void require_edge_features(const model::GatForm& form, int64_t edge_features) {
  if (!form.kind().needs_edges || edge_features > 0) return;
  throw Error(ExitCode::kUsage,
              "conv=" + form.conv + " reads edge features, and the edges have none",
              "use one of " +
                  model::conv_list([](const model::ConvKind& kind) { return !kind.needs_edges; }));
}

void fit_to(model::GraphClassifierImpl& model, const graph::GraphStore& store,
            const std::vector<int64_t>& ids) {
  model.input->fit(store, ids);
  if (model.config().conv == "pna") model.set_mean_log_degree(graph::mean_log_degree(store, ids));
}

nlohmann::json widths_of(const model::GatConfig& config) {
  nlohmann::json out = {{"hidden", config.hidden}, {"layers", config.layers}};
  if (config.kind().has_heads) out["heads"] = config.heads;
  return out;
}

}  // namespace kdgat::classifier
