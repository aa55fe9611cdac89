#include "engine/data/core/class_labels.h"

#include <cmath>
#include <optional>
#include <unordered_set>

#include "engine/file/number_text.h"
#include "kdgat/error.h"
#include "kdgat/text.h"

namespace kdgat::data {

void require_classes(const std::vector<std::string>& labels, const LabelPlace& place,
                     bool checks_count) {
  constexpr std::size_t kFewClasses = 5;  // so many may have one graph each
  std::unordered_set<std::string> distinct;
  std::size_t labelled = 0, first = 0;
  bool are_numbers = true;
  std::optional<std::size_t> fraction;
  for (std::size_t g = 0; g < labels.size(); ++g) {
    if (labels[g].empty()) continue;
    const std::optional<double> number = file::number_in(labels[g]);
    const bool is_number = number && std::isfinite(*number);
    are_numbers = are_numbers && is_number;
    if (labelled++ == 0) first = g;
    if (!fraction && is_number && *number != std::floor(*number)) fraction = g;
    distinct.insert(labels[g]);
  }
  if (are_numbers && fraction) {
    throw Error(ExitCode::kData,
                place.name + " is " + file::shown(labels[*fraction]) +
                    ", not the number or name of a class",
                place.hint, place.where(*fraction));
  }
  if (checks_count && distinct.size() > kFewClasses && labelled <= 2 * distinct.size()) {
    throw Error(
        ExitCode::kData,
        place.name + " has " + std::to_string(distinct.size()) + " different " +
            (are_numbers ? "numbers" : "names") + " for " + std::to_string(labelled) + " " +
            place.of + ", " + file::shown(labels[first]) + " among them: too many to be classes",
        are_numbers ? place.hint : "another column or word is the label?", place.where(first));
  }
}

void report_unmet_labels(const std::string& table, const std::vector<std::string>& names,
                         Notes& notes) {
  if (names.empty()) return;
  const auto others = std::ssize(names) - 1;
  notes.push_back({table,
                   "no graph has the label of " + file::shown(names.front()) +
                       (others > 0 ? " and of " + grouped(others) + " more rows" : ""),
                   "", "label", std::ssize(names)});
}

}  // namespace kdgat::data
