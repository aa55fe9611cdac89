#include "setup/space_setup.h"

#include <algorithm>
#include <cmath>

#include "kdgat/error.h"

namespace kdgat::setup {

namespace {

[[noreturn]] void refuse(const std::string& where) {
  throw Error(
      ExitCode::kData, where + "the graphs have no positions",
      "this stage needs graphs in space: SWC files, points or kdgat data synth --kind tree");
}

}  // namespace

train::Data open_spatial_data(const std::filesystem::path& folder) {
  train::Data out = train::open_data(folder);
  if (!out.store.is_spatial()) refuse(out.store.path().string() + ": ");
  return out;
}

void require_spatial(const nlohmann::json& graph_facts) {
  if (!graph_facts.contains("spatial")) refuse("");
}

double median_edge_length(const graph::GraphStore& store, const std::vector<int64_t>& ids) {
  const float* pos = store.spatial().pos.data();
  std::vector<double> lengths;
  for (const int64_t id : ids) {
    const auto g = static_cast<std::size_t>(id);
    for (auto e = static_cast<std::size_t>(store.edge_ptr()[g]);
         e < static_cast<std::size_t>(store.edge_ptr()[g + 1]); ++e) {
      const float* a = pos + 3 * (store.node_ptr()[g] + store.edge_source()[e]);
      const float* b = pos + 3 * (store.node_ptr()[g] + store.edge_target()[e]);
      lengths.push_back(std::hypot(double{a[0]} - b[0], double{a[1]} - b[1], double{a[2]} - b[2]));
    }
  }
  if (lengths.empty()) return 1;
  const auto middle = lengths.begin() + static_cast<std::ptrdiff_t>(lengths.size() / 2);
  std::nth_element(lengths.begin(), middle, lengths.end());
  return *middle > 0 ? *middle : 1;
}

}  // namespace kdgat::setup
