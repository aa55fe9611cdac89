// kdgat memory estimate|report: what a stage would need, without data; what a run was planned to
// need and needed.
#include <cmath>
#include <ostream>

#include "kdgat/atomic_file.h"
#include "pipeline/find_model.h"
#include "pipeline/memory_options.h"
#include "pipeline/memory_report.h"
#include "pipeline/memory_svg.h"
#include "pipeline/memory_table.h"
#include "pipeline/run_session.h"
#include "pipeline/schema.h"

namespace kdgat {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

/// Of the windows there would be; the defaults are those of hcrl_sa.
struct GraphSizes {
  double graphs = 9364, nodes = 28.9, edges = 49.2, num_ids = 2049;

  /// As a graph store says them of itself (see GraphStore::facts).
  json facts() const {
    // How hcrl_sa spreads about its means, and what it divides into.
    constexpr double kAttacks = 0.138, kValidation = 0.2;
    const auto count = [](double value) { return static_cast<int64_t>(std::llround(value)); };
    const auto sizes = [&](double mean, double most) {
      const auto at_most = [&](double times) { return std::max<int64_t>(1, count(times * mean)); };
      return json{{"p50", at_most(1)},
                  {"p95", at_most(most * 0.82)},
                  {"p99", at_most(most * 0.9)},
                  {"max", at_most(most)},
                  {"sum", count(graphs * mean)}};
    };
    return {{"graphs", count(graphs)},
            {"attack", count(graphs * kAttacks)},
            {"benign", count(graphs) - count(graphs * kAttacks)},
            {"unlabelled", 0},
            {"num_ids", count(num_ids)},
            {"node_features", 11},
            {"edge_features", 11},
            {"nodes", sizes(nodes, 2.25)},
            {"edges", sizes(edges, 1.83)},
            {"parts",
             {{"train", count(graphs) - count(graphs * kValidation)},
              {"val", count(graphs * kValidation)}}}};
  }
};

/// The step of `stage` with nothing but graphs before it.
PlannedStep lone_step(const StepSpec& spec, const PluginDescription& plugin) {
  PlannedStep step;
  step.spec = spec;
  for (const PortDescription& port : plugin.inputs) {
    if (port.kind == "graphs") step.inputs[port.name] = {"data"};
  }
  return step;
}

int estimate(Context& context, const std::vector<std::string>& words) {
  MemoryOptions memory;
  GraphSizes sizes;
  std::string stage;
  const auto size_flag = [](CommandLine& line, const char* flag, double& to, double least) {
    line.value(flag, [&line, flag, &to, least](const std::string& text) {
      const json value = plain_scalar(text).value;
      if (!value.is_number() || value.get<double>() < least) {
        return line.problem(std::string(flag) + ": " + text + " is no number of at least " +
                            value_text(least));
      }
      to = value.get<double>();
    });
  };
  const RunFlags extras{"kdgat memory estimate", [&](CommandLine& line, RunOptions& options) {
                          memory.declare(line);
                          memory.declare_device(line, options.profile);
                          line.value("--stage", stage);
                          size_flag(line, "--graphs", sizes.graphs, 1);
                          size_flag(line, "--nodes", sizes.nodes, 1);
                          size_flag(line, "--edges", sizes.edges, 0);
                          size_flag(line, "--num-ids", sizes.num_ids, 2);
                        }};
  RunOptions options = parse_run_options(context, words, extras);
  if (!stage.empty()) options.profile.stage = stage;
  if (options.profile.stage.empty() && options.profile.problems.empty()) {
    throw Error(ExitCode::kUsage, "kdgat memory estimate needs --stage",
                "e.g. kdgat memory estimate --stage classifier; see kdgat plugins list");
  }
  const Profile profile = resolve_profile(options.profile, context.catalog, data_schemas());
  const auto spec = std::find_if(profile.steps.begin(), profile.steps.end(),
                                 [&](const StepSpec& s) { return s.name == profile.only; });
  const PluginDescription& plugin = *context.catalog.find(spec->stage);
  const PlannedStep step = lone_step(*spec, plugin);

  PreparedData data;
  data.facts = sizes.facts();
  const Machine machine;
  const Plan plan;
  RunnerInput input{plan, context.catalog, "cpu", 1, profile.seed, data};
  input.memory.limit = static_cast<int64_t>(profile.memory_limit);
  memory.apply(input.memory);
  input.memory.measure = false;  // there is nothing to run
  ProcessSettings process;
  process.allocator = profile.allocator;
  const StageAnswer answer =
      plan_in_child({"plan", plugin, make_request(input, step, {}, ""), spec->allocator}, process);
  if (answer.code != 0) throw Error(static_cast<ExitCode>(answer.code), answer.diagnostics);
  if (!answer.result.contains("memory")) {
    throw Error(ExitCode::kUsage, "the stage " + plugin.name + " plans no memory",
                "stages that train do: kdgat plugins list");
  }
  const json& planned = answer.result.at("memory");
  if (context.json) {
    context.out << json{{"memory", planned}, {"graphs", data.facts}}.dump(1) << '\n';
    return 0;
  }
  if (context.verbosity > 0) context.out << memory_table({{spec->name, planned}}) << '\n';
  context.out << planned.value("line", "") << '\n';
  return 0;
}

int report(Context& context, const std::vector<std::string>& words) {
  std::string name, svg, root = "runs";
  CommandLine line(context, "kdgat memory report");
  line.word(name);
  line.value("--svg", svg);
  line.value("--root", root);
  line.parse(words);
  if (name.empty()) {
    throw Error(ExitCode::kUsage, "kdgat memory report needs a run",
                "a run's folder or id: kdgat memory report 01JD");
  }
  const fs::path run = find_run(name, root);
  const std::vector<StepMemory> steps = read_run_memory(run);
  if (steps.empty()) {
    throw Error(ExitCode::kData, run.string() + ": no step of it left a memory.json");
  }
  if (!svg.empty()) write_file(svg, memory_svg("memory of run " + run.filename().string(), steps));
  if (context.json) {
    context.out
        << json{{"run", run.filename().string()}, {"steps", memory_report_json(steps)}}.dump(1)
        << '\n';
  } else {
    context.out << memory_report_text(steps);
  }
  return 0;
}

}  // namespace

int memory_verb(Context& context, const std::vector<std::string>& arguments) {
  const Command command = read_action(context, "memory", arguments, {"estimate", "report"});
  if (command.name == "report") return report(context, command.words);
  return estimate(context, command.words);
}

}  // namespace kdgat
