#include "pipeline/report/report_figures.h"

#include <algorithm>
#include <map>

namespace kdgat {
namespace {

/// A figure with the part and the name that it has among those of parts.
struct PlacedFigure {
  const Figure* figure;
  std::string part, name, label;
};

PlacedFigure placed(const Figure& figure) {
  PlacedFigure out{&figure, figure.part, figure.name, figure.label};
  if (!figure.part.empty() || !figure.name.starts_with(kOfValidation)) return out;
  out.part = kValPart;
  out.name = figure.name.substr(kOfValidation.size());
  if (figure.label == label_of(figure.name)) out.label = label_of(out.name);
  return out;
}

/// Validation first, the step as a whole last.
std::vector<std::string> parts_of(const std::vector<PlacedFigure>& figures) {
  std::vector<std::string> out;
  for (const PlacedFigure& one : figures) {
    if (std::find(out.begin(), out.end(), one.part) == out.end()) out.push_back(one.part);
  }
  const auto rank = [](const std::string& part) {
    return part.empty() ? 2 : part == kValPart ? 0 : 1;
  };
  std::stable_sort(out.begin(), out.end(),
                   [&](const std::string& a, const std::string& b) { return rank(a) < rank(b); });
  return out;
}

}  // namespace

std::optional<double> MeasureRow::at(std::size_t part) const {
  return part < values.size() ? values[part] : std::nullopt;
}

bool MeasureRow::is_share() const {
  return like.better == Better::kMore && like.decimals > 0 &&
         std::all_of(values.begin(), values.end(),
                     [](const auto& value) { return !value || (*value >= 0 && *value <= 1); });
}

const MeasureRow* FigureSheet::find(const std::string& model, const std::string& label) const {
  const auto found = std::find_if(rows.begin(), rows.end(), [&](const MeasureRow& row) {
    return row.model == model && row.label == label;
  });
  return found == rows.end() ? nullptr : &*found;
}

std::vector<std::string> FigureSheet::models() const {
  std::vector<std::string> out;
  for (const MeasureRow& row : rows) {
    if (std::find(out.begin(), out.end(), row.model) == out.end()) out.push_back(row.model);
  }
  return out;
}

FigureSheet figure_sheet(const std::vector<Figure>& figures) {
  std::vector<PlacedFigure> all;
  all.reserve(figures.size());
  for (const Figure& figure : figures) all.push_back(placed(figure));
  std::map<std::string, std::size_t> rank;  // of the models, in the order of their steps
  for (const Figure& figure : figures) rank.emplace(figure.model, rank.size());
  // What was evaluated on a part stands for what the step said of it while it trained.
  std::stable_sort(all.begin(), all.end(), [&](const PlacedFigure& a, const PlacedFigure& b) {
    return std::pair(rank.at(a.figure->model), a.figure->part.empty()) <
           std::pair(rank.at(b.figure->model), b.figure->part.empty());
  });
  FigureSheet out;
  out.parts = parts_of(all);
  std::vector<std::string> names;  // of the rows
  for (const PlacedFigure& one : all) {
    std::size_t row = 0;
    while (row < names.size() &&
           (names[row] != one.name || out.rows[row].model != one.figure->model)) {
      ++row;
    }
    if (row == names.size()) {
      names.push_back(one.name);
      out.rows.push_back({one.figure->model, one.label, *one.figure, {}});
      out.rows.back().values.resize(out.parts.size());
    }
    const auto part = std::find(out.parts.begin(), out.parts.end(), one.part) - out.parts.begin();
    auto& value = out.rows[row].values[static_cast<std::size_t>(part)];
    if (!value) value = one.figure->value;
  }
  return out;
}

std::vector<std::pair<std::string, int>> bar_legend(const BarChart& chart,
                                                    const FigureSheet& sheet) {
  std::vector<std::pair<std::string, int>> out;
  for (std::size_t part = 0; part < sheet.parts.size(); ++part) {
    const int colour = static_cast<int>(part);
    const bool is_drawn = std::any_of(chart.bars.begin(), chart.bars.end(),
                                      [&](const Bar& bar) { return bar.colour == colour; });
    if (is_drawn) out.emplace_back(part_name(sheet.parts[part]), colour);
  }
  return out;
}

std::string part_name(const std::string& part) {
  return part == kValPart ? "validation" : part.empty() ? "whole step" : part;
}

}  // namespace kdgat
