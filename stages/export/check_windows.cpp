#include "export/check_windows.h"

#include <memory>
#include <numeric>
#include <utility>
#include <vector>

#include "engine/data/can/windows/log_windows.h"
#include "engine/decision/stream/window_network.h"
#include "engine/train/data_set.h"
#include "engine/train/scoring.h"
#include "export/made_up_frames.h"
#include "kdgat/text.h"

namespace kdgat::exporting {
namespace {

constexpr int64_t kMadeUpFrames = 50'000;

CheckWindows validation_windows(const model::TrainedModel& made, const std::filesystem::path& data,
                                bool with_edge_attr) {
  const auto opened = std::make_shared<train::Data>(train::open_data(data));
  model::require_layout(made, train::layout_of(opened->store),
                        "export it beside the data that it was trained on");
  const std::vector<int64_t> ids = opened->part("val");
  return {grouped(std::ssize(ids)) + " validation windows of the run", std::ssize(ids),
          [opened, ids, with_edge_attr](const auto& visit) {
            train::for_batches(
                opened->store, ids, with_edge_attr,
                [&](graph::GraphBatch& batch, std::span<const int64_t>) { visit(batch); });
          }};
}

}  // namespace

CheckWindows check_windows(const model::TrainedModel& made, const std::filesystem::path& data,
                           bool with_edge_attr) {
  if (!data.empty()) {
    if (CheckWindows out = validation_windows(made, data, with_edge_attr); out.count > 0)
      return out;
  }
  const decision::WindowNetwork network = decision::window_network(made);
  const auto windows =
      std::make_shared<data::FrameWindows>(network.shape, data::Vocabulary(network.vocabulary));
  for (const data::CanFrame& frame : made_up_frames(network.vocabulary, kMadeUpFrames)) {
    windows->add(frame, false);
  }
  windows->finish();
  return {grouped(windows->complete()) + " windows of made-up traffic", windows->complete(),
          [windows, with_edge_attr](const auto& visit) {
            std::vector<int64_t> ids(static_cast<std::size_t>(windows->complete()));
            std::iota(ids.begin(), ids.end(), int64_t{0});
            graph::GraphBatch batch;
            const graph::GraphArrays graphs = windows->graphs();
            for (std::size_t at = 0; at < ids.size(); at += train::kScoreGraphs) {
              const auto some = std::span(ids).subspan(
                  at, std::min<std::size_t>(train::kScoreGraphs, ids.size() - at));
              graph::gather(graphs, some, with_edge_attr, batch);
              visit(batch);
            }
          }};
}

}  // namespace kdgat::exporting
