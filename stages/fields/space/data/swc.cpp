#include "fields/space/data/swc.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <string_view>
#include <unordered_map>

#include "engine/arrays/spatial.h"
#include "engine/file/number_text.h"
#include "kdgat/error.h"

namespace kdgat::space {
namespace {

constexpr std::size_t kFields = 7;
constexpr const char* kFieldNames[] = {"id", "type", "x", "y", "z", "radius", "parent"};
constexpr double kLargestNumber = 1e15;  // of ids: exact in a double

/// The next word, taken off `rest`; empty at the end.
std::string_view next_word(std::string_view& rest) {
  constexpr const char* kSpace = " \t\v\f\r";
  const std::size_t begin = rest.find_first_not_of(kSpace);
  if (begin == std::string_view::npos) return rest = {};
  const std::size_t end = std::min(rest.find_first_of(kSpace, begin), rest.size());
  const std::string_view word = rest.substr(begin, end - begin);
  rest.remove_prefix(end);
  return word;
}

/// Reads one file; the parts of a neuron in the order in which they are known.
class SwcReader {
 public:
  SwcReader(file::LineReader lines, const SwcRepairs& wanted)
      : lines_(std::move(lines)), wanted_(wanted) {}

  Neuron read() {
    for (std::string_view line; lines_.next(line);) {
      if (lines_.line_number() == 1 && line.starts_with("\xEF\xBB\xBF")) line.remove_prefix(3);
      std::string_view rest = line;
      const std::string_view first = next_word(rest);
      if (first.empty()) continue;
      if (first.front() == '#') {
        read_comment(line);
      } else {
        read_row(line);
        ++neuron_.rows;
      }
    }
    if (neuron_.type.empty()) {
      throw Error(ExitCode::kData, "no node: no line `id type x y z radius parent`", "",
                  lines_.name());
    }
    find_parents();
    keep_one_tree();
    for (const auto& [name, count] :
         {std::pair{"duplicates", duplicates_}, std::pair{"parents", orphans_},
          std::pair{"radius", radii_}, std::pair{"roots", dropped_}}) {
      if (count > 0) neuron_.repairs.emplace_back(name, count);
    }
    neuron_.longer_rows = longer_;
    return std::move(neuron_);
  }

 private:
  [[noreturn]] void fail(int64_t line, const std::string& message,
                         const std::string& hint = "") const {
    throw Error(ExitCode::kData, message, hint, lines_.name() + ":" + std::to_string(line));
  }
  [[noreturn]] void fail_here(const std::string& message, const std::string& hint = "") const {
    fail(lines_.line_number(), message, hint);
  }

  void read_comment(std::string_view line) {
    std::string_view rest = line.substr(line.find('#') + 1);
    const std::string_view key = next_word(rest);
    constexpr std::string_view kScale = "SCALE";
    if (!std::equal(key.begin(), key.end(), kScale.begin(), kScale.end(),
                    [](char a, char b) { return (a & ~0x20) == b; })) {
      return;
    }
    std::array<double, 3> scale{};
    for (double& s : scale) {
      const std::optional<double> value = file::number_in(next_word(rest));
      if (!value && &s == scale.data()) return;  // a remark that begins with this word
      if (!value || !(*value > 0) || !std::isfinite(*value)) {
        fail_here("SCALE needs three positive numbers");
      }
      s = *value;
    }
    if (!neuron_.type.empty()) fail_here("SCALE comes after nodes");
    scale_ = scale;
  }

  void read_row(std::string_view line) {
    std::array<double, kFields> values{};
    for (std::size_t f = 0; f < kFields; ++f) {
      const std::string_view word = next_word(line);
      if (word.empty()) {
        fail_here("too few fields: " + std::to_string(f) +
                  ", a node has id type x y z radius parent");
      }
      const std::optional<double> value = file::number_in(word);
      const bool mendable = f == 5 && wanted_.radius;
      if ((!value || !std::isfinite(*value)) && !mendable) {
        fail_here(std::string(kFieldNames[f]) + " is not a number: " + file::shown(word),
                  f == 5 ? "data.repair=radius takes 0 instead" : "");
      }
      values[f] = value.value_or(std::nan(""));
      const bool whole = f == 0 || f == 1 || f == 6;
      if (whole && (std::floor(values[f]) != values[f] || std::abs(values[f]) > kLargestNumber)) {
        fail_here(std::string(kFieldNames[f]) + " is not a whole number: " + file::shown(word));
      }
    }
    if (!next_word(line).empty()) ++longer_;
    if (values[0] < 0) fail_here("id is negative");
    if (values[1] < 0) fail_here("type is negative");
    const auto node = static_cast<int32_t>(neuron_.type.size());
    const auto id = static_cast<int64_t>(values[0]);
    if (const auto [known, is_new] = nodes_.emplace(id, node); !is_new) {
      if (!wanted_.duplicates) {
        fail_here("the id " + std::to_string(id) + " appears twice, first in line " +
                      std::to_string(line_[static_cast<std::size_t>(known->second)]),
                  "data.repair=duplicates keeps the first");
      }
      ++duplicates_;
      return;
    }
    neuron_.type.push_back(values[1] < kSwcTypes ? static_cast<int32_t>(values[1]) : kSwcCustom);
    for (std::size_t d = 0; d < 3; ++d) neuron_.pos.push_back(to_float(values[2 + d] * scale_[d]));
    if (!(values[5] > 0) || !std::isfinite(values[5])) {
      if (!wanted_.radius) {
        fail_here("the radius is not positive: " + std::to_string(values[5]),
                  "data.repair=radius takes 0 instead");
      }
      ++radii_;
      values[5] = 0;
    }
    neuron_.radius.push_back(to_float(values[5]));
    neuron_.row.push_back(neuron_.rows);
    parent_id_.push_back(static_cast<int64_t>(values[6]));
    line_.push_back(lines_.line_number());
  }

