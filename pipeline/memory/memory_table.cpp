#include "pipeline/memory/memory_table.h"

#include <array>
#include <cmath>

#include "kdgat/text.h"
#include "pipeline/show/table.h"
#include "pipeline/show/text.h"

namespace kdgat {
namespace {

using nlohmann::json;

/// The value at a path of keys; null where there is none.
json at(const json& from, const std::vector<const char*>& path) {
  const json* here = &from;
  for (const char* key : path) {
    if (!here->is_object() || !here->contains(key)) return {};
    here = &here->at(key);
  }
  return *here;
}

std::string bytes_text(const json& value) {
  if (!value.is_number()) return "";
  constexpr double kMiB = 1 << 20, kCoarse = 100 * kMiB;
  const double bytes = value.get<double>(), size = std::abs(bytes);
  if (bytes == 0) return "0";
  const bool is_fine = size >= kMiB && size < kCoarse;
  return (bytes < 0 ? "-" : "") +
         (is_fine ? mebibytes(size) : format_bytes(static_cast<uint64_t>(size)));
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
  std::string (*text)(const json& value);
  std::vector<const char*> path;  ///< of its value in a plan
};

const std::vector<Row>& rows() {
  static const std::vector<Row> table = {{"device", words_text, {"device", "name"}},
                                         {"its memory", bytes_text, {"device", "total"}},
                                         {"share used", percent_text, {"device", "share"}},
                                         {"context", bytes_text, {"table", "context"}},
                                         {"parameters", bytes_text, {"table", "parameters"}},
                                         {"embeddings", bytes_text, {"table", "embeddings"}},
                                         {"gradients", bytes_text, {"table", "gradients"}},
                                         {"optimizer", bytes_text, {"table", "optimizer"}},
                                         {"weights kept", bytes_text, {"table", "weights_kept"}},
                                         {"teacher", bytes_text, {"table", "teacher"}},
                                         {"workspaces", bytes_text, {"table", "workspaces"}},
                                         {"step", bytes_text, {"table", "step"}},
                                         {"  its input", bytes_text, {"table", "input"}},
                                         {"left for a step", bytes_text, {"available"}},
                                         {"peak beyond context", bytes_text, {"predicted"}},
                                         {"uncertainty", percent_text, {"margin"}},
                                         {"graphs a batch", count_text, {"batch", "graphs"}},
                                         {"  its nodes", count_text, {"batch", "nodes"}},
                                         {"  its edges", count_text, {"batch", "edges"}},
                                         {"limited by", words_text, {"binds"}},
                                         {"steps an epoch", count_text, {"steps"}},
                                         {"epochs", count_text, {"epochs"}},
                                         {"cache policy", words_text, {"cache_policy"}},
                                         {"teacher kept", words_text, {"teacher"}},
                                         {"numbers", words_text, {"mode"}}};
  return table;
}

bool has_plan(const PlannedMemory& planned) { return planned.plan.is_object(); }

}  // namespace

std::string memory_table(const std::vector<PlannedMemory>& plans) {
  std::vector<std::string> head{""};
  for (const PlannedMemory& one : plans) {
    if (has_plan(one)) head.push_back(one.step);
  }
  if (head.size() == 1) return "";
  Table table;
  table.add(head);
  for (const Row& row : rows()) {
    std::vector<std::string> cells{row.name};
    bool is_empty = true;
    for (const PlannedMemory& one : plans) {
      if (!has_plan(one)) continue;
      cells.push_back(row.text(at(one.plan, row.path)));
      is_empty = is_empty && cells.back().empty();
    }
    if (!is_empty) table.add(std::move(cells));
  }
  return table.text();
}

namespace {

/// Bytes of a cost for so many graphs, of the batch's average.
double cost_of(const json& cost, const json& plan, double graphs) {
  const double expected = at(plan, {"batch", "graphs"}).get<double>();
  const auto share = [&](const char* name, const char* count) {
    return cost.at(name).get<double>() * at(plan, {"batch", count}).get<double>() / expected *
           graphs;
  };
  return cost.at("fixed").get<double>() + cost.at("graph").get<double>() * graphs +
         share("node", "nodes") + share("edge", "edges");
}

}  // namespace

std::string component_table(const PlannedMemory& planned) {
  const json components = at(planned.plan, {"components"});
  const json expected = at(planned.plan, {"batch", "graphs"});
  if (!components.is_array() || components.empty() || expected.get<int64_t>() < 1) return "";
  constexpr double kPublished[] = {1, 4, 16};
  Table table;
  table.add({planned.step, "1 graph", "batch of 4", "batch of 16"});
  std::array<double, 3> total{};
  for (const json& component : components) {
    std::vector<std::string> cells{component.at("name")};
    for (std::size_t i = 0; i < total.size(); ++i) {
      const double bytes = cost_of(component.at("cost"), planned.plan, kPublished[i]);
      total[i] += bytes;
      cells.push_back(bytes_text(bytes));
    }
    table.add(std::move(cells));
  }
  std::vector<std::string> cells{"total"};
  for (const double bytes : total) cells.push_back(bytes_text(bytes));
  table.add(std::move(cells));
  std::string out = table.text();
  for (const json& check : at(planned.plan, {"checks"})) {
    const double counted = check.at("counted"), measured = check.at("measured");
    out += "run: " + grouped(check.at("graphs")) + " graphs, " + grouped(check.at("nodes")) +
           " nodes: predicted " + bytes_text(counted) + ", measured " + bytes_text(measured) +
           " (" + format_number("%+.1f %%", 100 * (counted / measured - 1)) + ")\n";
  }
  return out;
}

std::string memory_lines(const std::vector<PlannedMemory>& plans) {
  Table table;
  for (const PlannedMemory& one : plans) {
    if (has_plan(one)) table.add({one.step, words_text(at(one.plan, {"line"}))});
  }
  return table.text();
}

}  // namespace kdgat
