#include "pipeline/memory_table.h"

#include <array>
#include <cmath>
#include <cstdio>
#include <functional>

#include "pipeline/data.h"
#include "pipeline/machine.h"
#include "pipeline/table.h"

namespace kdgat {
namespace {

using nlohmann::json;

/// The value at a path of keys; null where there is none.
json at(const json& from, std::initializer_list<const char*> path) {
  const json* here = &from;
  for (const char* key : path) {
    if (!here->is_object() || !here->contains(key)) return {};
    here = &here->at(key);
  }
  return *here;
}

std::string bytes_text(const json& value) {
  if (!value.is_number()) return "";
  const double bytes = value.get<double>();
  if (bytes < 0) return "-" + format_bytes(static_cast<uint64_t>(-bytes));
  return bytes == 0 ? "0" : format_bytes(static_cast<uint64_t>(bytes));
}

std::string count_text(const json& value) {
  return value.is_number() && value >= 0 ? grouped(value.get<int64_t>()) : "";
}

std::string percent_text(const json& value) {
  if (!value.is_number()) return "";
  return std::to_string(std::lround(100 * value.get<double>())) + " %";
}

std::string words_text(const json& value) {
  if (value.is_string()) return value.get<std::string>();
  std::string out;
  if (!value.is_array()) return out;
  for (const json& word : value) {
    if (word.is_string()) out += (out.empty() ? "" : ", ") + word.get<std::string>();
  }
  return out;
}

struct Row {
  const char* name;
  std::function<std::string(const json& facts)> text;
};

const std::vector<Row>& rows() {
  const auto bytes = [](const char* part) {
    return [part](const json& f) { return bytes_text(at(f, {"memory", "table", part})); };
  };
  const auto batch = [](const char* part) {
    return [part](const json& f) { return count_text(at(f, {"memory", "batch", part})); };
  };
  const auto memory = [](const char* key, std::string (*text)(const json&)) {
    return [key, text](const json& f) { return text(at(f, {"memory", key})); };
  };
  const auto fact = [](const char* key, std::string (*text)(const json&)) {
    return [key, text](const json& f) { return text(at(f, {key})); };
  };
  static const std::vector<Row> table = {
      {"device",
       [](const json& f) {
         return words_text(at(f, {"memory", "device", "name"}));
       }},
      {"its memory",
       [](const json& f) {
         return bytes_text(at(f, {"memory", "device", "total"}));
       }},
      {"share used",
       [](const json& f) {
         return percent_text(at(f, {"memory", "device", "share"}));
       }},
      {"context", bytes("context")},
      {"parameters", bytes("parameters")},
      {"embeddings", bytes("embeddings")},
      {"gradients", bytes("gradients")},
      {"optimizer", bytes("optimizer")},
      {"weights kept", bytes("weights_kept")},
      {"teacher", bytes("teacher")},
      {"step", bytes("step")},
      {"  its input", bytes("input")},
      {"left for a step", memory("available", bytes_text)},
      {"peak of tensors", memory("predicted", bytes_text)},
      {"uncertainty", memory("margin", percent_text)},
      {"graphs a batch", batch("graphs")},
      {"  its nodes", batch("nodes")},
      {"  its edges", batch("edges")},
      {"bound by", memory("binds", words_text)},
      {"steps an epoch", memory("steps", count_text)},
      {"epochs", fact("epochs", count_text)},
      {"cache policy", fact("cache_policy", words_text)},
      {"teacher kept", fact("teacher", words_text)},
      {"numbers", memory("mode", words_text)}};
  return table;
}

bool has_plan(const PlannedMemory& plan) { return at(plan.facts, {"memory"}).is_object(); }

}  // namespace

std::string memory_table(const std::vector<PlannedMemory>& plans) {
  std::vector<std::string> head{""};
  for (const PlannedMemory& plan : plans) {
    if (has_plan(plan)) head.push_back(plan.step);
  }
  if (head.size() == 1) return "";
  Table table;
  table.add(head);
  for (const Row& row : rows()) {
    std::vector<std::string> cells{row.name};
    bool is_empty = true;
    for (const PlannedMemory& plan : plans) {
      if (!has_plan(plan)) continue;
      cells.push_back(row.text(plan.facts));
      is_empty = is_empty && cells.back().empty();
    }
    if (!is_empty) table.add(std::move(cells));
  }
  return table.text();
}

std::string memory_lines(const std::vector<PlannedMemory>& plans) {
  Table table;
  for (const PlannedMemory& plan : plans) {
    if (has_plan(plan)) table.add({plan.step, words_text(at(plan.facts, {"memory", "line"}))});
  }
  return table.text();
}

}  // namespace kdgat
