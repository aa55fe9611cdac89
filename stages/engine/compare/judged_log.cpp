#include "engine/compare/judged_log.h"

#include <algorithm>
#include <filesystem>

#include "engine/data/can/frames/protocol_ids.h"
#include "engine/data/can/synthetic/attack_names.h"

namespace kdgat::compare {
namespace {

bool is_word_end(char c) { return c == '-' || c == '_' || c == '.' || c == ' '; }

}  // namespace

const Verdicts* JudgedLog::find(const std::string& method) const {
  const auto found = std::find_if(said.begin(), said.end(),
                                  [&](const Verdicts& one) { return one.method == method; });
  return found == said.end() || found->scores.empty() ? nullptr : &*found;
}

std::string attack_of(const std::string& name) {
  std::string stem = std::filesystem::path(name).filename().string();
  stem.erase(std::min(stem.find('.'), stem.size()));
  std::string injected;  // of several the longest: "fuzzing-known" is no attack "known"
  for (const std::string& kind : data::all_attacks()) {
    if (stem.ends_with("-" + kind) && kind.size() > injected.size()) injected = kind;
  }
  if (!injected.empty()) return injected;
  const auto end = std::find_if(stem.begin(), stem.end(), is_word_end);
  return {stem.begin(), end == stem.begin() ? stem.end() : end};
}

void mark_windows(const data::StoredLog& log, std::vector<uint32_t> benign_ids, JudgedLog& out) {
  constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  const int64_t first_attack = log.first_attack();
  int64_t last_attack = log.rows() - 1;
  while (last_attack >= 0 && !log.is_attack(last_attack)) --last_attack;
  const bool is_known = !benign_ids.empty() || first_attack >= data::kLeastOwn * out.size;
  const std::vector<uint32_t> ahead = log.benign_ids(first_attack);
  benign_ids.insert(benign_ids.end(), ahead.begin(), ahead.end());
  std::sort(benign_ids.begin(), benign_ids.end());

  const std::size_t windows = out.labels.size();
  const bool has_times = out.begin.size() == windows;
  out.shadow.assign(windows, 0);
  out.suspect.assign(windows, 0);
  out.attacked.assign(windows, kNone);
  const auto is_attack = [&](std::size_t w) { return w < windows && out.labels[w] == 1; };
  for (std::size_t w = 0; w < windows; ++w) {
    const int64_t begin = out.first_row[w], end = std::min(begin + out.size, log.rows());
    if (out.seconds.size() < windows) out.seconds.push_back(log.seconds(begin, end));
    if (!has_times) {
      out.begin.push_back(log.time(begin));
      out.end.push_back(log.time(end - 1));
    }
    if (is_attack(w)) {
      int64_t row = begin;
      while (row + 1 < end && !log.is_attack(row)) ++row;
      out.attacked[w] = log.time(row);
      continue;
    }
    out.shadow[w] = w > 0 && is_attack(w - 1) ? 1 : 0;
    const bool behind = last_attack >= 0 && begin > last_attack;
    if (!is_known || (!behind && out.shadow[w] == 0 && !is_attack(w + 1))) continue;
    for (int64_t row = begin; row < end; ++row) {
      if (data::is_diagnostic(log.id(row))) continue;
      out.suspect[w] +=
          std::binary_search(benign_ids.begin(), benign_ids.end(), log.key(row)) ? 0 : 1;
    }
  }
}

}  // namespace kdgat::compare
