#include "fields/molecules/equivariant/ranking_report.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "engine/arrays/random.h"
#include "engine/train/metrics/retrieval.h"

namespace kdgat::equivariant {
namespace {

using nlohmann::json;

constexpr const char* kWithInterval[] = {"hit_10", "mrr"};
constexpr const char* kShown[] = {"top_1", "hit_5", "hit_10", "hit_20", "mrr", "median_rank"};

json intervals(const Ranking& ranking, int64_t ligands) {
  constexpr std::size_t kSamples = 1000;
  constexpr uint64_t kSeed = 1;
  std::map<std::string, std::vector<int64_t>> by_group;
  for (std::size_t i = 0; i < ranking.rank.size(); ++i) {
    by_group[ranking.group[i]].push_back(ranking.rank[i]);
  }
  std::vector<const std::vector<int64_t>*> groups;
  groups.reserve(by_group.size());
  for (const auto& [name, ranks] : by_group) groups.push_back(&ranks);
  arrays::Random random(kSeed);
  std::map<std::string, std::vector<double>> values;
  for (std::size_t s = 0; s < kSamples; ++s) {
    std::vector<int64_t> sample;
    for (std::size_t g = 0; g < groups.size(); ++g) {
      const auto& drawn = *groups[random.below(groups.size())];
      sample.insert(sample.end(), drawn.begin(), drawn.end());
    }
    const json metrics = train::retrieval_metrics(sample, ligands);
    for (const char* name : kWithInterval) values[name].push_back(metrics.at(name));
  }
  json out = json::object();
  for (auto& [name, all] : values) {
    std::sort(all.begin(), all.end());
    constexpr std::size_t kTail = kSamples / 40;  // 2.5 %
    out[name] = {all[kTail], all[kSamples - 1 - kTail]};
  }
  return out;
}

std::vector<int64_t> those_with(const Ranking& ranking, bool seen) {
  std::vector<int64_t> out;
  for (std::size_t i = 0; i < ranking.rank.size(); ++i) {
    if (ranking.seen[i] == seen) out.push_back(ranking.rank[i]);
  }
  return out;
}

json row_of(const std::string& method, const std::string& part, const std::string& ligands,
            std::size_t molecules, const json& metrics) {
  json row = {method, part, ligands, molecules};
  for (const char* name : kShown) row.push_back(metrics.at(name));
  return row;
}

}  // namespace

json ranking_metrics(const Ranking& ranking, int64_t ligands) {
  json out = train::retrieval_metrics(ranking.rank, ligands);
  if (out.empty()) return out;
  out["molecules"] = ranking.rank.size();
  out["interval"] = intervals(ranking, ligands);
  for (const bool seen : {true, false}) {
    const std::vector<int64_t> some = those_with(ranking, seen);
    if (some.empty()) continue;
    json& of_some = out[seen ? "seen" : "unseen"];
    of_some = train::retrieval_metrics(some, ligands);
    of_some["molecules"] = some.size();
  }
  return out;
}

ResultTable ranking_table(const std::vector<Ranking>& rankings, int64_t ligands) {
  ResultTable out;
  out.columns = {"method", "part", "ligands", "molecules"};
  out.columns.insert(out.columns.end(), std::begin(kShown), std::end(kShown));
  for (const Ranking& ranking : rankings) {
    const json metrics = ranking_metrics(ranking, ligands);
    if (metrics.empty()) continue;
    out.rows.push_back(row_of(ranking.method, ranking.part, "all", ranking.rank.size(), metrics));
    for (const char* some : {"seen", "unseen"}) {
      if (!metrics.contains(some)) continue;
      const json& of_some = metrics.at(some);
      out.rows.push_back(
          row_of(ranking.method, ranking.part, some, of_some.at("molecules"), of_some));
    }
  }
  out.rows.push_back(row_of("chance", "", "all", static_cast<std::size_t>(ligands),
                            train::chance_metrics(ligands)));
  return out;
}

std::vector<Figure> ranking_figures(const std::string& part, const json& metrics) {
  std::vector<Figure> out;
  int place = 0;
  for (const char* name : kShown) {
    if (!metrics.contains(name)) continue;
    Figure& figure = out.emplace_back(name, metrics.at(name).get<double>());
    figure.part = part;
    figure.place = ++place;
    const bool is_rank = std::string_view(name) == "median_rank";
    figure.better = is_rank ? Better::kLess : Better::kMore;
    figure.is_tile = part == "test" && !is_rank;
    if (std::string_view(name) == "hit_10") figure.headline = 1;
  }
  return out;
}

}  // namespace kdgat::equivariant
