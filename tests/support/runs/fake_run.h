// Run folders as kdgat leaves them, made by hand.
#pragma once

#include <array>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "kdgat/figures.h"
#include "pipeline/run/step_metrics.h"
#include "support/can/log_text.h"

namespace kdgat::test {

/// Ids of runs, the earlier one first.
constexpr const char* kFirstRun = "01JDAAAAAAAAAAAAAAAAAAAAK7";
constexpr const char* kSecondRun = "01JDBBBBBBBBBBBBBBBBBBBBM2";

/// run.json of <root>/<dataset>/<id>; `more` adds to it or replaces.
inline std::filesystem::path write_run(const std::filesystem::path& root,
                                       const std::string& dataset, const std::string& id,
                                       const std::vector<nlohmann::json>& steps,
                                       const nlohmann::json& more = nlohmann::json::object()) {
  nlohmann::json document = {{"id", id},
                             {"profile", "smoke"},
                             {"host", "bench"},
                             {"kdgat", "0.1.0"},
                             {"command", "kdgat run --preset smoke"},
                             {"device", "cpu"},
                             {"threads", 2},
                             {"started", "2026-03-01T18:04:00Z"},
                             {"finished", "2026-03-01T18:04:27Z"},
                             {"exit_code", 0},
                             {"steps", steps}};
  document.update(more);
  const std::filesystem::path run = root / dataset / id;
  write_text(run / "run.json",
             document.dump(1, ' ', false, nlohmann::json::error_handler_t::replace));
  return run;
}

inline nlohmann::json step_state(const std::string& step, const std::string& stage,
                                 const std::string& status = "done",
                                 const nlohmann::json& more = nlohmann::json::object()) {
  nlohmann::json state = {{"step", step},     {"stage", stage},
                          {"status", status}, {"reason", "never ran"},
                          {"seconds", 4.0},   {"peak_resident_bytes", 100 << 20}};
  state.update(more);
  return state;
}

/// A step that trained so many epochs: the loss halves with each, the best is the last but one.
inline void write_training(const std::filesystem::path& step, int epochs, double lr = 0.01) {
  using nlohmann::json;
  json line = {{"event", "start"}, {"unix", 100.0}};
  std::string journal = line.dump() + "\n";
  double loss = 1;
  for (int epoch = 1; epoch <= epochs; ++epoch, loss /= 2) {
    line = {{"event", "metrics"},
            {"what", "epoch"},
            {"index", epoch},
            {"unix", 100.0 + epoch},
            {"values",
             {{"train_loss", loss},
              {"val_loss", loss * 1.5},
              {"val_auc", 1 - loss / 4},
              {"val_f1", 0.5},
              {"lr", lr},
              {"memory", {{"peak_allocated", 1 << 20}, {"peak_reserved", 2 << 20}}}}}};
    journal += line.dump() + "\n";
  }
  write_text(step / "journal.jsonl", journal + R"({"event":"end","code":0,"unix":110})" + "\n");
  write_text(step / "config.json", json{{"stage", "classifier"},
                                        {"version", 1},
                                        {"seed", 42},
                                        {"device", "cpu"},
                                        {"threads", 2},
                                        {"options",
                                         {{"lr", lr},
                                          {"batch_size", 64},
                                          {"monitor_metric", "val_loss"},
                                          {"monitor_mode", "min"}}},
                                        {"origin",
                                         {{"lr", "p.yaml:7"},
                                          {"batch_size", "default"},
                                          {"monitor_metric", "default"},
                                          {"monitor_mode", "default"}}}}
                                       .dump());
  const json metrics = {{"best_epoch", epochs - 1}, {"epochs", epochs},
                        {"val_loss", 0.0425},       {"val_auc", 0.955},
                        {"val_f1", 0.838},          {"graphs_per_second", 12469.4}};
  write_text(step / "metrics.json", metrics.dump());
  write_text(step / "step.json",
             json{{"result", {{"summary", "student  epoch " + std::to_string(epochs)}}}}.dump());
  write_text(step / "memory.json",
             json{{"planned", {{"predicted", 3 << 20}}},
                  {"actual", {{"peak_tensor_bytes", 2 << 20}}},
                  {"timeline", {{"seconds", {0, 5}}, {"bytes", {4 << 20, 5 << 20}}}}}
                 .dump());
  write_text(step / "log.txt", "2026-03-01 18:04:01 info 64 graphs in 4 batches\n");
}

/// What a step leaves of a result.
inline void write_result(const std::filesystem::path& step, const StageResult& result) {
  write_text(step / kMetricsFile, result.metrics.dump());
  write_text(step / kFiguresFile, figures_document(figures_of(result)).dump());
}

/// metrics.json and figures.json of a step that evaluated models.
inline void write_judged(const std::filesystem::path& step, nlohmann::json metrics) {
  constexpr std::array<Judged, 5> kJudged = {{{"accuracy", "accuracy", 0, false},
                                              {"precision", "precision"},
                                              {"recall", "recall"},
                                              {"f1", "F1", 1},
                                              {"auc", "AUC", 2}}};
  StageResult result;
  result.figures = evaluation_figures(metrics, kJudged);
  result.metrics = std::move(metrics);
  write_result(step, result);
}

/// What evaluate leaves of models on validation and one test part; without curves as an older one.
inline void write_evaluation(const std::filesystem::path& step,
                             const std::vector<std::string>& models, bool with_curves = true) {
  using nlohmann::json;
  const auto part = [](double f1) {
    return json{{"core",
                 {{"accuracy", 0.979},
                  {"precision", 0.9},
                  {"recall", 0.9},
                  {"f1", f1},
                  {"auc", 0.991},
                  {"threshold", 0.5},
                  {"threshold_from", "fixed"},
                  {"n_samples", 1000}}}};
  };
  const json curve = {{"tp", {50, 90, 100}},
                      {"fp", {0, 10, 900}},
                      {"counts", {{"tp", 90}, {"fp", 10}, {"fn", 10}, {"tn", 890}}}};
  json metrics, rows, curves;
  for (const std::string& model : models) {
    metrics[model] = part(0.8381);
    metrics["test"][model]["test_01"] = part(0.7261);
    rows.push_back({"val", model, "0.838"});
    curves[model] = {{"val", curve}, {"test_01", curve}};
  }
  write_judged(step, metrics);
  const json table = {{"columns", {"part", "model", "F1"}}, {"rows", rows}};
  write_text(step / "step.json", json{{"result", {{"table", table}}}}.dump());
  if (with_curves) write_text(step / "curves.json", curves.dump());
}

inline void write_evaluation(const std::filesystem::path& step, const std::string& model,
                             bool with_curves = true) {
  write_evaluation(step, std::vector{model}, with_curves);
}

}  // namespace kdgat::test
