// Numbers by which runs are compared: the figures of their steps, and options in which
// they differ. Knows no metric and no stage: which figure is told where, its stage has marked
// (kdgat/result.h), and which stage speaks for a run, its description says.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "kdgat/result.h"
#include "pipeline/plugin/plugin_catalog.h"
#include "pipeline/run/run_record.h"

namespace kdgat {

/// What is worth a line, of finished steps. `model` of each is a step: the one that was evaluated,
/// or the one that trained.
std::vector<Figure> figures(const RunRecord& run);

/// The same of one step, from its folder.
std::vector<Figure> figures_of_step(const std::string& step, const std::filesystem::path& folder);

/// "0.941", "38,200"
std::string figure_text(const Figure& like, double value);

/// A figure like this one for a mean or a spread of such: that of counts is rarely a count.
Figure as_mean(Figure like);

/// The step whose figures speak for a run: the best of a sweep, else the first of the stage that
/// speaks most, else the last one with figures for a headline, or with any; "" if there is none.
std::string spokesman(const RunRecord& run, const std::vector<Figure>& figures,
                      const PluginCatalog& catalog);

/// Those of a model that a stage has marked for one place: of validation where it was evaluated on
/// parts, else of the step as a whole.
std::vector<Figure> marked_figures(const std::vector<Figure>& figures, const std::string& step,
                                   const std::function<bool(const Figure&)>& is_marked);

/// "F1 0.838  AUC 0.955  classifier, val"; "" if the run has no figures.
std::string headline(const RunRecord& run, const PluginCatalog& catalog);
/// The same of the run in a folder, for its own record; none where its files cannot be read.
std::optional<std::string> headline_to_record(const std::filesystem::path& run,
                                              const PluginCatalog& catalog);

/// A row of numbers that several runs have, in the order of the runs.
struct FigureRow {
  Figure figure;  ///< of the first run that has it
  std::vector<std::optional<double>> values;

  bool is_equal() const;  ///< the same in all of them
};

/// Every figure of at least one run.
std::vector<FigureRow> side_by_side(const std::vector<std::vector<Figure>>& runs);

/// An option, a version or the data in which runs differ. A run that has no such step has "".
struct Difference {
  std::string step;  ///< "" = of the run itself
  std::string name;
  std::vector<std::string> values;
};

/// Which of the values of runs, or means of groups of them, stand out: the best ones where they
/// differ. Only figures of validation data have any: by those a run may be chosen, by test data
/// never.
std::vector<bool> best_values(const Figure& figure,
                              const std::vector<std::optional<double>>& values);

/// In the order of the steps. A step that only some of the runs have is one difference, its stage.
std::vector<Difference> differences(const std::vector<RunRecord>& runs);

}  // namespace kdgat
