#include "pipeline/tune/space.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <random>
#include <set>

#include "kdgat/text.h"
#include "pipeline/show/text.h"

namespace kdgat {
namespace {

std::string trimmed(std::string text) {
  const auto is_space = [](char c) { return c == ' ' || c == '\t'; };
  while (!text.empty() && is_space(text.back())) text.pop_back();
  const std::size_t first = text.find_first_not_of(" \t");
  return first == std::string::npos ? "" : text.substr(first);
}

/// The parts between commas that stand in no further brackets.
std::vector<std::string> parts_of(const std::string& text) {
  std::vector<std::string> out;
  std::string part;
  int depth = 0;
  for (const char c : text) {
    if (c == '[' || c == '(' || c == '{') ++depth;
    if (c == ']' || c == ')' || c == '}') --depth;
    if (c == ',' && depth == 0) {
      out.push_back(trimmed(part));
      part.clear();
    } else {
      part += c;
    }
  }
  if (part = trimmed(part); !part.empty() || !out.empty()) out.push_back(part);
  return out;
}

[[noreturn]] void refuse(const std::string& key, const std::string& what, const std::string& hint) {
  throw Error(ExitCode::kUsage, key + ": " + what, hint);
}

std::optional<ValueRange> read_range(const std::string& key, const std::string& text) {
  static const std::map<std::string, ValueRange::Scale> kScales = {
      {"uniform", ValueRange::Scale::kUniform},
      {"log", ValueRange::Scale::kLog},
      {"int", ValueRange::Scale::kWhole}};
  const std::size_t open = text.find('(');
  if (open == std::string::npos || text.back() != ')') return std::nullopt;
  const auto scale = kScales.find(text.substr(0, open));
  if (scale == kScales.end()) return std::nullopt;
  const std::vector<std::string> ends = parts_of(text.substr(open + 1, text.size() - open - 2));
  const auto from = ends.size() == 2 ? finite_number(ends[0]) : std::nullopt;
  const auto to = ends.size() == 2 ? finite_number(ends[1]) : std::nullopt;
  const char* form = "a range is uniform(FROM,TO), log(FROM,TO) or int(FROM,TO)";
  if (!from || !to || *from > *to) refuse(key, text + " is not a range", form);
  if (scale->second == ValueRange::Scale::kLog && *from <= 0) {
    refuse(key, text + " begins at " + ends[0], "a logarithmic range begins above 0");
  }
  return ValueRange{scale->second, *from, *to};
}

/// The published short names of options; others are their own.
std::string short_name(const std::string& key) {
  static const std::map<std::string, std::string> kShort = {
      {"hidden_dim", "h"},   {"num_layers", "l"},     {"loss", ""},
      {"bpr_weight", "bpr"}, {"learning_rate", "lr"}, {"batch_size", "bs"}};
  const std::string last = key.substr(key.rfind('.') + 1);
  const auto found = kShort.find(last);
  return found == kShort.end() ? last : found->second;
}

/// A folder's name: what is neither letter, digit, point nor underscore becomes one dash.
std::string as_name(const std::string& text) {
  std::string out;
  for (const char c : text) {
    const bool is_plain = std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '.' || c == '_';
    if (is_plain) out += c;
    if (!is_plain && !out.empty() && out.back() != '-') out += '-';
  }
  while (!out.empty() && out.back() == '-') out.pop_back();
  return out;
}

void name_trials(std::vector<TrialSpec>& trials) {
  std::map<std::string, int> taken;
  for (TrialSpec& trial : trials) {
    std::string name;
    for (const auto& [key, value] : trial.values) {
      name += (name.empty() ? "" : "-") + as_name(short_name(key) + value);
    }
    constexpr std::size_t kLongest = 80;
    name = name.substr(0, kLongest);
    const int times = ++taken[name];
    trial.name = times == 1 ? name : name + "-" + std::to_string(times);
  }
}

std::string drawn_text(const Dimension& dimension, double share) {
  if (!dimension.range) {
    const auto count = static_cast<double>(dimension.values.size());
    return dimension.values[static_cast<std::size_t>(std::min(share * count, count - 1))];
  }
  const ValueRange& range = *dimension.range;
  if (range.scale == ValueRange::Scale::kWhole) {
    const double from = std::ceil(range.from), to = std::floor(range.to);
    const double value = std::min(to, from + std::floor(share * (to - from + 1)));
    return std::to_string(static_cast<int64_t>(value));
  }
  const bool is_log = range.scale == ValueRange::Scale::kLog;
  const double low = is_log ? std::log(range.from) : range.from;
  const double high = is_log ? std::log(range.to) : range.to;
  const double value = low + share * (high - low);
  return format_number("%.4g", is_log ? std::exp(value) : value);
}

}  // namespace

std::optional<Dimension> read_dimension(const std::string& key, const std::string& text,
                                        bool takes_list) {
  const std::string value = trimmed(text);
  if (value.empty()) return std::nullopt;
  if (auto range = read_range(key, value)) return Dimension{key, {}, range};
  if (value.front() != '[' || value.back() != ']') return std::nullopt;
  std::vector<std::string> values = parts_of(value.substr(1, value.size() - 2));
  if (takes_list && (values.empty() || values.front().empty() || values.front().front() != '[')) {
    return std::nullopt;
  }
  if (values.empty() || std::any_of(values.begin(), values.end(),
                                    [](const std::string& one) { return one.empty(); })) {
    refuse(key, text + " holds an empty value", "write the values to try as [A,B,C]");
  }
  return Dimension{key, std::move(values), std::nullopt};
}

std::vector<TrialSpec> grid_trials(const std::vector<Dimension>& dimensions) {
  std::vector<TrialSpec> out = {TrialSpec{}};
  for (const Dimension& dimension : dimensions) {
    if (dimension.range) {
      refuse(dimension.key, "a range has no grid", "--mode random draws from it");
    }
    std::vector<TrialSpec> next;
    for (const TrialSpec& trial : out) {
      for (const std::string& value : dimension.values) {
        next.push_back(trial);
        next.back().values.emplace_back(dimension.key, value);
      }
    }
    out = std::move(next);
  }
  name_trials(out);
  return out;
}

std::vector<TrialSpec> random_trials(const std::vector<Dimension>& dimensions, int64_t count,
                                     int64_t seed) {
  std::vector<TrialSpec> out;
  std::set<std::vector<std::pair<std::string, std::string>>> seen;
  std::mt19937_64 random(static_cast<uint64_t>(seed));
  for (int64_t i = 0; i < count; ++i) {
    TrialSpec trial;
    for (const Dimension& dimension : dimensions) {
      trial.values.emplace_back(
          dimension.key, drawn_text(dimension, static_cast<double>(random() >> 11) * 0x1.0p-53));
    }
    if (seen.insert(trial.values).second) out.push_back(std::move(trial));
  }
  name_trials(out);
  return out;
}

std::vector<TrialSpec> published_trials(const std::string& mode) {
  std::vector<TrialSpec> out;
  const auto add = [&out](const std::string& name, int hidden, int layers,
                          const std::string& loss = "mse", const std::string& weight = "") {
    TrialSpec trial{name,
                    {{"hidden_dim", std::to_string(hidden)},
                     {"num_layers", std::to_string(layers)},
                     {"loss", loss}}};
    if (!weight.empty()) trial.values.emplace_back("bpr_weight", weight);
    out.push_back(std::move(trial));
  };
  const auto add_architecture = [&add](int hidden, int layers) {
    add("h" + std::to_string(hidden) + "-l" + std::to_string(layers), hidden, layers);
  };
  if (mode == "example") {
    add("Baseline", 64, 2);
    for (const int hidden : {32, 128, 256}) add("Hidden-" + std::to_string(hidden), hidden, 2);
    for (const int layers : {1, 3, 4}) add("Layers-" + std::to_string(layers), 64, layers);
    for (const char* weight : {"0.05", "0.1", "0.15"}) {
      add(std::string("Combined-") + weight, 64, 2, "combined", weight);
    }
    add("Wide-Deep", 128, 3);
  } else if (mode == "architecture") {
    for (const int hidden : {16, 32, 64, 128, 256, 512}) {
      for (const int layers : {1, 2, 3, 4, 5}) add_architecture(hidden, layers);
    }
  } else if (mode == "loss") {
    add("MSE-Only", 64, 2);
    for (const char* weight : {"0.05", "0.1", "0.15", "0.2"}) {
      add(std::string("Combined-") + weight, 64, 2, "combined", weight);
    }
  } else if (mode == "grid") {
    for (const int hidden : {64, 128}) {
      for (const int layers : {2, 3}) {
        const std::string size = "h" + std::to_string(hidden) + "-l" + std::to_string(layers);
        for (const char* loss : {"mse", "combined"}) {
          add(size + "-" + loss, hidden, layers, loss, "0");
          add(size + "-" + loss + "-bpr0.1", hidden, layers, loss, "0.1");
        }
      }
    }
  }
  return out;
}

}  // namespace kdgat
