// How graphs are divided into parts, and the side file that holds the parts.
#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <map>

#include "engine/arrays/random.h"
#include "engine/file/metadata_json.h"
#include "engine/graph/graph_store.h"

namespace kdgat::graph {

using nlohmann::json;

namespace {

constexpr const char* kSplitFormat = "kdgat.split";
constexpr const char* kVersion = "1";
constexpr int64_t kBlocks = 20;  // of each source file

using GraphIds = std::vector<int64_t>;

/// The published rule: the first floor((1 - fraction) * n) stay, the rest is cut off and returned.
GraphIds cut(GraphIds& ids, double fraction) {
  // Without the nudge 0.7 * 10 style products would lose one to rounding.
  const auto keep =
      static_cast<int64_t>(std::floor((1 - fraction) * static_cast<double>(ids.size()) + 1e-9));
  GraphIds rest(ids.begin() + keep, ids.end());
  ids.resize(static_cast<std::size_t>(keep));
  return rest;
}

void split_random(GraphIds ids, double val_fraction, double test_fraction, arrays::Random& random,
                  Split& split) {
  random.shuffle(ids);
  if (test_fraction > 0) split.parts["test"] = cut(ids, test_fraction);
  split.parts["val"] = cut(ids, val_fraction);
  split.parts["train"] = std::move(ids);
}

/// Chooses a fraction of each list of blocks, spread over it: the list is cut into as many runs as
/// blocks are wanted and one of each run is taken. What rounding loses in one file is made up for
/// in the next, so that many short files together give the fraction too.
class BlockChooser {
 public:
  BlockChooser(double fraction, arrays::Random& random)
      : fraction_(fraction), owed_(random.uniform() - 0.5), random_(random) {}

  /// Takes the chosen blocks out of `blocks`.
  std::vector<int64_t> take(std::vector<int64_t>& blocks) {
    if (fraction_ <= 0) return {};
    const auto size = static_cast<int64_t>(blocks.size());
    owed_ += fraction_ * static_cast<double>(size);
    const int64_t wanted =
        std::clamp(static_cast<int64_t>(std::floor(owed_ + 0.5)), int64_t{0}, size);
    owed_ -= static_cast<double>(wanted);
    std::vector<int64_t> chosen, left;
    int64_t next = 0;
    for (int64_t run = 0; run < wanted; ++run) {
      const int64_t begin = size * run / wanted, end = size * (run + 1) / wanted;
      const int64_t pick =
          begin + static_cast<int64_t>(random_.below(static_cast<uint64_t>(end - begin)));
      left.insert(left.end(), blocks.begin() + next, blocks.begin() + pick);
      chosen.push_back(blocks[static_cast<std::size_t>(pick)]);
      next = pick + 1;
    }
    left.insert(left.end(), blocks.begin() + next, blocks.end());
    blocks = std::move(left);
    return chosen;
  }

 private:
  double fraction_;
  double owed_;
  arrays::Random& random_;
};

/// The rows of one source file that parts chosen earlier occupy.
class OccupiedRows {
 public:
  explicit OccupiedRows(const GraphStore& store) : store_(store) {}

  void erase_overlapping(GraphIds& ids) const {
    std::erase_if(ids, [this](int64_t id) { return overlaps(begin(id), end(id)); });
  }
  void add(const GraphIds& ids) {
    for (const int64_t id : ids) ranges_.emplace_back(begin(id), end(id));
    std::sort(ranges_.begin(), ranges_.end());
    std::vector<std::pair<int64_t, int64_t>> merged;
    for (const auto& range : ranges_) {
      if (merged.empty() || range.first > merged.back().second) {
        merged.push_back(range);
      } else {
        merged.back().second = std::max(merged.back().second, range.second);
      }
    }
    ranges_ = std::move(merged);
  }

 private:
  int64_t begin(int64_t id) const { return store_.row_begin()[static_cast<std::size_t>(id)]; }
  int64_t end(int64_t id) const { return store_.row_end()[static_cast<std::size_t>(id)]; }
  bool overlaps(int64_t begin, int64_t end) const {
    const auto after = std::partition_point(ranges_.begin(), ranges_.end(),
                                            [end](const auto& range) { return range.first < end; });
    return after != ranges_.begin() && std::prev(after)->second > begin;
  }

