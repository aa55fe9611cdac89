#include "engine/data/graphs/synth_graphs.h"

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "engine/arrays/index.h"
#include "engine/arrays/random.h"
#include "engine/data/core/folder_files.h"
#include "kdgat/atomic_file.h"
#include "kdgat/error.h"

namespace kdgat::data {
namespace {

constexpr uint64_t kGraphStream = 14;
constexpr int64_t kLeastDegree = 2, kMostDegree = 4;
constexpr int64_t kJoinedPercent = 80;  // of the edges, between kinds that are a pair
constexpr int kMostTries = 200;         // to mend an edge that stands already

using Ends = std::pair<int64_t, int64_t>;

/// The way number `index` of putting `kinds` kinds in pairs: the partner of each. Ways are counted
/// by what the lowest free kind is joined to.
std::vector<int64_t> pairing(int64_t kinds, int64_t index) {
  std::vector<int64_t> free, partner(arrays::at(kinds));
  for (int64_t kind = 0; kind < kinds; ++kind) free.push_back(kind);
  while (!free.empty()) {
    const auto choices = static_cast<int64_t>(free.size()) - 1;
    const auto other = free.begin() + 1 + index % choices;
    index /= choices;
    partner[arrays::at(free.front())] = *other;
    partner[arrays::at(*other)] = free.front();
    free.erase(other);
    free.erase(free.begin());
  }
  return partner;
}

/// The edges of a graph, drawn one group after the other; within a group ends may be exchanged.
class EdgeDrawer {
 public:
  explicit EdgeDrawer(arrays::Random& random) : random_(random) {}

  /// Joins from[i] with to[i]. An edge that is a loop or stands already exchanges ends with another
  /// of the group, so that degrees stay; one that cannot is left out.
  void join(const std::vector<int64_t>& from, const std::vector<int64_t>& to) {
    std::vector<Ends> group;
    for (std::size_t i = 0; i < from.size(); ++i) {
      Ends edge(from[i], to[i]);
      for (int tries = 0; !is_free(edge) && !group.empty() && tries < kMostTries; ++tries) {
        Ends& other = group[random_.below(group.size())];
        const Ends one(edge.first, other.second), two(other.first, edge.second);
        if (!is_free(one) || !is_free(two) || ordered(one) == ordered(two)) continue;
        edges_.erase(ordered(other));
        edges_.insert(ordered(two));
        other = two;
        edge = one;
      }
      if (!is_free(edge)) continue;
      edges_.insert(ordered(edge));
      group.push_back(edge);
    }
  }

  const std::set<Ends>& edges() const { return edges_; }

 private:
  static Ends ordered(const Ends& edge) {
    return {std::min(edge.first, edge.second), std::max(edge.first, edge.second)};
  }
  bool is_free(const Ends& edge) const {
    return edge.first != edge.second && !edges_.contains(ordered(edge));
  }

  arrays::Random& random_;
  std::set<Ends> edges_;
};

/// Edges of a graph with `each` nodes of each kind, numbered kind by kind.
std::set<Ends> edges_of_class(const std::vector<int64_t>& partner, int64_t each,
                              arrays::Random& random) {
  std::vector<int64_t> degrees;  // of the nodes of a kind, the same for all kinds
  for (int64_t node = 0; node < each; ++node) {
    degrees.push_back(kLeastDegree + static_cast<int64_t>(random.below(
                                         static_cast<uint64_t>(kMostDegree - kLeastDegree + 1))));
  }
  std::vector<std::vector<int64_t>> ends(partner.size());  // of each kind: a node for each edge
  for (std::size_t kind = 0; kind < ends.size(); ++kind) {
    random.shuffle(degrees);
    for (int64_t node = 0; node < each; ++node) {
      ends[kind].insert(ends[kind].end(), arrays::at(degrees[arrays::at(node)]),
                        static_cast<int64_t>(kind) * each + node);
    }
    random.shuffle(ends[kind]);
  }
  const std::size_t joined = ends.front().size() * kJoinedPercent / 100;
  EdgeDrawer drawer(random);
  std::vector<int64_t> rest;
  for (std::size_t kind = 0; kind < ends.size(); ++kind) {
    const std::size_t other = arrays::at(partner[kind]);
    const auto part = [&](std::size_t of) {
      return std::vector(ends[of].begin(), ends[of].begin() + static_cast<std::ptrdiff_t>(joined));
    };
    if (kind < other) drawer.join(part(kind), part(other));
    rest.insert(rest.end(), ends[kind].begin() + static_cast<std::ptrdiff_t>(joined),
                ends[kind].end());
  }
  random.shuffle(rest);
  const auto half = rest.begin() + static_cast<std::ptrdiff_t>(rest.size() / 2);
  drawer.join(std::vector(rest.begin(), half), std::vector(half, rest.end()));
  return drawer.edges();
}

}  // namespace

int64_t node_kinds(int64_t classes) {
  int64_t kinds = 6, ways = 15;  // 5 * 3
  while (ways < classes) {
    kinds += 2;
    ways *= kinds - 1;
  }
  return kinds;
}

void write_synthetic_graphs(const std::filesystem::path& folder, const SynthSize& options,
                            const std::function<bool()>& cancelled) {
  make_folder(folder);
  const int64_t kinds = node_kinds(options.classes);
  std::string graphs = "graph,label\n", nodes = "graph,node", edges = "graph,source,target\n";
  for (int64_t kind = 0; kind < kinds; ++kind) nodes += ",kind_" + std::to_string(kind);
  nodes += "\n";
  for (int64_t graph = 0; graph < options.graphs; ++graph) {
    if (cancelled && cancelled()) throw Error(ExitCode::kInterrupted, "interrupted");
    arrays::Random random(arrays::Random(static_cast<uint64_t>(options.seed), kGraphStream).next(),
                          static_cast<uint64_t>(graph));
    const std::string name = "g" + std::to_string(graph);
    const int64_t label = graph % options.classes;
    graphs += name + ",class_" + std::to_string(label) + "\n";
    const int64_t wanted = options.nodes * (80 + static_cast<int64_t>(random.below(41))) / 100;
    const int64_t each = std::max<int64_t>(2, (wanted + kinds / 2) / kinds);
    for (int64_t node = 0; node < each * kinds; ++node) {
      nodes += name + "," + std::to_string(node);
      for (int64_t kind = 0; kind < kinds; ++kind) nodes += node / each == kind ? ",1" : ",0";
      nodes += "\n";
    }
    for (const auto& [a, b] : edges_of_class(pairing(kinds, label), each, random)) {
      const std::string from = std::to_string(a), to = std::to_string(b);
      for (const auto& ends : {std::pair{&from, &to}, {&to, &from}}) {
        edges.append(name).append(",").append(*ends.first).append(",").append(*ends.second);
        edges += "\n";
      }
    }
  }
  write_file(folder / "graphs.csv", graphs);
  write_file(folder / "nodes.csv", nodes);
  write_file(folder / "edges.csv", edges);
}

}  // namespace kdgat::data
