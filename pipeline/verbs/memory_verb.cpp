// kdgat memory estimate|report: what a stage would need, without data; what a run was planned to
// need and needed.
#include <algorithm>
#include <cmath>
#include <iostream>
#include <ostream>

#include "kdgat/atomic_file.h"
#include "kdgat/kinds.h"
#include "kdgat/text.h"
#include "pipeline/execute/run_session.h"
#include "pipeline/memory/legacy_table.h"
#include "pipeline/memory/memory_options.h"
#include "pipeline/memory/memory_report.h"
#include "pipeline/memory/memory_svg.h"
#include "pipeline/memory/memory_table.h"
#include "pipeline/plugin/schema.h"
#include "pipeline/run/find_model.h"
#include "pipeline/show/text.h"
#include "pipeline/verbs/json/json_forms.h"

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
    if (port.kind == kind::kGraphs) step.inputs[port.name] = {"data"};
  }
  return step;
}

/// Of ratings there would be; the numbers of users and items are the published defaults.
struct RatingSizes {
  double users = 1000, items = 1000, ratings = 100'000;

  /// As a store of ratings says them of itself (see RatingStore::facts): a fifth is for testing, 24
  /// features as of MovieLens 100K.
  json facts() const {
    const auto count = [](double value) { return static_cast<int64_t>(std::llround(value)); };
    const int64_t test = count(ratings / 5), train = count(ratings) - test;
    return {{"graphs", 1},
            {"unlabelled", 0},
            {"ratings",
             {{"users", count(users)},
              {"items", count(items)},
              {"ratings", count(ratings)},
              {"train", train},
              {"test", test},
              {"features", 24}}},
            {"parts", {{"train", train}, {"test", test}}}};
  }
};

/// The stage that the published estimate is of; "" if there is none.
std::string recommender(const Context& context) {
  const PluginDescription* plugin = context.catalog.find_making(kind::kRecommender);
  return plugin == nullptr ? "" : plugin->name;
}

/// The published names of sizes, which are options of no stage, as flags.
std::vector<std::string> sizes_as_flags(const std::vector<std::string>& words) {
  std::vector<std::string> out;
  for (const std::string& word : words) {
    std::string flag;
    for (const char* name : {"num_users", "num_items", "num_ratings"}) {
      if (word.starts_with(std::string(name) + "=")) flag = name;
    }
    if (flag.empty()) {
      out.push_back(word);
      continue;
    }
    const std::string value = word.substr(flag.size() + 1);
    std::replace(flag.begin(), flag.end(), '_', '-');
    flag.insert(0, "--").append("=").append(value);
    out.push_back(std::move(flag));
  }
  return out;
}

/// Asks for a whole number on standard input until it is given one; an empty line takes `usual`.
int64_t ask(Context& context, const std::string& what, int64_t usual) {
  while (true) {
    context.err << what << " [" << usual << "]: " << std::flush;
    std::string line;
    if (!std::getline(std::cin, line)) {
      throw Error(ExitCode::kUsage, "standard input ended before " + what + " was said");
    }
    if (line.find_first_not_of(" \t\r") == std::string::npos) return usual;
    const json value = plain_scalar(line).value;
    if (value.is_number_integer() && value.get<int64_t>() > 0) return value.get<int64_t>();
    context.err << line << " is not a whole number above 0\n";
  }
}

/// What `kdgat memory estimate` is asked.
struct Estimate {
  MemoryOptions memory;
  GraphSizes graphs;
  RatingSizes ratings;
  std::string stage;
  bool legacy = false, interactive = false;

  /// Of the published program, which knows one stage.
  bool is_published() const { return legacy || interactive; }
  LegacyNet net(int64_t hidden_dim, int64_t num_layers) const {
    return {hidden_dim, num_layers, ratings.users, ratings.items};
  }
};

