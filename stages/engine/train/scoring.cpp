#include "engine/train/scoring.h"

#include <algorithm>
#include <exception>

#include "engine/memory/meter.h"

namespace kdgat::train {

void for_batches(const graph::GraphSet& store, const std::vector<int64_t>& ids, bool with_edge_attr,
                 const std::function<void(graph::GraphBatch&, std::span<const int64_t>)>& visit,
                 int64_t graphs) {
  graph::GraphBatch batch;
  auto most = static_cast<std::size_t>(std::clamp<int64_t>(graphs, 1, kScoreGraphs));
  for (std::size_t at = 0; at < ids.size();) {
    const auto some = std::span(ids).subspan(at, std::min(most, ids.size() - at));
    bool done = false;
    try {
      graph::gather(store, some, with_edge_attr, batch);
      visit(batch, some);
      done = true;
    } catch (const std::exception& error) {
      if (some.size() == 1 || !memory::is_out_of_memory(error)) throw;
    }
    if (done) {
      at += some.size();
    } else {
      batch = {};
      most = some.size() / 2;
    }
  }
}

std::vector<float> score_all(const graph::GraphSet& store, const std::vector<int64_t>& ids,
                             bool with_edge_attr,
                             const std::function<torch::Tensor(graph::GraphBatch&)>& score,
                             const std::function<void(int64_t done)>& progress, int64_t graphs) {
  std::vector<float> out;
  out.reserve(ids.size());
  for_batches(
      store, ids, with_edge_attr,
      [&](graph::GraphBatch& batch, std::span<const int64_t>) {
        const torch::Tensor scores = score(batch).contiguous();
        const float* data = scores.const_data_ptr<float>();
        out.insert(out.end(), data, data + scores.numel());
        if (progress) progress(static_cast<int64_t>(out.size()));
      },
      graphs);
  return out;
}

}  // namespace kdgat::train
