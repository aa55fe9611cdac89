#include "detector/traffic.h"

#include <algorithm>
#include <iterator>
#include <numeric>

#include "graph/random.h"

namespace kdgat::detector {

int64_t Log::first_attack() const {
  int64_t row = 0;
  while (row < rows_ && !is_attack(row)) ++row;
  return row;
}

std::vector<uint32_t> Log::benign_ids(int64_t end) const {
  std::vector<uint32_t> out;
  for (int64_t row = 0; row < std::min(end, rows_); ++row) {
    if (!is_attack(row)) {
      out.push_back(static_cast<uint32_t>(frames_->id[static_cast<std::size_t>(begin_ + row)]));
    }
  }
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

std::vector<Log> logs_of(const graph::GraphStore& store) {
  const auto& frames = store.need<graph::Frames>();
  if (frames.sources() != static_cast<int64_t>(store.sources().size())) {
    throw Error(ExitCode::kData, store.path().string() + ": the frames are not of its sources");
  }
  std::vector<Log> out;
  for (std::size_t i = 0; i < store.sources().size(); ++i) {
    out.emplace_back(store.sources()[i], frames, i);
  }
  return out;
}

graph::VehicleProfile learn_profile(std::span<const Piece> pieces) {
  graph::ProfileBuilder builder;
  for (const Piece& piece : pieces) {
    builder.restart();
    for (int64_t row = piece.begin; row < piece.end; ++row) {
      if (piece.log->restarts(row)) builder.restart();
      if (!piece.log->is_attack(row)) builder.add(piece.log->frame(row));
    }
  }
  return builder.profile();
}

double overlap(std::span<const uint32_t> a, std::span<const uint32_t> b) {
  std::vector<uint32_t> both;
  std::set_intersection(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(both));
  const std::size_t either = a.size() + b.size() - both.size();
  return either == 0 ? 0 : static_cast<double>(both.size()) / static_cast<double>(either);
}

std::vector<std::vector<std::size_t>> group_by_vehicle(std::span<const Log> logs) {
  std::vector<std::vector<std::size_t>> out;
  std::vector<std::vector<uint32_t>> ids;
  for (std::size_t i = 0; i < logs.size(); ++i) {
    ids.push_back(logs[i].benign_ids(logs[i].rows()));
    const auto same = std::find_if(out.begin(), out.end(), [&](const auto& group) {
      return overlap(ids[group.front()], ids[i]) > kSameVehicle;
    });
    if (same == out.end()) {
      out.push_back({i});
    } else {
      same->push_back(i);
    }
  }
  return out;
}

graph::VehicleProfile forget_moves(graph::VehicleProfile profile, double share,
                                   graph::Random& random) {
  constexpr double kOfBytes = 0.6;  // a signal rests as a whole, counters beside it do not
  for (graph::IdProfile& id : profile.ids) {
    if (random.uniform() >= share) continue;
    for (graph::ByteMoves& byte : id.bytes) {
      if (random.uniform() >= kOfBytes) continue;
      byte.set_counts({byte.total()});
      byte.settle();
    }
    id.change = graph::IdProfile::kLeastChange;
  }
  return profile;
}

}  // namespace kdgat::detector