/// Plans the memory of the profile's one step on data of these facts.
json planned_memory(Context& context, const Estimate& asked, const RunOptions& options,
                    json& facts) {
  const Profile profile = resolve_profile(options.profile, context.catalog, profile_sections());
  const auto spec = std::find_if(profile.steps.begin(), profile.steps.end(),
                                 [&](const StepSpec& s) { return s.name == profile.only; });
  const PluginDescription& plugin = *context.catalog.find(spec->stage);
  const PlannedStep step = lone_step(*spec, plugin);

  PreparedData data;
  data.facts = plugin.makes(kind::kRecommender) ? asked.ratings.facts() : asked.graphs.facts();
  const Plan plan;
  RunnerInput input{plan, context.catalog, "cpu", 1, profile.seed, data};
  input.memory.limit = static_cast<int64_t>(profile.memory_limit);
  asked.memory.apply(input.memory);
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
  facts = data.facts;
  json planned = answer.result.at("memory");
  planned["step"] = spec->name;
  planned["widths"] = answer.result.value("widths", json::object());
  return planned;
}

void size_flag(CommandLine& line, const char* flag, double& to, double least) {
  line.value(flag, [&line, flag, &to, least](const std::string& text) {
    const json value = plain_scalar(text).value;
    if (!value.is_number() || value.get<double>() < least) {
      return line.problem(std::string(flag) + ": " + text + " is not a number of at least " +
                          value_text(least));
    }
    to = value.get<double>();
  });
}

RunOptions read_words(Context& context, const std::vector<std::string>& words, Estimate& asked) {
  const RunFlags extras{"kdgat memory estimate", [&](CommandLine& line, RunOptions& options) {
                          asked.memory.declare(line);
                          asked.memory.declare_device(line, options.profile);
                          line.value("--stage", asked.stage, Offer::kStages);
                          size_flag(line, "--graphs", asked.graphs.graphs, 1);
                          size_flag(line, "--nodes", asked.graphs.nodes, 1);
                          size_flag(line, "--edges", asked.graphs.edges, 0);
                          size_flag(line, "--num-ids", asked.graphs.num_ids, 2);
                          size_flag(line, "--num-users", asked.ratings.users, 1);
                          size_flag(line, "--num-items", asked.ratings.items, 1);
                          size_flag(line, "--num-ratings", asked.ratings.ratings, 2);
                          line.flag("--legacy", asked.legacy);
                          line.flag("--interactive", asked.interactive);
                        }};
  asked.stage.clear();
  RunOptions options = parse_run_options(context, words, extras);
  if (asked.stage.empty() && options.profile.stage.empty() && asked.is_published()) {
    asked.stage = recommender(context);
  }
  if (!asked.stage.empty()) options.profile.stage = asked.stage;
  if (options.profile.stage.empty() && options.profile.problems.empty()) {
    throw Error(ExitCode::kUsage, "kdgat memory estimate needs --stage",
                "e.g. kdgat memory estimate --stage classifier; see kdgat plugins list");
  }
  return options;
}

/// The same with the form of a net added to the words.
RunOptions read_more_words(Context& context, std::vector<std::string>& words, Estimate& asked,
                           int64_t hidden_dim, int64_t num_layers) {
  words.push_back("hidden_dim=" + std::to_string(hidden_dim));
  words.push_back("num_layers=" + std::to_string(num_layers));
  context.positions.resize(words.size(), 0);
  return read_words(context, words, asked);
}

/// Asks what the published program asks: the form, added to the words, and the sizes of the graph.
RunOptions ask_sizes(Context& context, std::vector<std::string>& words, Estimate& asked) {
  const int64_t hidden_dim = ask(context, "hidden_dim", 64);
  const int64_t num_layers = ask(context, "num_layers", 2);
  const auto ask_count = [&](const char* what, double usual) {
    return static_cast<double>(ask(context, what, std::llround(usual)));
  };
  RatingSizes answered = asked.ratings;
  answered.users = ask_count("num_users", answered.users);
  answered.items = ask_count("num_items", answered.items);
  RunOptions options = read_more_words(context, words, asked, hidden_dim, num_layers);
  asked.ratings = answered;
  return options;
}

/// The common configurations of the published guide.
int estimate_published(Context& context, const std::vector<std::string>& words, Estimate& asked) {
  json rows = json::array();
  for (const PublishedEstimate& row : published_estimates()) {
    std::vector<std::string> with = words;
    const RunOptions options =
        read_more_words(context, with, asked, row.hidden_dim, row.num_layers);
    json facts;
    const json planned = planned_memory(context, asked, options, facts);
    rows.push_back(published_comparison(
        legacy_comparison(planned, asked.net(row.hidden_dim, row.num_layers)), row));
  }
  if (context.json) {
    print_json(context, "kdgat.memory.published", {{"published", std::move(rows)}});
  } else {
    context.out << published_comparisons_text(rows);
  }
  return 0;
}

