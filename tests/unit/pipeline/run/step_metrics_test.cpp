// What metrics.json of a step comes to: with figures, and of stages that say none.
#include "pipeline/run/step_metrics.h"

#include <array>
#include <catch2/catch.hpp>
#include <cmath>

#include "kdgat/figures.h"
#include "support/programs/command.h"
#include "support/runs/fake_run.h"

using namespace kdgat;
using namespace kdgat::test;
using nlohmann::json;

namespace {

std::string names_of(const std::vector<Figure>& figures) {
  std::string out;
  for (const Figure& f : figures) {
    out += (out.empty() ? "" : " ") + (f.model.empty() ? "" : f.model + "/") +
           (f.part.empty() ? "" : f.part + "/") + f.name;
  }
  return out;
}

std::vector<Figure> figures_in(const json& metrics) {
  StageResult result;
  result.metrics = metrics;
  return figures_of(result);
}

json tables(double f1) {
  return {{"core", {{"auc", 0.75}, {"f1", f1}, {"threshold", 0.5}, {"threshold_from", "val"}}},
          {"additional", {{"kappa", 0.25}}}};
}

}  // namespace

TEST_CASE("every number of an evaluation that says no figures is recorded, none is listed",
          "[figures]") {
  const json metrics = {{"vgae", tables(0.5)},
                        {"gat", tables(0.625)},
                        {"test", {{"gat", {{"test_01", tables(0.25)}}}}}};
  CHECK(names_of(figures_in(metrics)) ==
        "gat/val/auc gat/val/f1 gat/val/threshold gat/val/kappa "
        "gat/test_01/auc gat/test_01/f1 gat/test_01/threshold gat/test_01/kappa "
        "vgae/val/auc vgae/val/f1 vgae/val/threshold vgae/val/kappa");
  CHECK(listed_figures(figures_in(metrics)).empty());
}

TEST_CASE("decisions of an evaluation have the figures that count them", "[figures]") {
  StageResult result;
  result.metrics = {{"vgae", tables(0.5)},
                    {"gat", tables(0.625)},
                    {"test", {{"gat", {{"test_01", tables(0.25)}}}}}};
  result.figures =
      evaluation_figures(result.metrics, std::array<Judged, 2>{{{"f1", "F1"}, {"auc", "AUC"}}});
  const std::vector<Figure> figures = figures_of(result);
  CHECK(names_of(listed_figures(figures)) ==
        "gat/val/f1 gat/val/auc vgae/val/f1 vgae/val/auc gat/test_01/f1 gat/test_01/auc");
  const std::vector<Decision> all = read_decisions(result.metrics, figures);
  REQUIRE(all.size() == 3);
  CHECK(all[1].part == "test_01");
  CHECK(all[1].threshold == 0.5);
  CHECK(all[1].from == "val");
  CHECK(names_of(all[1].figures) == "gat/test_01/f1 gat/test_01/auc");
}

TEST_CASE("a step that trains without figures is read by its form", "[figures]") {
  const json metrics = {{"val_loss", 0.5},
                        {"best_epoch", 3},
                        {"steps", 40},
                        {"batch", {{"graphs", 7}}},
                        {"parts", {{"train", {{"f1", 1.0}}}, {"test", {{"f1", 0.5}, {"x", 1}}}}}};
  std::vector<Figure> recorded = figures_in(metrics);
  CHECK(names_of(listed_figures(recorded)) == "val_loss best_epoch test/f1 train/f1");
  std::erase_if(recorded, [](const Figure& figure) { return !figure.is_recorded; });
  CHECK(names_of(recorded) == "best_epoch steps val_loss");
  CHECK(best_epoch_of(metrics) == 3);
  CHECK(best_epoch_of({{"best_episode", 9}}) == 9);
  CHECK(epochs_of({{"epochs", 12}}) == 12);
}

TEST_CASE("figures that a stage gives are the only ones", "[figures]") {
  StageResult result;
  result.metrics = {{"val_f1", 0.5}, {"gain", 2.5}};
  Figure gain("gain", 2.5);
  gain.place = 1;
  result.figures = {gain, Figure("cost", 1), Figure("lost", std::nan(""))};
  const ScratchFolder step;
  write_text(step / kMetricsFile, result.metrics.dump());
  write_text(step / kFiguresFile, figures_document(figures_of(result)).dump());
  const std::vector<Figure> read = read_figures(step.path());
  CHECK(names_of(read) == "gain cost");
  CHECK(names_of(listed_figures(read)) == "gain");
}

TEST_CASE("figures of a step that an older program wrote are in its metrics.json", "[figures]") {
  const ScratchFolder step;
  const json figures = {{{"name", "f1"}, {"value", 1}}, {{"name", "cost"}, {"value", 3}}};
  write_text(step / kMetricsFile, json{{"cost", 3}, {"figures", figures}}.dump());
  const std::vector<Figure> read = read_figures(step.path());
  CHECK(names_of(read) == "f1 cost");
  CHECK(read[1].decimals == 0);
  CHECK(read[0].decimals > 0);
}

TEST_CASE("an evaluated model may be called figures", "[figures]") {
  StageResult result;
  result.metrics = {{"figures", tables(0.5)}};
  result.figures = {Figure("f1", 0.5)};
  const ScratchFolder step;
  write_text(step / kMetricsFile, result.metrics.dump());
  CHECK(names_of(figures_of(result)) == "f1");
  CHECK(names_of(read_figures(step.path())).starts_with("figures/val/auc"));
  REQUIRE(read_decisions(result.metrics, figures_of(result)).size() == 1);
  CHECK(read_decisions(result.metrics, {})[0].model == "figures");
}

TEST_CASE("figures do not need metrics", "[figures]") {
  StageResult result;
  CHECK(figures_of(result).empty());
  result.figures = {Figure("f1", 0.5)};
  CHECK(names_of(figures_of(result)) == "f1");
  result.metrics = "none";
  CHECK(names_of(figures_of(result)) == "f1");
}

TEST_CASE("metrics of any form give no figure rather than an error", "[figures]") {
  for (const json& metrics :
       {json(), json(3), json::array({1}), json{{"parts", "x"}, {"test", {1}}, {"best_epoch", "x"}},
        json{{"figures", {1, "f1"}}}, json{{"test", {{"gat", 3}}}, {"gat", {{"core", 2}}}},
        json{{"parts", {{"test", 5}}}}}) {
    INFO(metrics);
    const ScratchFolder step;
    write_text(step / kMetricsFile, metrics.dump());
    CHECK(read_figures(step.path()).empty());
    CHECK(read_decisions(metrics, {}).empty());
    CHECK(read_class_counts(metrics).empty());
    CHECK(best_epoch_of(metrics) == 0);
  }
}

TEST_CASE("counted decisions come to rates", "[figures]") {
  const std::vector<Figure> rates =
      figures_of_counts(*read_counts({{"tp", 9}, {"fp", 1}, {"fn", 9}, {"tn", 1}}));
  CHECK(names_of(rates) == "precision recall f1");
  CHECK(rates[0].value == 0.9);
  CHECK(rates[1].value == 0.5);
  CHECK(figures_of_counts({}).back().value == 0);
  CHECK_FALSE(read_counts(json()));
}
