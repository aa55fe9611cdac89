// What scripts/bench latency measures: one window at a time, from the text of its rows to a score.
//
//   kdgat_score_bench MODEL LOG [ROUNDS]
//       one JSON object: microseconds of a window, and of its parts; MODEL may be a detector.json
#include <ATen/Parallel.h>
#include <c10/core/InferenceMode.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <iostream>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <string_view>

#include "bench.h"
#include "engine/compare/rule.h"
#include "engine/data/can/windows/log_windows.h"
#include "engine/decision/detector/window_scorer.h"
#include "engine/file/line_reader.h"
#include "engine/model/model_file.h"
#include "engine/objective/load_scorer.h"

namespace {

using namespace kdgat;
using nlohmann::json;
using Clock = std::chrono::steady_clock;

json percentiles(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const auto at = [&](double share) {
    return values.at(static_cast<std::size_t>(share * static_cast<double>(values.size() - 1)));
  };
  return {{"p50", at(0.5)}, {"p99", at(0.99)}, {"p999", at(0.999)}, {"max", at(1)}};
}

double microseconds(Clock::time_point from, Clock::time_point to) {
  return std::chrono::duration<double, std::micro>(to - from).count();
}

std::string text_of(const std::string& path) {
  std::string out;
  file::LineReader reader{std::filesystem::path(path)};
  for (std::string_view line; reader.next(line);) out.append(line).push_back('\n');
  return out;
}

void measure(const std::string& model_file, const std::string& log, int rounds) {
  at::set_num_threads(1);
  const auto header = model::load_header(file::SafetensorsFile::open(model_file));
  const auto scorer = objective::load_scorer(model_file, torch::kCPU);
  const data::Vocabulary vocabulary(header.data.at("vocabulary").get<std::vector<int64_t>>());
  const json& import = header.data.at("import");
  const data::WindowShape shape{import.at("window"), import.at("stride"), import.at("chunk_rows")};
  const std::string text = text_of(log);

  std::vector<double> whole, graphs, model;
  graph::GraphBatch batch;
  const std::vector<int64_t> first{0};
  double sum = 0;
  for (int round = 0; round <= rounds; ++round) {
    data::CanLog frames(file::ByteReader(log, text), "auto", false);
    data::LogWindows windows(frames, shape, vocabulary);
    for (;;) {
      const c10::InferenceMode inference;
      const auto begin = Clock::now();
      if (windows.read(1) == 0) break;
      graph::gather(windows.graphs(), first, scorer->with_edge_attr(), batch);
      const auto built = Clock::now();
      sum += scorer->score_of(scorer->raw_score(batch).item<float>());
      const auto end = Clock::now();
      if (round == 0) continue;  // caches and allocators warm up
      whole.push_back(microseconds(begin, end));
      graphs.push_back(microseconds(begin, built));
      model.push_back(microseconds(built, end));
    }
  }
  std::cout << json{{"windows", whole.size()},
                    {"window_us", percentiles(whole)},
                    {"graph_us", percentiles(graphs)},
                    {"model_us", percentiles(model)},
                    {"mean_score", sum / static_cast<double>(whole.size())}}
                   .dump()
            << '\n';
}

constexpr std::size_t kReasons = 5;  // as kdgat why tells

/// Windows after the beginning that is listened to; beside the detector the rule that it is held
/// against, and of flagged windows their reasons.
void measure_detector(const std::string& model_file, const std::string& log, int rounds) {
  const auto model = decision::DetectorModel::read(model_file);
  const std::string text = text_of(log);
  std::vector<double> whole, reading, judging, rule_only, reasons;
  std::vector<data::CanFrame> frames(static_cast<std::size_t>(model.window));
  double sum = 0;
  for (int round = 0; round <= rounds; ++round) {
    decision::WindowScorer watch(
        model, log, 0, [&](const decision::JudgedWindow& window) { sum += window.score; });
    std::optional<compare::RuleWindows> rule;
    data::CanLog file(file::ByteReader(log, text), "auto", false);
    for (;;) {
      const auto begin = Clock::now();
      std::size_t rows = 0;
      while (rows < frames.size() && file.next(frames[rows])) ++rows;
      if (rows < frames.size()) break;
      const auto read = Clock::now();
      const bool was_listening = watch.is_listening();
      for (const data::CanFrame& frame : frames) watch.add(frame, false);
      const auto judged = Clock::now();
      if (watch.is_listening()) continue;
      if (!rule) rule.emplace(watch.profile(), model.window);
      for (const data::CanFrame& frame : frames) rule->add(frame);
      const auto end = Clock::now();
      sum += rule->odd();
      if (round == 0 || was_listening) continue;  // caches warm up; many windows at once
      whole.push_back(microseconds(begin, end));
      reading.push_back(microseconds(begin, read));
      judging.push_back(microseconds(read, judged));
      rule_only.push_back(microseconds(judged, end));
    }
  }
  if (whole.empty()) throw std::runtime_error(log + ": nothing is left of it behind its beginning");
  const decision::WindowScorer* watching = nullptr;
  decision::WindowScorer watch(model, log, 0, [&](const decision::JudgedWindow& one) {
    if (one.is_own || one.score <= 0) return;
    const auto begin = Clock::now();
    sum += watching->reasons(kReasons).rest;
    reasons.push_back(microseconds(begin, Clock::now()));
  });
  watching = &watch;
  data::CanLog file(file::ByteReader(log, text), "auto", false);
  for (data::CanFrame frame; file.next(frame);) watch.add(frame, file.restarted());
  watch.finish();
  const json of_flagged = reasons.empty() ? json() : percentiles(reasons);
  std::cout << json{{"windows", whole.size()},
                    {"flagged", reasons.size()},
                    {"reasons_us", of_flagged},
                    {"window_us", percentiles(whole)},
                    {"text_us", percentiles(reading)},
                    {"detector_us", percentiles(judging)},
                    {"rule_us", percentiles(rule_only)},
                    {"mean_score", sum / static_cast<double>(whole.size())}}
                   .dump()
            << '\n';
}

}  // namespace

int main(int argc, char** argv) {
  return kdgat::bench::run("usage: kdgat_score_bench MODEL LOG [ROUNDS]\n", [&] {
    if (argc < 3) return false;
    const int rounds = argc > 3 ? std::atoi(argv[3]) : 5;
    const bool is_detector = std::string_view(argv[1]).ends_with(".json");
    (is_detector ? measure_detector : measure)(argv[1], argv[2], rounds);
    return true;
  });
}
