// Pages of kdgat report, of run folders made by hand.
#pragma once

#include <catch2/catch.hpp>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "pipeline/report/report_html.h"
#include "support/programs/markup_check.h"
#include "support/runs/fake_run.h"

namespace kdgat::test {

inline std::size_t times_in(const std::string& text, const std::string& what) {
  std::size_t out = 0;
  for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; ++at) ++out;
  return out;
}

/// A classifier that trained for six epochs and was evaluated.
inline std::filesystem::path good_run(const std::filesystem::path& root,
                                      const std::string& id = kFirstRun, double lr = 0.01) {
  const std::filesystem::path run =
      write_run(root, "set", id,
                {step_state("gat", "classifier", "done",
                            {{"reason", "option changed: lr 0.1 -> 0.01 (p.yaml:7)"}}),
                 step_state("evaluate", "evaluate")});
  write_training(run / "gat", 6, lr);
  write_evaluation(run / "evaluate", "gat");
  return run;
}

/// pictures.json as a stage leaves it of one part with `logs` logs of `columns` columns each.
inline nlohmann::json pictures_of_logs(int logs, int columns) {
  using nlohmann::json;
  json method = {
      {"name", "detector"},
      {"model", true},
      {"value", 0.981},
      {"low", 0.9},
      {"high", 0.99},
      {"attacks", 100},
      {"benign", 900},
      {"hours", 0.5},
      {"tp", {0, 90, 95, 100}},
      {"fp", {0, 0, 3, 900}},
      {"at", {{"tp", 95}, {"fp", 3}}},
      {"histogram",
       {{"from", -4}, {"to", 4}, {"benign", {800, 97, 2, 1}}, {"attack", {0, 5, 20, 75}}}}};
  json baseline = method;
  baseline.erase("histogram");
  baseline["name"] = "rule <own>";
  baseline["model"] = false;
  json list = json::array();
  for (int log = 0; log < logs; ++log) {
    json x, low, high;
    for (int i = 0; i < columns; ++i) {
      x.push_back(i);
      low.push_back(-3 + (i * 7 % 5) * 0.123);
      high.push_back(-2 + (i * 11 % 7) * 0.345);
    }
    list.push_back({{"name", "dos-" + std::to_string(log)},
                    {"windows", 25'000},
                    {"axis", "seconds"},
                    {"attacks", {{10, 20}, {30, 35}}},
                    {"models",
                     {{{"name", "detector"},
                       {"x", x},
                       {"low", low},
                       {"high", high},
                       {"alarms", {{11, 19}}}}}}});
  }
  return {{"shortfalls", {"test_01: other methods have a higher F1 than detector: <rule> 1.0"}},
          {"measure", "F1"},
          {"parts",
           {{"test_01", {{"methods", {method, baseline}}, {"logs", list}, {"more_logs", 2}}}}}};
}

/// The page of some runs, which is well-formed and whole, with a caption below each title.
inline std::string page_of(const std::vector<ReportRun>& runs) {
  std::string page = report_html(runs, "2026-03-02 09:00 UTC");
  CHECK(markup_problem(page) == "");
  CHECK(times_in(page, "<main>") == 1);
  CHECK(times_in(page, "</main>") == 1);
  CHECK(times_in(page, "<table") == times_in(page, "<caption>"));
  CHECK(times_in(page, "<caption></caption>") + times_in(page, "<caption><span></span>") == 0);
  CHECK(times_in(page, "<figure>") == times_in(page, "<figure><figcaption><b>"));
  CHECK(times_in(page, "</b></figcaption>") + times_in(page, "</b> </figcaption>") == 0);
  return page;
}

inline std::string page_of(const std::vector<std::filesystem::path>& folders) {
  std::vector<ReportRun> runs;
  runs.reserve(folders.size());
  for (const std::filesystem::path& folder : folders) {
    runs.push_back(read_report(folder, PluginCatalog()));
  }
  return page_of(runs);
}

}  // namespace kdgat::test
