#include "engine/data/core/class_labels.h"

#include <cmath>
#include <optional>
#include <unordered_set>

#include "engine/file/number_text.h"
#include "kdgat/error.h"
#include "kdgat/text.h"

namespace kdgat::data {

namespace {

struct SeenLabels {
  std::unordered_set<std::string> distinct;
  std::size_t labelled = 0, first = 0;
  bool are_numbers = true;
  std::optional<std::size_t> fraction;  ///< the first number that is not whole

  explicit SeenLabels(const std::vector<std::string>& labels) {
    for (std::size_t g = 0; g < labels.size(); ++g) {
      if (labels[g].empty()) continue;
      const std::optional<double> number = file::number_in(labels[g]);
      const bool is_number = number && std::isfinite(*number);
      are_numbers = are_numbers && is_number;
      if (labelled++ == 0) first = g;
      if (!fraction && is_number && *number != std::floor(*number)) fraction = g;
      distinct.insert(labels[g]);
    }
  }
  bool are_too_many() const {
    constexpr std::size_t kFewClasses = 5;  // so many may have one graph each
    return distinct.size() > kFewClasses && labelled <= 2 * distinct.size();
  }
};

}  // namespace

bool are_targets(const std::vector<std::string>& labels, bool checks_count) {
  const SeenLabels seen(labels);
  return seen.are_numbers && (seen.fraction || (checks_count && seen.are_too_many()));
}

void require_classes(const std::vector<std::string>& labels, const LabelPlace& place,
                     bool checks_count) {
  const SeenLabels seen(labels);
  if (seen.are_numbers && seen.fraction) {
    throw Error(ExitCode::kData,
                place.name + " is " + file::shown(labels[*seen.fraction]) +
                    ", not the number or name of a class",
                place.hint, place.where(*seen.fraction));
  }
  if (checks_count && seen.are_too_many()) {
    throw Error(ExitCode::kData,
                place.name + " has " + std::to_string(seen.distinct.size()) + " different " +
                    (seen.are_numbers ? "numbers" : "names") + " for " +
                    std::to_string(seen.labelled) + " " + place.of + ", " +
                    file::shown(labels[seen.first]) + " among them: too many to be classes",
                seen.are_numbers ? place.hint : "another column or word is the label?",
                place.where(seen.first));
  }
}

void report_row_uses(const std::string& table, const std::map<std::string, RowUse>& uses,
                     Notes& notes) {
  const auto report = [&](auto is_one, auto message, const char* hint) {
    int64_t count = 0;
    std::string first;
    for (const auto& [name, use] : uses) {
      if (!is_one(use)) continue;
      if (count++ == 0) first = message(file::shown(name), use);
    }
    if (count == 0) return;
    const std::string others = count > 1 ? "; as " + grouped(count - 1) + " more rows" : "";
    notes.push_back({table, first + others, hint, "label", count});
  };
  report([](const RowUse& use) { return use.by.empty(); },
         [](const std::string& name, const RowUse&) { return "no graph has the label of " + name; },
         "");
  report([](const RowUse& use) { return use.is_shared; },
         [](const std::string& name, const RowUse& use) {
           return "the row of " + name + " labels files of several folders, " +
                  file::shown(use.by) + " first";
         },
         "name files with their folders");
}

}  // namespace kdgat::data
