// The parts of a report, each as markup. A part with nothing to show is "".
#pragma once

#include <string>
#include <vector>

#include "pipeline/report/report_model.h"
#include "pipeline/show/chart_svg.h"

namespace kdgat {

/// "2026-11-21 18:04 UTC": a report is read at another time and place.
std::string time_text(const std::string& iso);
/// An escaped text that may be broken after each underscore, where a narrow page needs it.
std::string breakable(const std::string& text);
/// <section> with a heading; "" if there is no `inner`. `id` names it in links.
std::string section(const std::string& id, const std::string& title, const std::string& inner);
/// <figure> of a chart below its title and a caption, which says what is drawn; "" if there is
/// nothing to draw.
std::string figure(const Chart& chart, const std::string& caption);
/// The same of a picture that is there already.
std::string figure(const std::string& title, const std::string& svg, const std::string& caption);
/// A chart of two shares, each from 0 to 1, with a line for each of several models.
Chart chart_of_shares(const std::string& title, const std::string& x, const std::string& y);
/// Figures beside one another where there is room.
std::string grid(const std::string& figures);
/// What is shown on request; "" if there is no `inner`.
std::string details(const std::string& title, const std::string& inner);
/// A state as a word on its own ground.
std::string badge(const std::string& state);

/// report_run.cpp: of one run. `id` begins the ids of the sections.
std::string run_facts(const ReportRun& run);
std::string failures_section(const ReportRun& run, const std::string& id);
std::string warnings_section(const ReportRun& run, const std::string& id);
std::string results_section(const ReportRun& run, const std::string& id);
std::string steps_section(const ReportRun& run, const std::string& id);
std::string memory_section(const ReportRun& run, const std::string& id);
std::string options_section(const ReportRun& run, const std::string& id);
std::string data_section(const ReportRun& run, const std::string& id);

/// report_results.cpp: the figures by which runs are compared, of each step, validation beside
/// test.
std::string figures_section(const ReportRun& run, const std::string& id);
/// report_deltas.cpp: what a step gains over its teacher, the same step without one, itself with
/// something taken away, and the baselines.
std::string deltas_section(const ReportRun& run, const std::string& id);

/// Of a sweep, what was tried and what it came to.
std::string sweep_section(const ReportRun& run, const std::string& id);

/// report_training.cpp: loss, figures of validation and learning rate of each step that trains.
std::string training_section(const ReportRun& run, const std::string& id);

/// report_detection.cpp: ROC and precision against recall, decisions and thresholds, confusion of
/// classes.
std::string detection_section(const ReportRun& run, const std::string& id);
/// The two pictures of one part; a line for each of `shown`, of which not all need have curves.
/// `names` stand in the legend.
std::string detection_figures(const std::string& part, const std::vector<Detection>& shown,
                              const std::vector<std::string>& names);

/// report_windows.cpp: models and baselines on the same windows of each part, and scores over time.
std::string windows_section(const ReportRun& run, const std::string& id);

struct LogPicture {
  std::string log;  ///< its name below the folder of logs
  std::string svg;
};
/// report_windows.cpp: the scores over time of each log that a report draws, by the first model of
/// its step. Each is an SVG file of its own.
std::vector<LogPicture> log_pictures(const ReportRun& run);

/// report_compare.cpp: what several runs are, differ in and come to.
std::string compare_sections(const std::vector<ReportRun>& runs);
/// report_seeds.cpp: of runs that differ in the seed alone, mean and spread of figures and curves,
/// and groups of such runs beside one another. "" where no two runs are of one group.
std::string seeds_section(const std::vector<ReportRun>& runs);
/// Names of the steps of all runs, each once.
std::vector<std::string> step_names(const std::vector<ReportRun>& runs);
/// "A" for the first run.
std::string letter(std::size_t run);

}  // namespace kdgat
