#include "engine/data/can/windows/relative_graph.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "engine/data/can/frames/bus_clock.h"

namespace kdgat::data {
namespace {

constexpr float kMissingFrom = 1;  // longest silences: an id without frames has a node from here on

/// Bits of surprise of a step that came so often, of so many from its id.
float rarity(double came, double of) {
  return std::min(KDGAT_MOST, static_cast<float>(-std::log2((came + 0.5) / (of + 1))));
}

}  // namespace

std::vector<std::string> relative_node_names() {
  std::vector<std::string> out = relative_names();
  out.insert(out.end(),
             {"more", "fewer", "crowd_mean", "off_mean", "new_mean", "changed", "outside"});
  return out;
}

std::vector<std::string> relative_edge_names() {
  return {"share", "rarity", "least_gap", "mean_gap"};
}

GraphMaker::GraphMaker(const VehicleProfile& profile, const kdgat_vehicle& vehicle)
    : vehicle_(vehicle) {
  auto at = profile.steps.begin();
  for (uint32_t place = 0; place < vehicle.ids; ++place) {
    first_.push_back(static_cast<uint32_t>(steps_.size()));
    const uint32_t from = vehicle.keys[place];
    while (at != profile.steps.end() && at->from < from) ++at;
    const auto end =
        std::find_if(at, profile.steps.end(), [&](const IdStep& one) { return one.from != from; });
    double all = 0;
    for (auto one = at; one != end; ++one) all += static_cast<double>(one->frames);
    for (; at != end; ++at) {
      const int32_t to = kdgat_find(&vehicle, at->to);
      if (to < 0) continue;
      steps_.push_back({static_cast<uint32_t>(to), rarity(static_cast<double>(at->frames), all),
                        static_cast<float>(at->gap)});
    }
    never_.push_back(rarity(0, all));
  }
  first_.push_back(static_cast<uint32_t>(steps_.size()));
}

RelativeGraph GraphMaker::of(const RelativeWindow& window, std::span<const ComparedFrame> frames,
                             std::span<const Silence> silences) const {
  RelativeGraph out;
  add_nodes(window, frames, silences, out);
  add_edges(frames, out);
  return out;
}

void GraphMaker::add_nodes(const RelativeWindow& window, std::span<const ComparedFrame> frames,
                           std::span<const Silence> silences, RelativeGraph& out) const {
  using Kind = ComparedFrame::Kind;
  for (const ComparedFrame& frame : frames) {
    if (frame.kind() == Kind::kKnown) out.keys.push_back(frame.key);
  }
  for (const Silence& silence : silences) {
    if (silence.ratio > kMissingFrom) out.keys.push_back(silence.key);
  }
  std::sort(out.keys.begin(), out.keys.end());
  out.keys.erase(std::unique(out.keys.begin(), out.keys.end()), out.keys.end());
  const auto place_of = [&](uint32_t key) {
    return std::lower_bound(out.keys.begin(), out.keys.end(), key) - out.keys.begin();
  };
  std::vector<kdgat_node> nodes(out.keys.size() + 1);
  for (kdgat_node& node : nodes) kdgat_node_init(&node);
  // As of a window: a tester's frames count where there are too many of them.
  for (const ComparedFrame& frame : frames) {
    const auto place = frame.kind() == Kind::kKnown ? 1 + place_of(frame.key) : 0;
    out.node_of.push_back(frame.kind() == Kind::kExcused ? -1 : static_cast<int32_t>(place));
    kdgat_node_add(&nodes[static_cast<std::size_t>(place)], &frame, vehicle_.frames);
  }
  std::vector<float> silent(nodes.size(), 0);
  for (const Silence& silence : silences) {
    const auto place = place_of(silence.key);
    if (place == std::ssize(out.keys) || out.keys[static_cast<std::size_t>(place)] != silence.key) {
      continue;
    }
    silent[static_cast<std::size_t>(place + 1)] = silence.ratio;
  }
  out.keys.insert(out.keys.begin(), 0);
  out.x.resize(nodes.size() * static_cast<std::size_t>(kRelativeNodeFeatures));
  for (std::size_t n = 0; n < nodes.size(); ++n) {
    float due = std::numeric_limits<float>::quiet_NaN();
    if (n > 0) {
      const kdgat_usual& usual = vehicle_.usuals[kdgat_find(&vehicle_, out.keys[n])];
      if ((usual.flags & KDGAT_KEEPS_TIMES) != 0 && window.seconds > 0) {
        due = static_cast<float>(window.seconds / usual.period);
      }
    }
    kdgat_node_end(&vehicle_, &nodes[n], silent[n], due, n == 0 ? 1 : 0,
                   &out.x[n * static_cast<std::size_t>(kRelativeNodeFeatures)]);
  }
}

void GraphMaker::add_edges(std::span<const ComparedFrame> frames, RelativeGraph& out) const {
  struct Step {
    int32_t source, target;
    float gap;
  };
  struct Last {
    int32_t node = -1;
    double time = 0;
  };
  std::vector<Step> steps;
  std::array<Last, kMostChannels> last;
  for (std::size_t i = 0; i < frames.size(); ++i) {
    if (frames[i].restarts) last = {};
    if (out.node_of[i] < 0) continue;
    Last& before = last[frames[i].key >> 29];
    if (before.node >= 0) {
      steps.push_back({before.node, out.node_of[i],
                       static_cast<float>(std::min(frames[i].time - before.time, kLongestPause))});
    }
    before = {out.node_of[i], frames[i].time};
  }
  std::stable_sort(steps.begin(), steps.end(), [](const Step& a, const Step& b) {
    return a.source != b.source ? a.source < b.source : a.target < b.target;
  });
  const kdgat_steps usual{first_.data(), steps_.data(), never_.data()};
  std::vector<uint32_t> from_node(out.keys.size(), 0);
  for (const Step& one : steps) ++from_node[static_cast<std::size_t>(one.source)];
  for (std::size_t from = 0, to = 0; from < steps.size(); from = to) {
    const Step& one = steps[from];
    kdgat_step step;
    kdgat_step_init(&step);
    for (to = from;
         to < steps.size() && steps[to].source == one.source && steps[to].target == one.target;
         ++to) {
      kdgat_step_add(&step, steps[to].gap);
    }
    const auto place = [&](int32_t node) {
      return node == 0 ? KDGAT_UNKNOWN
                       : kdgat_find(&vehicle_, out.keys[static_cast<std::size_t>(node)]);
    };
    out.source.push_back(one.source);
    out.target.push_back(one.target);
    out.edge_attr.resize(out.edge_attr.size() + static_cast<std::size_t>(kRelativeEdgeFeatures));
    kdgat_step_end(
        &usual, &step, from_node[static_cast<std::size_t>(one.source)], place(one.source),
        place(one.target),
        &out.edge_attr[out.edge_attr.size() - static_cast<std::size_t>(kRelativeEdgeFeatures)]);
  }
}

}  // namespace kdgat::data