int estimate(Context& context, const std::vector<std::string>& said) {
  Estimate asked;
  std::vector<std::string> words = sizes_as_flags(said);
  RunOptions options = read_words(context, words, asked);
  if (const std::string only = recommender(context);
      asked.is_published() && options.profile.stage != only) {
    throw Error(ExitCode::kUsage, "the published estimate is one of the stage " + only,
                "kdgat memory estimate --stage " + only + " --legacy");
  }
  if (asked.interactive) options = ask_sizes(context, words, asked);
  const bool names_form = std::any_of(words.begin(), words.end(), [](const std::string& word) {
    return word.find("hidden") != std::string::npos || word.find("layers") != std::string::npos;
  });
  if (asked.legacy && !names_form) return estimate_published(context, words, asked);
  json facts;
  json planned = planned_memory(context, asked, options, facts);
  const std::string step = planned.at("step");
  const json widths = planned.at("widths");
  planned.erase("step");
  planned.erase("widths");
  json compared;
  if (asked.is_published()) {
    compared = legacy_comparison(planned, asked.net(widths.at("hidden"), widths.at("layers")));
  }
  if (context.json) {
    json out = {{"memory", planned}, {"graphs", facts}};
    if (!compared.is_null()) out["legacy"] = compared;
    print_json(context, "kdgat.memory.estimate", out);
    return 0;
  }
  if (!compared.is_null()) {
    context.out << legacy_comparison_text(compared);
    return 0;
  }
  if (context.verbosity > 0) context.out << memory_table({{step, planned}}) << '\n';
  context.out << planned.value("line", "") << '\n';
  return 0;
}

int report(Context& context, const std::vector<std::string>& words) {
  std::string name, svg, root = "runs";
  CommandLine line(context, "kdgat memory report");
  line.word(name, Offer::kRuns);
  line.value("--svg", svg, Offer::kFiles);
  line.value("--root", root, Offer::kFiles);
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
    print_json(context, "kdgat.memory.report",
               {{"run", run.filename().string()}, {"steps", memory_report_json(steps)}});
  } else {
    context.out << memory_report_text(steps);
  }
  return 0;
}

constexpr const char* kMemoryHelp =
    R"(Estimate a stage's memory, or report what a run planned and used.

  kdgat memory estimate --stage classifier          one line, for graphs as in hcrl_sa
  kdgat memory estimate --stage autoencoder --preset teacher --gpu t4-16 batch_size=1024
  kdgat memory estimate --stage classifier --graphs 150000 --nodes 40 --edges 80 -v
  kdgat memory estimate --stage graphsage --legacy hidden_dim=64 num_layers=2
  kdgat memory report 01JD                          planned against measured, each stage
  kdgat memory report runs/my/01JD... --svg memory.svg

usage: kdgat memory estimate --stage STAGE [key=value ...] [options]
       kdgat memory report RUN [--svg FILE] [--root DIR] [--json]

  --graphs N           windows there are (default 9364)
  --nodes X, --edges X means of a window (default 28.9 and 49.2)
  --num-ids N          identifiers (default 2049)
  --num-users N, --num-items N, --num-ratings N
                       of graphsage (default 1000, 1000 and 100000); num_users=N too
  --legacy             the published formula beside what graphsage holds; without hidden_dim and
                       num_layers the published tables
  --interactive        ask for the sizes of graphsage
  --preset A,B         options of presets, as in kdgat run
  --device SIZE, --gpu NAME, --memory-limit SIZE
                       as in kdgat plan
  -v                   the whole table
  --json               results as JSON

The report's error is that of the planned peak: of tensors, or of all that a stage without tensors
holds beyond its context. --svg draws memory over time, to be opened in a browser.
)";

int memory_verb(Context& context, const std::vector<std::string>& arguments) {
  const Command command = read_action(context, "memory", arguments, {"estimate", "report"});
  if (command.name == "report") return report(context, command.words);
  return estimate(context, command.words);
}

}  // namespace

Verb make_memory_verb() {
  return {"memory", "estimate a stage's memory, or report planned against measured",
          Needs::kCatalog, memory_verb, help_text(kMemoryHelp)};
}

}  // namespace kdgat
