// What scripts/bench latency measures: one window at a time, from the text of its rows to a score.
//
//   kdgat_score_bench MODEL LOG [ROUNDS]
//       one JSON object: microseconds of a window, and of its parts
#include <ATen/Parallel.h>
#include <c10/core/InferenceMode.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <iostream>
#include <nlohmann/json.hpp>

#include "bench.h"
#include "data/can/log_windows.h"
#include "model/model_file.h"
#include "objective/load_scorer.h"

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
  graph::LineReader reader{std::filesystem::path(path)};
  for (std::string_view line; reader.next(line);) out.append(line).push_back('\n');
  return out;
}

void measure(const std::string& model_file, const std::string& log, int rounds) {
  at::set_num_threads(1);
  const auto header = model::load_header(graph::SafetensorsFile::open(model_file));
  const auto scorer = objective::load_scorer(model_file, torch::kCPU);
  const graph::Vocabulary vocabulary(header.data.at("vocabulary").get<std::vector<int64_t>>());
  const json& import = header.data.at("import");
  const graph::WindowShape shape{import.at("window"), import.at("stride"), import.at("chunk_rows")};
  const std::string text = text_of(log);

  std::vector<double> whole, graphs, model;
  graph::GraphBatch batch;
  const std::vector<int64_t> first{0};
  double sum = 0;
  for (int round = 0; round <= rounds; ++round) {
    graph::LogWindows windows(graph::CanLog(graph::LineReader(log, text), "auto", false), shape,
                              vocabulary);
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

}  // namespace

int main(int argc, char** argv) {
  return kdgat::bench::run("usage: kdgat_score_bench MODEL LOG [ROUNDS]\n", [&] {
    if (argc < 3) return false;
    measure(argv[1], argv[2], argc > 3 ? std::atoi(argv[3]) : 5);
    return true;
  });
}