  float to_float(double value) const {
    const auto out = static_cast<float>(value);
    if (!std::isfinite(out)) fail_here("a number is too large");
    return out;
  }

  void find_parents() {
    for (std::size_t n = 0; n < parent_id_.size(); ++n) {
      const auto parent = nodes_.find(parent_id_[n]);
      if (parent_id_[n] >= 0 && parent == nodes_.end()) {
        // Some programs write 0 for "none", where ids begin with 1.
        const bool is_none = parent_id_[n] == 0;
        if (!wanted_.parents && !is_none) {
          fail(line_[n], "the parent " + std::to_string(parent_id_[n]) + " is not in the file",
               "data.repair=parents,roots makes it a root and keeps the largest tree");
        }
        orphans_ += !is_none;
      }
      neuron_.parent.push_back(parent == nodes_.end() ? -1 : parent->second);
    }
    if (const std::vector<int32_t> faulty = arrays::faulty_nodes(neuron_.parent); !faulty.empty()) {
      const auto n = static_cast<std::size_t>(faulty.front());
      fail(line_[n], "a cycle: the node is an ancestor of itself");
    }
  }

  void keep_one_tree() {
    const std::vector<int32_t> roots = arrays::children_of(neuron_.parent).roots;
    if (roots.size() == 1) return;
    if (!wanted_.roots) {
      fail(line_[static_cast<std::size_t>(roots[1])],
           "a second root, the first is in line " +
               std::to_string(line_[static_cast<std::size_t>(roots[0])]),
           "data.repair=roots keeps the largest tree");
    }
    std::vector<int32_t> in(neuron_.parent.size()), out(in.size());
    arrays::euler_tour(neuron_.parent, in, out);
    const auto size = [&](int32_t v) {
      return out[static_cast<std::size_t>(v)] - in[static_cast<std::size_t>(v)];
    };
    const int32_t largest =
        *std::max_element(roots.begin(), roots.end(), [&](int32_t a, int32_t b) {
          return size(a) < size(b);  // of equal ones the first
        });
    const auto first = in[static_cast<std::size_t>(largest)];
    Neuron kept;
    kept.rows = neuron_.rows;
    std::vector<int32_t> number(in.size(), -1);
    std::vector<std::size_t> nodes;
    for (std::size_t n = 0; n < in.size(); ++n) {
      if (in[n] < first || in[n] >= first + size(largest)) continue;
      number[n] = static_cast<int32_t>(nodes.size());
      nodes.push_back(n);
    }
    for (const std::size_t n : nodes) {
      const int32_t parent = neuron_.parent[n];
      kept.type.push_back(neuron_.type[n]);
      kept.radius.push_back(neuron_.radius[n]);
      kept.row.push_back(neuron_.row[n]);
      kept.parent.push_back(parent < 0 ? -1 : number[static_cast<std::size_t>(parent)]);
      for (std::size_t d = 0; d < 3; ++d) kept.pos.push_back(neuron_.pos[3 * n + d]);
    }
    dropped_ = static_cast<int64_t>(in.size() - nodes.size());
    neuron_ = std::move(kept);
  }

  file::LineReader lines_;
  SwcRepairs wanted_;
  Neuron neuron_;
  std::array<double, 3> scale_{1, 1, 1};
  std::unordered_map<int64_t, int32_t> nodes_;  // by id
  std::vector<int64_t> parent_id_, line_;
  int64_t duplicates_ = 0, orphans_ = 0, radii_ = 0, dropped_ = 0, longer_ = 0;
};

}  // namespace

Neuron read_swc(file::LineReader lines, const SwcRepairs& repairs) {
  return SwcReader(std::move(lines), repairs).read();
}

}  // namespace kdgat::space