  const GraphStore& store_;
  std::vector<std::pair<int64_t, int64_t>> ranges_;  // disjoint, ascending
};

void split_by_time(const GraphStore& store, const GraphIds& ids, double val_fraction,
                   double test_fraction, arrays::Random& random, Split& split) {
  std::vector<GraphIds> files(store.sources().size());
  for (const int64_t id : ids) {
    files[static_cast<std::size_t>(store.source_of()[static_cast<std::size_t>(id)])].push_back(id);
  }
  BlockChooser choose_test(test_fraction, random), choose_val(val_fraction, random);
  for (GraphIds& file : files) {
    // Of rows that several graphs were made of, all are near one another.
    std::stable_sort(file.begin(), file.end(), [&](int64_t a, int64_t b) {
      return store.row_begin()[static_cast<std::size_t>(a)] <
             store.row_begin()[static_cast<std::size_t>(b)];
    });
    const auto windows = static_cast<int64_t>(file.size());
    const int64_t count = std::min(kBlocks, windows);
    std::vector<int64_t> blocks(static_cast<std::size_t>(count));
    for (int64_t b = 0; b < count; ++b) blocks[static_cast<std::size_t>(b)] = b;
    const auto windows_of = [&](const std::vector<int64_t>& chosen) {
      GraphIds out;
      for (const int64_t b : chosen) {
        out.insert(out.end(), file.begin() + windows * b / count,
                   file.begin() + windows * (b + 1) / count);
      }
      return out;
    };
    OccupiedRows occupied(store);
    const auto assign = [&](const char* part, GraphIds chosen) {
      occupied.erase_overlapping(chosen);
      occupied.add(chosen);
      GraphIds& all = split.parts[part];
      all.insert(all.end(), chosen.begin(), chosen.end());
    };
    if (test_fraction > 0) assign("test", windows_of(choose_test.take(blocks)));
    assign("val", windows_of(choose_val.take(blocks)));
    assign("train", windows_of(blocks));
  }
}

/// Graphs that stay together.
struct Group {
  GraphIds ids;
  std::vector<double> classes;  ///< its graphs of each class
};

/// By source, sources of one group together, or each graph by itself where its source is
/// independent; in a seeded order, largest first.
std::vector<Group> make_groups(const GraphStore& store, const GraphIds& ids,
                               arrays::Random& random) {
  const int64_t most = *std::max_element(store.y().begin(), store.y().end());
  const auto classes = static_cast<std::size_t>(most + 2);    // with "no label", the first
  std::map<std::pair<bool, int64_t>, std::size_t> of_source;  // or of a group
  std::vector<Group> groups;
  for (const int64_t id : ids) {
    const auto at = static_cast<std::size_t>(id);
    const int32_t source = store.source_of()[at];
    const Source& from = store.sources()[static_cast<std::size_t>(source)];
    const bool is_grouped = from.group >= 0;
    const auto [found, is_new] =
        of_source.emplace(std::pair{is_grouped, is_grouped ? from.group : source}, groups.size());
    if (from.independent || is_new) {
      found->second = groups.size();
      groups.push_back({{}, std::vector<double>(classes, 0)});
    }
    Group& group = groups[found->second];
    group.ids.push_back(id);
    ++group.classes[static_cast<std::size_t>(int64_t{store.y()[at]} + 1)];
  }
  random.shuffle(groups);
  std::stable_sort(groups.begin(), groups.end(),
                   [](const Group& a, const Group& b) { return a.ids.size() > b.ids.size(); });
  return groups;
}

/// Deals whole groups to parts that want the given shares of the graphs, and of those of each
/// class: each group, the largest first, to the part that lacks most of its classes and of all
/// graphs.
std::vector<std::vector<Group>> deal(std::vector<Group> groups, const std::vector<double>& shares) {
  std::vector<std::vector<Group>> parts(shares.size());
  if (groups.empty()) return parts;
  std::vector<double> totals(groups.front().classes.size(), 0);
  double all = 0;
  for (const Group& group : groups) {
    for (std::size_t c = 0; c < totals.size(); ++c) totals[c] += group.classes[c];
    all += static_cast<double>(group.ids.size());
  }
  std::vector<std::vector<double>> lacks(shares.size(), totals);
  std::vector<double> lacks_any(shares.size());
  for (std::size_t p = 0; p < shares.size(); ++p) {
    for (double& lack : lacks[p]) lack *= shares[p];
    lacks_any[p] = all * shares[p];
  }
  for (Group& group : groups) {
    const auto size = static_cast<double>(group.ids.size());
    std::size_t best = 0;
    double most = -std::numeric_limits<double>::infinity();
    for (std::size_t p = 0; p < shares.size(); ++p) {
      if (shares[p] <= 0) continue;
      double need = size * lacks_any[p] / all;  // or parts of few graphs a class would stay empty
      for (std::size_t c = 0; c < totals.size(); ++c) {
        if (group.classes[c] > 0) need += group.classes[c] * lacks[p][c] / totals[c];
      }
      if (need > most) {
        most = need;
        best = p;
      }
    }
    for (std::size_t c = 0; c < totals.size(); ++c) lacks[best][c] -= group.classes[c];
    lacks_any[best] -= size;
    parts[best].push_back(std::move(group));
  }
  return parts;
}

/// Of few large groups, as vehicles are, none may be left for a part that wants some: it is given
/// the smallest one of a part that has several. Not of sources alone, whose splits stay what they
/// were.
void fill_empty(std::vector<std::vector<Group>>& parts, const std::vector<double>& shares) {
  for (std::size_t p = 0; p < parts.size(); ++p) {
    const auto most =
        std::max_element(parts.begin(), parts.end(),
                         [](const auto& a, const auto& b) { return a.size() < b.size(); });
    if (shares[p] <= 0 || !parts[p].empty() || most->size() < 2) continue;
    parts[p].push_back(std::move(most->back()));  // the last dealt
    most->pop_back();
  }
}

void split_by_group(const GraphStore& store, const GraphIds& ids, const SplitOptions& options,
                    double val_fraction, double test_fraction, arrays::Random& random,
                    Split& split) {
  const auto put = [&](const char* part, const std::vector<Group>& groups) {
    GraphIds& ids_of_part = split.parts[part];
    for (const Group& group : groups) {
      ids_of_part.insert(ids_of_part.end(), group.ids.begin(), group.ids.end());
    }
  };
  if (ids.empty()) return;
  const auto dealt = [&](std::vector<Group> groups, const std::vector<double>& shares) {
    auto parts = deal(std::move(groups), shares);
    const bool are_made = std::any_of(store.sources().begin(), store.sources().end(),
                                      [](const Source& one) { return one.group >= 0; });
    if (are_made) fill_empty(parts, shares);
    return parts;
  };
  std::vector<Group> rest = make_groups(store, ids, random);
  if (options.folds > 0) {
    if (rest.size() < static_cast<std::size_t>(options.folds)) {
      throw Error(ExitCode::kUsage, "split=group: " + std::to_string(options.folds) + " folds of " +
                                        std::to_string(rest.size()) + " groups");
    }
    // All folds are dealt, so that each group is in the test part of exactly one.
    const std::vector<double> shares(static_cast<std::size_t>(options.folds),
                                     1 / static_cast<double>(options.folds));
    auto folds = dealt(std::move(rest), shares);
    put("test", folds[static_cast<std::size_t>(options.fold)]);
    rest.clear();
    for (std::size_t f = 0; f < folds.size(); ++f) {
      if (static_cast<int64_t>(f) == options.fold) continue;
      std::move(folds[f].begin(), folds[f].end(), std::back_inserter(rest));
    }
    std::stable_sort(rest.begin(), rest.end(),
                     [](const Group& a, const Group& b) { return a.ids.size() > b.ids.size(); });
  } else if (test_fraction > 0) {
    auto parts = dealt(std::move(rest), {1 - test_fraction, test_fraction});
    put("test", parts[1]);
    rest = std::move(parts[0]);
  }
  const auto parts = dealt(std::move(rest), {1 - val_fraction, val_fraction});
  put("train", parts[0]);
  put("val", parts[1]);
}

void check_fraction(const char* name, double value) {
  if (!(value >= 0 && value < 1)) {
    throw Error(ExitCode::kUsage, std::string(name) + " is outside [0, 1)");
  }
}

}  // namespace

Split make_split(const GraphStore& store, const SplitOptions& options) {
  check_fraction("val_fraction", options.val_fraction);
  check_fraction("test_fraction", options.test_fraction);
  const bool has_no_clock = store.positions() != nullptr || store.targets() != nullptr;
  const bool is_grouped = options.kind == "group" || (options.kind == "time" && has_no_clock);
  const bool has_folds = is_grouped && options.folds > 0;
  if (has_folds && (options.fold < 0 || options.fold >= options.folds)) {
    throw Error(ExitCode::kUsage, "fold is not below folds");
  }
  Split split;
  split.store_hash = store.content_hash();
  split.options = {{"kind", is_grouped ? "group" : options.kind},
                   {"val_fraction", options.val_fraction},
                   {"test_fraction", options.test_fraction},
                   {"seed", options.seed}};
  if (has_folds) {
    split.options["folds"] = options.folds;
    split.options["fold"] = options.fold;
  }
  split.parts = {{"train", {}}, {"val", {}}};
  GraphIds learn, fixed_val;
  bool has_test = false;
  for (int64_t id = 0; id < store.graphs(); ++id) {
    const auto file = static_cast<std::size_t>(store.source_of()[static_cast<std::size_t>(id)]);
    const Source& source = store.sources()[file];
    if (source.role != "test") {
      (source.validates() ? fixed_val : learn).push_back(id);
      continue;
    }
    has_test = true;
    split.parts[source.scenario.empty() ? "test" : "test/" + source.scenario].push_back(id);
  }
  const double test_fraction = has_test ? 0 : options.test_fraction;
  const double val_fraction = fixed_val.empty() ? options.val_fraction : 0;
  arrays::Random random(static_cast<uint64_t>(options.seed));
  if (is_grouped) {
    split_by_group(store, learn, options, val_fraction, test_fraction, random, split);
  } else if (options.kind == "random") {
    split_random(std::move(learn), val_fraction, test_fraction, random, split);
  } else if (options.kind == "time") {
    split_by_time(store, learn, val_fraction, test_fraction, random, split);
  } else {
    throw Error(ExitCode::kUsage,
                "split: '" + options.kind + "' is not one of time, random, group");
  }
  split.parts["val"].insert(split.parts["val"].end(), fixed_val.begin(), fixed_val.end());
  for (auto& [name, ids] : split.parts) std::sort(ids.begin(), ids.end());
  return split;
}

void write_split(const std::filesystem::path& path, const Split& split) {
  file::SafetensorsWriter writer;
  for (const auto& [name, ids] : split.parts) {
    writer.add(name, {static_cast<int64_t>(ids.size())}, std::span(ids));
  }
  writer.metadata("format", kSplitFormat);
  writer.metadata("version", kVersion);
  writer.metadata("options", split.options.dump(-1, ' ', false, json::error_handler_t::replace));
  writer.metadata("store_hash", split.store_hash);
  writer.write(path, true);
}

Split load_split(const std::filesystem::path& path, const GraphStore& store) {
  const file::SafetensorsFile file = file::SafetensorsFile::open(path);
  const auto refuse = [&path](const std::string& reason) {
    return Error(ExitCode::kData, path.string() + ": " + reason);
  };
  const auto text = [&](const char* key) {
    const auto found = file.metadata().find(key);
    return found == file.metadata().end() ? std::string() : found->second;
  };
  if (text("format") != kSplitFormat) throw refuse("not a split");
  if (text("version") != kVersion) {
    throw refuse("split of format version " + text("version") + ", this program reads " + kVersion);
  }
  if (std::vector<Diagnostic> faults = file::verify_hashes(file); !faults.empty()) {
    throw Error(ExitCode::kData, std::move(faults));
  }
  Split split;
  split.store_hash = text("store_hash");
  if (split.store_hash != store.content_hash()) {
    throw Error(ExitCode::kData,
                path.string() + ": made for another graph store than " + store.path().string(),
                "import the data again");
  }
  split.options = file::metadata_json(file, "options");
  for (const auto& [name, view] : file.tensors()) {
    const std::span<const int64_t> ids = file.require<int64_t>(name, {-1});
    for (const int64_t id : ids) {
      if (id < 0 || id >= store.graphs()) {
        throw refuse("part '" + name + "' names graph " + std::to_string(id) + " of " +
                     std::to_string(store.graphs()));
      }
    }
    split.parts[name].assign(ids.begin(), ids.end());
  }
  return split;
}

}  // namespace kdgat::graph
