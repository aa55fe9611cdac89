#include "pipeline/memory/memory_table.h"

#include <array>
#include <cmath>

#include "kdgat/text.h"
#include "pipeline/run/memory_plan.h"
#include "pipeline/show/table.h"
#include "pipeline/show/text.h"

namespace kdgat {
namespace {

using nlohmann::json;

using Number = MemoryPlan::Number;

std::string bytes_text(const Number& value) {
  if (!value) return "";
  constexpr double kMiB = 1 << 20, kCoarse = 100 * kMiB;
  const double bytes = *value, size = std::abs(bytes);
  if (bytes == 0) return "0";
  const bool is_fine = size >= kMiB && size < kCoarse;
  return (bytes < 0 ? "-" : "") +
         (is_fine ? mebibytes(size) : format_bytes(static_cast<uint64_t>(size)));
}

std::string count_text(const Number& value) {
  return value.value_or(-1) >= 0 ? grouped(std::llround(*value)) : "";
}

std::string percent_text(const Number& value) {
  return value ? std::to_string(std::lround(100 * *value)) + " %" : "";
}

/// Of a text or a list of texts.
std::string words_text(const json& value) {
  if (value.is_string()) return value.get<std::string>();
  std::vector<std::string> words;
  record::read_into(value, words);
  return joined(words, ", ");
}

struct Row {
  const char* name;
  std::string (*text)(const MemoryPlan& plan);
};

const std::vector<Row>& rows() {
  using P = const MemoryPlan&;
  static const std::vector<Row> table = {
      {"device", [](P p) { return p.device.name; }},
      {"its memory", [](P p) { return bytes_text(p.device.total); }},
      {"share used", [](P p) { return percent_text(p.device.share); }},
      {"context", [](P p) { return bytes_text(p.table.context); }},
      {"parameters", [](P p) { return bytes_text(p.table.parameters); }},
      {"embeddings", [](P p) { return bytes_text(p.table.embeddings); }},
      {"gradients", [](P p) { return bytes_text(p.table.gradients); }},
      {"optimizer", [](P p) { return bytes_text(p.table.optimizer); }},
      {"weights kept", [](P p) { return bytes_text(p.table.weights_kept); }},
      {"teacher", [](P p) { return bytes_text(p.table.teacher); }},
      {"workspaces", [](P p) { return bytes_text(p.table.workspaces); }},
      {"step", [](P p) { return bytes_text(p.table.step); }},
      {"  its input", [](P p) { return bytes_text(p.table.input); }},
      {"left for a step", [](P p) { return bytes_text(p.available); }},
      {"peak beyond context", [](P p) { return bytes_text(p.predicted); }},
      {"uncertainty", [](P p) { return percent_text(p.margin); }},
      {"graphs a batch", [](P p) { return count_text(p.batch.graphs); }},
      {"  its nodes", [](P p) { return count_text(p.batch.nodes); }},
      {"  its edges", [](P p) { return count_text(p.batch.edges); }},
      {"limited by", [](P p) { return words_text(p.binds); }},
      {"steps an epoch", [](P p) { return count_text(p.steps); }},
      {"epochs", [](P p) { return count_text(p.epochs); }},
      {"cache policy", [](P p) { return words_text(p.cache_policy); }},
      {"teacher kept", [](P p) { return words_text(p.teacher); }},
      {"numbers", [](P p) { return p.mode; }}};
  return table;
}

bool has_plan(const PlannedMemory& planned) { return planned.plan.is_object(); }

}  // namespace

std::string memory_table(const std::vector<PlannedMemory>& plans) {
  std::vector<std::string> head{""};
  std::vector<MemoryPlan> known;
  for (const PlannedMemory& one : plans) {
    if (!has_plan(one)) continue;
    head.push_back(one.step);
    known.push_back(record::read<MemoryPlan>(one.plan));
  }
  if (head.size() == 1) return "";
  Table table;
  table.add(head);
  for (const Row& row : rows()) {
    std::vector<std::string> cells{row.name};
    bool is_empty = true;
    for (const MemoryPlan& plan : known) {
      cells.push_back(row.text(plan));
      is_empty = is_empty && cells.back().empty();
    }
    if (!is_empty) table.add(std::move(cells));
  }
  return table.text();
}

namespace {

/// Bytes of a cost for so many graphs, of the batch's average.
double cost_of(const MemoryPlan::Cost& cost, const MemoryPlan::Batch& batch, double graphs) {
  const auto share = [&](double each, const Number& count) {
    return each * count.value_or(0) / *batch.graphs * graphs;
  };
  return cost.fixed + cost.graph * graphs + share(cost.node, batch.nodes) +
         share(cost.edge, batch.edges);
}

}  // namespace

std::string component_table(const PlannedMemory& planned) {
  const auto plan = record::read<MemoryPlan>(planned.plan);
  if (plan.components.empty() || plan.batch.graphs.value_or(0) < 1) return "";
  constexpr double kPublished[] = {1, 4, 16};
  Table table;
  table.add({planned.step, "1 graph", "batch of 4", "batch of 16"});
  std::array<double, 3> total{};
  for (const MemoryPlan::Component& component : plan.components) {
    std::vector<std::string> cells{component.name};
    for (std::size_t i = 0; i < total.size(); ++i) {
      const double bytes = cost_of(component.cost, plan.batch, kPublished[i]);
      total[i] += bytes;
      cells.push_back(bytes_text(bytes));
    }
    table.add(std::move(cells));
  }
  std::vector<std::string> cells{"total"};
  for (const double bytes : total) cells.push_back(bytes_text(bytes));
  table.add(std::move(cells));
  std::string out = table.text();
  for (const MemoryPlan::Check& check : plan.checks) {
    out += "run: " + grouped(check.graphs) + " graphs, " + grouped(check.nodes) +
           " nodes: predicted " + bytes_text(check.counted) + ", measured " +
           bytes_text(check.measured) + " (" +
           format_number("%+.1f %%", 100 * (check.counted / check.measured - 1)) + ")\n";
  }
  return out;
}

std::string memory_lines(const std::vector<PlannedMemory>& plans) {
  Table table;
  for (const PlannedMemory& one : plans) {
    if (has_plan(one)) table.add({one.step, record::read<MemoryPlan>(one.plan).line});
  }
  return table.text();
}

}  // namespace kdgat
