// Numbers by which runs are judged and compared: metrics of their steps by name, and options in
// which they differ. Knows the forms in which stages write metrics.json, but no stage by name
// except in choosing the model that speaks for a run.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "pipeline/run/run_record.h"

namespace kdgat {

/// One number of a run.
struct Figure {
  std::string step;  ///< that was judged: a model of evaluate, or the step that trained
  std::string part;  ///< "val", "test_01", ...; "" = the step as a whole
  std::string name;  ///< "f1", "auc", "val_loss", "best_epoch"
  double value = 0;
};

/// What is worth a line, of finished steps: of models that were evaluated accuracy, precision,
/// recall, f1 and auc of each part, of steps that train the figures of validation and how long it
/// took.
std::vector<Figure> figures(const RunRecord& run);

/// The name of a figure in words: "f1" is "F1", "val_loss" is "val loss".
std::string figure_name(const std::string& name);
/// "0.941", "38,200"
std::string figure_text(const std::string& name, double value);

/// The step whose figures speak for a run: the best of a sweep, an evaluated fusion, else a
/// classifier, else the last one with figures; "" if there is none.
std::string spokesman(const RunRecord& run, const std::vector<Figure>& figures);

/// "F1 0.838  AUC 0.955  classifier, val"; "" if the run has no figures.
std::string headline(const RunRecord& run);

/// A row of numbers that several runs have, in the order of the runs.
struct FigureRow {
  std::string step, part, name;
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

/// In the order of the steps. A step that only some of the runs have is one difference, its stage.
std::vector<Difference> differences(const std::vector<RunRecord>& runs);

}  // namespace kdgat
