#include "evaluate/beside.h"

#include <algorithm>
#include <iterator>

#include "engine/compare/judging.h"
#include "engine/compare/pictures.h"
#include "kdgat/atomic_file.h"

namespace kdgat::evaluate {
namespace {

/// The threshold of calibrated windows where each file has its own.
double threshold_of(const Predictions& p, int32_t source) {
  std::size_t f = 0;
  while (p.files.at(f).source != source) ++f;
  return p.file_threshold.at(f);
}

/// What a detector says of windows, by their first rows.
std::map<int64_t, float> scores_by_row(const compare::JudgedLog& log) {
  std::map<int64_t, float> out;
  const std::vector<float>& scores = log.find(compare::kDetector)->scores;
  for (std::size_t w = 0; w < log.first_row.size(); ++w) out[log.first_row[w]] = scores[w];
  return out;
}

}  // namespace

Beside::Beside(const train::Data& data, const Request& request, const Host& host)
    : data_(data), host_(host), folder_(request.run_dir) {
  options_.seed = request.seed;
  options_.threads = request.threads;
  if (data.store.frames() == nullptr || data.store.graphs() == 0) return;
  logs_ = data::stored_logs(data.store);
  options_.window = data.store.row_end()[0] - data.store.row_begin()[0];
  const nlohmann::json held = data.split.options.value("val_fraction", nlohmann::json());
  if (held.is_number()) options_.val_fraction = held;
}

void Beside::add(const std::string& model, const Predictions& p, double threshold,
                 bool is_ablated) {
  if (logs_.empty()) return;
  for (const Place& place : places(p)) {
    std::vector<compare::Verdicts>& said = said_of(p.name(), place.log, windows_of(p, place));
    const auto say = [&](const std::string& method, double above) {
      compare::Verdicts& verdicts =
          said.emplace_back(compare::Verdicts{method, {}, above, is_ablated});
      for (const std::size_t i : place.positions) verdicts.scores.push_back(p.raw[i]);
      if (!is_ablated) list(method);
    };
    say(model, threshold);
    if (p.files.empty()) continue;
    say(model + " calibrated", threshold_of(p, static_cast<int32_t>(place.log)));
  }
}

void Beside::add(const std::string& step, const decision::DetectorModel& detector,
                 const std::function<bool(const std::string& part)>& is_wanted) {
  if (logs_.empty()) logs_ = data::stored_logs(data_.store);  // says that there are no frames
  for (std::size_t log = 0; log < logs_.size(); ++log) {
    const std::string& part = logs_[log].part();
    if (logs_[log].trains() || !is_wanted(part)) continue;
    const auto whole = heard(step, log, detector);
    if (!whole) continue;
    const std::map<int64_t, float> scores = scores_by_row(*whole);
    compare::JudgedLog empty = *whole;
    empty.said.clear();
    std::vector<compare::Verdicts>& said = said_of(part, log, std::move(empty));
    compare::Verdicts verdicts{step, {}, 0};
    for (const int64_t row : judged_[at_.at({part, log})].first_row) {
      const auto at = scores.find(row);
      if (at != scores.end()) verdicts.scores.push_back(at->second);
    }
    said.push_back(std::move(verdicts));
    list(step);
  }
}

std::optional<compare::JudgedLog> Beside::heard(const std::string& step, std::size_t log,
                                                const decision::DetectorModel& detector) const {
  try {
    return compare::judge(logs_[log], detector);
  } catch (const Error& error) {
    if (error.code() != ExitCode::kData) throw;
    host_.log("warning", step + ": " + error.diagnostics().front().message);
    return {};
  }
}

void Beside::add_joined(const std::string& model, const Predictions& p,
                        const decision::JoinedFiles& files) {
  if (logs_.empty()) return;
  for (const Place& place : places(p)) {
    const auto whole = heard(model, place.log, files.model);
    if (!whole) continue;
    const std::map<int64_t, float> scores = scores_by_row(*whole);
    decision::ChannelOnLog channel(files.channel);
    // All that the profile was learned from, those that calibrated a threshold among them.
    for (std::size_t i = 0; whole->own > 0 && i < p.graph.size(); ++i) {
      const auto g = static_cast<std::size_t>(p.graph[i]);
      if (static_cast<std::size_t>(data_.store.source_of()[g]) == place.log &&
          data_.store.row_begin()[g] < whole->first_row.front()) {
        channel.learn(p.raw[i]);
      }
    }
    compare::Verdicts verdicts{model, {}, 0};
    for (const std::size_t i : place.positions) {
      const int64_t row = data_.store.row_begin()[static_cast<std::size_t>(p.graph[i])];
      const auto said = scores.find(row);
      if (said == scores.end()) continue;
      verdicts.scores.push_back(std::max(said->second, channel.score(p.raw[i])));
    }
    said_of(p.name(), place.log, windows_of(p, place)).push_back(std::move(verdicts));
    list(model);
  }
}

std::vector<compare::Verdicts>& Beside::said_of(const std::string& part, std::size_t log,
                                                compare::JudgedLog windows) {
  const auto [at, is_new] = at_.try_emplace({part, log}, judged_.size());
  if (is_new) judged_.push_back(std::move(windows));
  return judged_[at->second].said;
}

void Beside::list(const std::string& model) {
  if (std::find(models_.begin(), models_.end(), model) == models_.end()) models_.push_back(model);
}

std::vector<Beside::Place> Beside::places(const Predictions& p) {
  const graph::GraphStore& store = data_.store;
  std::map<std::size_t, std::vector<std::size_t>> by_log;
  for (const std::size_t i : judged(p)) {
    const auto g = static_cast<std::size_t>(p.graph[i]);
    const auto log = static_cast<std::size_t>(store.source_of()[g]);
    const int64_t begin = store.row_begin()[g], rows = store.row_end()[g] - begin;
    if (logs_[log].trains()) {
      left_out_.insert(p.name() +
                       ": no baselines beside the models, its windows are of logs that "
                       "baselines learn from");
      return {};
    }
    if (rows != options_.window || begin % options_.window != 0 ||
        begin + rows > logs_[log].rows()) {
      left_out_.insert(p.name() + ": no baselines beside the models, its graphs are not each " +
                       std::to_string(options_.window) +
                       " rows of a log one after another (stride, chunk_rows, or several captures "
                       "in one file)");
      return {};
    }
    by_log[log].push_back(i);
  }
  std::vector<Place> out;
  for (auto& [log, positions] : by_log) {
    std::sort(positions.begin(), positions.end(), [&](std::size_t a, std::size_t b) {
      return store.row_begin()[static_cast<std::size_t>(p.graph[a])] <
             store.row_begin()[static_cast<std::size_t>(p.graph[b])];
    });
    out.push_back({log, std::move(positions)});
  }
  return out;
}

compare::JudgedLog Beside::windows_of(const Predictions& p, const Place& place) const {
  compare::JudgedLog out;
  out.name = logs_[place.log].name();
  out.part = p.name();
  out.size = options_.window;
  for (const std::size_t i : place.positions) {
    out.labels.push_back(p.label[i]);
    out.first_row.push_back(data_.store.row_begin()[static_cast<std::size_t>(p.graph[i])]);
  }
  compare::mark_windows(logs_[place.log], ids_of_vehicle(logs_[place.log]), out);
  return out;
}

std::vector<uint32_t> Beside::ids_of_vehicle(const data::StoredLog& log) const {
  const int64_t ahead = std::max(log.first_attack(), data::kLeastOwn * options_.window);
  const std::vector<uint32_t> ids = log.benign_ids(ahead);
  std::vector<uint32_t> out;
  for (const data::StoredLog& other : logs_) {
    if (!other.trains()) continue;
    const std::vector<uint32_t> theirs = other.benign_ids(other.rows());
    if (data::overlap(ids, theirs) <= data::kSameVehicle) continue;
    out.insert(out.end(), theirs.begin(), theirs.end());
  }
  return out;
}

void Beside::judge() {
  std::vector<data::StoredLog> training;
  std::copy_if(logs_.begin(), logs_.end(), std::back_inserter(training),
               [](const data::StoredLog& log) { return log.trains(); });
  const auto stop_if_cancelled = [&] {
    const ExitCode code = host_.cancelled();
    if (code != ExitCode::kOk) throw Error(code, "stopped while fitting baselines");
  };
  const auto baselines = compare::Baselines::fit(training, options_, stop_if_cancelled);
  for (const auto& [key, at] : at_) {
    stop_if_cancelled();
    compare::JudgedLog& log = judged_[at];
    std::vector<int64_t> numbers;
    for (const int64_t row : log.first_row) numbers.push_back(row / options_.window);
    for (compare::Verdicts& said : baselines.judge(logs_[key.second], numbers)) {
      log.said.push_back(std::move(said));
    }
  }
}

void Beside::finish(StageResult& result) {
  if (data_.store.frames() == nullptr) {
    result.summary = "data.features=v3 puts baselines beside the models";
    return;
  }
  for (const std::string& reason : left_out_) host_.log("warning", reason);
  if (judged_.empty()) return;
  judge();
  const compare::Comparison comparison(judged_, models_, data::same_content(logs_));
  for (const auto* list : {&comparison.notes(), &comparison.shortfalls()}) {
    for (const std::string& sentence : *list) host_.log("warning", sentence);
  }
  result.metrics["baselines"] = comparison.metrics();
  write_file(folder_ / compare::kPicturesFile,
             Host::dump(compare::pictures_of(judged_, comparison)) + "\n");
  for (const ResultTable* table : {&comparison.main(), &comparison.more(), &comparison.kinds()}) {
    result.tables.push_back(*table);
  }
}

}  // namespace kdgat::evaluate
