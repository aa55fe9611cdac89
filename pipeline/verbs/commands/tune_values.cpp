#include "pipeline/verbs/commands/tune_values.h"

#include <algorithm>
#include <exception>
#include <sstream>
#include <utility>

#include "kdgat/measure.h"
#include "pipeline/execute/device.h"
#include "pipeline/plugin/schema.h"
#include "pipeline/show/quantity.h"
#include "pipeline/show/text.h"

namespace kdgat {
namespace {

using nlohmann::json;

std::vector<std::string> modes() {
  return {"grid", "random", "asha", "example", "architecture", "loss"};
}

/// Options that can be given several values, the first ones of a stage: "dropout, heads, lr, ...".
std::string names_to_vary(const json& schema) {
  constexpr std::size_t kShown = 12;
  std::string out;
  std::size_t count = 0;
  for (const std::string& name : own_option_names(schema)) {
    const auto option = read_option(option_schema(schema, name));
    const bool is_varied =
        option.type == "integer" || option.type == "number" || !option.choices.is_null();
    if (!is_varied || option.is_runtime) continue;
    if (++count > kShown) return out + ", ...";
    out += (out.empty() ? "" : ", ") + name;
  }
  return out;
}

}  // namespace

void TuneFlags::declare(CommandLine& line) {
  line.value("--mode", mode, Offer(modes()));
  line.value("--metric", metric);
  line.value("--goal", goal, {"min", "max"});
  line.value("--devices", devices);
  whole_number(line, "--samples", samples);
  whole_number(line, "--min-epochs", first_rung);
  whole_number(line, "--eta", eta);
  whole_number(line, "--max-workers", max_workers);
  gibibytes(line, "--gpu-memory-buffer-gb,--gpu-buffer", buffer);
  gibibytes(line, "--model-memory-gb,--model-memory", model);
  line.flag("--auto-memory", is_auto);
}

void whole_number(CommandLine& line, const std::string& name, int64_t& to) {
  line.value(name, [&line, &to, name](const std::string& text) {
    std::size_t end = 0;
    try {
      to = std::stoll(text, &end);
    } catch (const std::exception&) {
    }
    if (end != text.size() || to < 1) line.problem(name + " is a whole number from 1 on");
  });
}

void gibibytes(CommandLine& line, const std::string& names, double& to) {
  line.value(names, [&line, &to, names](const std::string& text) {
    const std::string name = names.substr(0, names.find(','));
    if (const std::optional<double> number = finite_number(text); number && *number >= 0) {
      to = *number;
      return;
    }
    try {
      to = static_cast<double>(parse_bytes(text)) / kGibibyte;
    } catch (const Error&) {
      line.problem(name + " is a number of GiB, 0 or more, or a size: 2, 512MiB");
    }
  });
}

std::vector<Dimension> take_dimensions(ProfileRequest& profile, const PluginCatalog& catalog) {
  const auto takes_list = [&catalog](const std::string& key) {
    const std::string last = key.substr(key.rfind('.') + 1);
    for (const auto& [name, plugin] : catalog.all()) {
      const std::string own = own_option_name(plugin.options, last);
      if (own.empty()) continue;
      return read_option(option_schema(plugin.options, own)).type == "array";
    }
    return false;
  };
  std::vector<Dimension> out;
  std::vector<ProfileRequest::Override> rest;
  for (const ProfileRequest::Override& one : profile.overrides) {
    if (auto dimension = read_dimension(one.key, one.value, takes_list(one.key))) {
      out.push_back(std::move(*dimension));
    } else {
      rest.push_back(one);
    }
  }
  profile.overrides = std::move(rest);
  return out;
}

void refuse_without_values(const Profile& profile, const PluginCatalog& catalog) {
  for (const StepSpec& step : profile.steps) {
    const PluginDescription* plugin = catalog.find(step.stage);
    if (plugin == nullptr || (!profile.only.empty() && step.name != profile.only)) continue;
    const std::string names = names_to_vary(plugin->options);
    if (names.empty()) continue;
    throw Error(ExitCode::kUsage, "there is nothing to try: no option is given several values",
                "add values, e.g. " + std::string(kValuesToTry) + "; " + step.name + " can vary " +
                    names + "; all: kdgat config schema " + step.stage);
  }
  throw Error(ExitCode::kUsage, "there is nothing to try: no step has options that can be varied",
              "see kdgat tune --help");
}

std::vector<TrialSpec> make_trials(TuneFlags& flags, const std::vector<Dimension>& dimensions,
                                   int64_t seed) {
  const auto has_range = [&] {
    return std::any_of(dimensions.begin(), dimensions.end(),
                       [](const Dimension& one) { return one.range.has_value(); });
  };
  if (flags.mode.empty())
    flags.mode = dimensions.empty() ? kPublishedSweep : has_range() ? "random" : "grid";
  std::vector<TrialSpec> published = published_trials(flags.mode);
  if (dimensions.empty()) return published;
  if (flags.mode == "grid") return grid_trials(dimensions);
  if (flags.mode == "random") return random_trials(dimensions, flags.samples, seed);
  if (flags.mode == "asha") {
    return has_range() ? random_trials(dimensions, flags.samples, seed) : grid_trials(dimensions);
  }
  if (!published.empty()) {
    throw Error(ExitCode::kUsage,
                "--mode " + flags.mode + " says what is tried, and " + dimensions.front().key +
                    " does, too",
                "with values of your own: --mode grid, random or asha");
  }
  throw Error(ExitCode::kUsage, "there is no mode " + flags.mode,
              suggestion(flags.mode, modes(), "kdgat tune --help"));
}

SweepOptions sweep_options(const TuneFlags& flags, const RunSession& session) {
  SweepOptions o;
  const bool is_cpu = session.device == "cpu";
  const json& options = session.profile.steps.back().options.values;
  o.mode = flags.mode;
  o.metric = choose_metric(flags.metric, options);
  if (o.metric.rfind("test", 0) == 0) {
    throw Error(ExitCode::kUsage, "--metric " + o.metric + ": trials are chosen by validation",
                "test data are used once, for the trial that was chosen");
  }
  if (!flags.goal.empty() && flags.goal != "min" && flags.goal != "max") {
    throw Error(ExitCode::kUsage, "--goal " + flags.goal + " is neither min nor max");
  }
  o.goal = !flags.goal.empty() ? flags.goal : better_of(o.metric) == Better::kLess ? "min" : "max";
  o.devices = {session.device};
  if (!flags.devices.empty()) {
    o.devices.clear();
    std::istringstream list(flags.devices);
    for (std::string name; std::getline(list, name, ',');) {
      require_device(name, {session.context.catalog.find(session.profile.steps.back().stage)},
                     session.machine);
      o.devices.push_back(name);
    }
  }
  o.memory = static_cast<int64_t>(session.memory_limit());
  o.buffer = static_cast<int64_t>((flags.buffer < 0 ? (is_cpu ? 0 : 2) : flags.buffer) * kGibibyte);
  o.fixed_reservation = flags.is_auto ? 0 : static_cast<int64_t>(flags.model * kGibibyte);
  if (flags.mode == "asha") o.first_rung = flags.first_rung;
  o.eta = std::max<int64_t>(2, flags.eta);
  const auto workers = static_cast<std::size_t>(flags.max_workers);
  o.cores = session.machine.threads();
  o.threads = std::max(1, session.profile.threads);
  const auto by_cores = static_cast<std::size_t>(std::max(1, o.cores / o.threads));
  o.at_once = workers > 0 ? workers : is_cpu ? by_cores : 0;
  return o;
}

}  // namespace kdgat
