#include "pipeline/verbs/commands/word_units.h"

#include <cstddef>
#include <nlohmann/json.hpp>

#include "pipeline/cli/command_line.h"
#include "pipeline/plugin/schema.h"

namespace kdgat {

namespace {

/// A number above 0; nullopt for anything else.
std::optional<double> positive(const std::string& text) {
  const nlohmann::json number = plain_scalar(text).value;
  if (!number.is_number() || !(number.get<double>() > 0)) return std::nullopt;
  return number.get<double>();
}

}  // namespace

std::optional<double> per_hour(const std::string& text) {
  const std::size_t slash = text.find('/');
  const std::optional<double> count = positive(text.substr(0, slash));
  if (!count || slash == std::string::npos) return count;
  const std::string unit = text.substr(slash + 1);
  if (unit == "h" || unit == "hour") return count;
  if (unit == "min") return *count * 60;
  if (unit == "d" || unit == "day") return *count / 24;
  return std::nullopt;
}

std::optional<double> seconds_of(const std::string& text) {
  const std::size_t unit = text.find_first_not_of("0123456789.");
  if (unit == std::string::npos) return std::nullopt;
  const std::optional<double> count = positive(text.substr(0, unit));
  const std::string word = text.substr(unit);
  if (!count) return std::nullopt;
  if (word == "s") return count;
  if (word == "min" || word == "m") return *count * 60;
  if (word == "h") return *count * 3600;
  return std::nullopt;
}

}  // namespace kdgat
