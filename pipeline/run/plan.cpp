#include "pipeline/run/plan.h"

#include <algorithm>
#include <set>

#include "kdgat/exact_json.h"
#include "kdgat/kinds.h"
#include "pipeline/plugin/schema.h"
#include "pipeline/run/plan_reasons.h"
#include "pipeline/show/text.h"
#include "pipeline/system/hash.h"

namespace kdgat {
namespace {

bool makes(const PluginDescription& plugin, const std::string& kind) {
  return std::any_of(plugin.outputs.begin(), plugin.outputs.end(),
                     [&](const PortDescription& port) { return port.kind == kind; });
}

/// A port may name several domains, and of one how many classes its data have: "can, graphs of 2
/// classes".
bool names_domain(const PortDescription& port, const std::string& domain) {
  const std::string all = ", " + port.domain + ",";
  return all.find(", " + domain + ",") != std::string::npos ||
         all.find(", " + domain + " of ") != std::string::npos;
}

/// Whether a port that names the domain of the data takes so many classes.
bool takes_classes(const PortDescription& port, const DataKind& data) {
  const std::string all = ", " + port.domain + ",", named = ", " + data.domain + " of ";
  const std::size_t at = all.find(named);
  if (at == std::string::npos || data.classes < 0) return true;
  return all.substr(at + named.size()).starts_with(std::to_string(data.classes) + " ");
}

bool reads(const PluginDescription& plugin, const DataKind& data) {
  return std::any_of(plugin.inputs.begin(), plugin.inputs.end(), [&](const PortDescription& port) {
    return names_domain(port, data.domain) && takes_classes(port, data);
  });
}

std::string sentence(const PluginDescription& plugin, const PortDescription& port) {
  return "input \"" + port.name + "\" of " + plugin.name + " (kind " + port.kind + ")";
}

/// What is required for data of a domain alone, which is not known when steps are wired.
bool is_of_domain(const PortDescription& port) {
  return port.kind != kind::kGraphs && !port.domain.empty();
}

/// Which stages make what a port wants.
std::string hint_for(const PortDescription& port, const PluginCatalog& catalog) {
  std::vector<std::string> makers;
  for (const auto& [name, plugin] : catalog.all()) {
    if (makes(plugin, port.kind)) makers.push_back(name);
  }
  if (makers.empty()) return "no stage here makes that; see kdgat plugins list";
  return "a step before it must be one of " + joined(makers, ", ") +
         ": name a preset or profile that has one, e.g. kdgat run --preset smoke";
}

/// A required port that no step fills.
Diagnostic unmade(const StepSpec& spec, const PluginDescription& plugin,
                  const PortDescription& port, const PluginCatalog& catalog) {
  return {spec.where,
          sentence(plugin, port) + " is made by no step" +
              (spec.needs.empty() ? " before it" : " it needs"),
          hint_for(port, catalog)};
}

/// Finds what each step reads; collects every problem before it gives up.
class Wiring {
 public:
  Wiring(const Profile& profile, const PluginCatalog& catalog) : catalog_(catalog) {
    for (const StepSpec& spec : profile.steps) {
      const PluginDescription* plugin = catalog.find(spec.stage);
      if (plugin == nullptr) missing_plugin(spec, catalog);
      check_name(spec);
      plugins_.push_back(plugin);
      steps_.emplace_back().spec = spec;
    }
    stop_if(ExitCode::kPlugin);
    for (std::size_t i = 0; i < steps_.size(); ++i) wire(i);
    stop_if(ExitCode::kUsage);
  }

  std::vector<PlannedStep>& steps() { return steps_; }
  const PluginDescription& plugin(std::size_t i) const { return *plugins_[i]; }

  std::optional<std::size_t> find(const std::string& name) const {
    for (std::size_t i = 0; i < steps_.size(); ++i) {
      if (steps_[i].spec.name == name) return i;
    }
    return std::nullopt;
  }

  /// Indices in an order where needs come first, file order where free. Throws on a cycle.
  std::vector<std::size_t> order() const {
    std::vector<std::size_t> order;
    std::vector<bool> placed(steps_.size());
    while (order.size() < steps_.size()) {
      std::size_t next = 0;
      while (next < steps_.size() && (placed[next] || !is_ready(next, placed))) ++next;
      if (next == steps_.size()) fail_cycle(placed);
      placed[next] = true;
      order.push_back(next);
    }
    return order;
  }

 private:
  void missing_plugin(const StepSpec& spec, const PluginCatalog& catalog) {
    const auto broken = catalog.problems().find(spec.stage);
    if (broken != catalog.problems().end()) {
      problems_.push_back(broken->second);
      return;
    }
    std::vector<std::string> known;
    for (const auto& [name, plugin] : catalog.all()) known.push_back(name);
    problems_.push_back({spec.where, "no plugin for stage " + spec.stage,
                         known.empty() ? "no plugin was found; see kdgat plugins list"
                                       : "there are " + joined(known, ", ")});
  }

  void check_name(const StepSpec& spec) {
    if (spec.name.empty() || spec.name == kDataStep || spec.name.front() == '.' ||
        spec.name.find('/') != std::string::npos) {
      problems_.push_back({spec.where, "\"" + spec.name + "\" cannot name a step",
                           "a step's name is also its folder; \"data\" is taken"});
    }
  }

  void wire(std::size_t i) {
    PlannedStep& step = steps_[i];
    const StepSpec& spec = step.spec;
    for (const std::string& need : spec.needs) {
      if (need == spec.name) {
        problems_.push_back({spec.where, spec.name + ": needs itself", ""});
      } else if (need != kDataStep && !find(need)) {
        problems_.push_back({spec.where, spec.name + ": needs " + need + ", which is not a step",
                             "there are " + step_names()});
      }
    }
    step.needs = spec.needs;
    for (const PortDescription& port : plugins_[i]->inputs) {
      std::vector<std::string> producers = candidates(i, port);
      if (!port.many && producers.size() > 1) {
        problems_.push_back({spec.where,
                             sentence(*plugins_[i], port) + " takes one step, but " +
                                 joined(producers, " and ") + " make it",
                             "name one under needs: of " + spec.name});
      }
      if (port.required && producers.empty() && !is_of_domain(port)) {
        problems_.push_back(unmade(spec, *plugins_[i], port, catalog_));
      }
      for (const std::string& name : producers) {
        if (std::find(step.needs.begin(), step.needs.end(), name) == step.needs.end()) {
          step.needs.push_back(name);
        }
      }
      if (!producers.empty()) step.inputs[port.name] = std::move(producers);
    }
  }

  /// Who could fill a port: of the needs that were named, or else of all earlier steps. A port that
  /// may stay empty is filled by name alone: an earlier model is not a teacher because it is there.
  std::vector<std::string> candidates(std::size_t i, const PortDescription& port) const {
    const std::vector<std::string>& named = steps_[i].spec.needs;
    std::vector<std::string> found;
    for (std::size_t k = 0; k < steps_.size(); ++k) {
      const std::string& name = steps_[k].spec.name;
      const bool eligible =
          named.empty() ? k < i && port.kind != kind::kGraphs && port.required
                        : k != i && std::find(named.begin(), named.end(), name) != named.end();
      if (eligible && makes(*plugins_[k], port.kind)) found.push_back(name);
    }
    // There is only one data set, so it need not be named.
    if (found.empty() && port.kind == kind::kGraphs) found.emplace_back(kDataStep);
    return found;
  }

  std::string step_names() const {
    std::vector<std::string> names;
    for (const PlannedStep& step : steps_) names.push_back(step.spec.name);
    return joined(names, ", ");
  }

  bool is_ready(std::size_t i, const std::vector<bool>& placed) const {
    return std::all_of(steps_[i].needs.begin(), steps_[i].needs.end(),
                       [&](const std::string& need) {
                         const auto k = find(need);
                         return !k || placed[*k];
                       });
  }

  [[noreturn]] void fail_cycle(const std::vector<bool>& placed) const {
    std::vector<std::string> names;
    std::string where;
    for (std::size_t i = 0; i < steps_.size(); ++i) {
      if (placed[i]) continue;
      names.push_back(steps_[i].spec.name);
      if (where.empty()) where = steps_[i].spec.where;
    }
    throw Error(ExitCode::kUsage, "steps need each other in a circle: " + joined(names, ", "), "",
                where);
  }

  void stop_if(ExitCode code) {
    if (!problems_.empty()) throw Error(code, std::move(problems_));
  }

  const PluginCatalog& catalog_;
  std::vector<PlannedStep> steps_;
  std::vector<const PluginDescription*> plugins_;
  std::vector<Diagnostic> problems_;
};

/// The options that can change results; those that came later only where they do (Field::later).
/// What a path names counts, not where it lies.
nlohmann::json lasting_options(const StepSpec& spec, const PluginDescription& plugin) {
  nlohmann::json options = nlohmann::json::object();
  const nlohmann::json& schemas = options_in(plugin.options);
  for (const auto& [name, value] : spec.options.values.items()) {
    const auto schema = schemas.find(name);
    const OptionSchema option = schema == schemas.end() ? OptionSchema() : read_option(*schema);
    if (option.is_runtime || (option.is_later && value == option.otherwise)) continue;
    const auto content = spec.contents.find(name);
    options[name] =
        content == spec.contents.end() ? value : nlohmann::json("content " + content->second);
  }
  return options;
}

class Selection {
 public:
  Selection(Wiring& wiring, const PlanRequest& request)
      : wiring_(wiring), order_(wiring.order()), chosen_(order_.size()), forced_(order_.size()) {
    const std::size_t from = request.from.empty() ? 0 : position("--from", request.from);
    const std::size_t until =
        request.until.empty() ? order_.size() - 1 : position("--until", request.until);
    if (!request.from.empty() && !request.until.empty() && until < from) {
      throw Error(ExitCode::kUsage,
                  "--until " + request.until + " comes before --from " + request.from);
    }
    bool found = request.only.empty();
    for (std::size_t at = from; at < order_.size() && at <= until; ++at) {
      const StepSpec& spec = wiring_.steps()[order_[at]].spec;
      if (!request.only.empty() && !matches(spec, request.only)) continue;
      found = true;
      choose(order_[at]);
      forced_[order_[at]] = request.force;
    }
    if (!found) fail_unknown("", request.only);
    if (request.force && request.only.empty() && request.from.empty()) forced_ = chosen_;
    if (!request.from.empty()) force_with_dependants(order_[from]);
  }

  std::vector<std::size_t> order() const {
    std::vector<std::size_t> out;
    std::copy_if(order_.begin(), order_.end(), std::back_inserter(out),
                 [&](std::size_t i) { return chosen_[i]; });
    return out;
  }
  bool is_forced(std::size_t i) const { return forced_[i]; }

 private:
  /// A step by its name, or every step of a stage when no step has that name.
  bool matches(const StepSpec& spec, const std::string& name) const {
    return spec.name == name || (spec.stage == name && !wiring_.find(name));
  }

  void choose(std::size_t i) {
    if (chosen_[i]) return;
    chosen_[i] = true;
    for (const std::string& need : wiring_.steps()[i].needs) {
      if (const auto k = wiring_.find(need)) choose(*k);
    }
  }

  /// Needs stand before what needs them, so one pass meets every dependant.
  void force_with_dependants(std::size_t first) {
    forced_[first] = true;
    for (const std::size_t i : order_) {
      for (const std::string& need : wiring_.steps()[i].needs) {
        const auto k = wiring_.find(need);
        if (k && forced_[*k]) forced_[i] = true;
      }
    }
  }

  std::size_t position(const std::string& flag, const std::string& name) const {
    for (std::size_t at = 0; at < order_.size(); ++at) {
      if (wiring_.steps()[order_[at]].spec.name == name) return at;
    }
    fail_unknown(flag, name);
  }

  [[noreturn]] void fail_unknown(const std::string& flag, const std::string& name) const {
    std::vector<std::string> names;
    for (const PlannedStep& step : wiring_.steps()) names.push_back(step.spec.name);
    throw Error(ExitCode::kUsage, "no step is called " + name, "there are " + joined(names, ", "),
                flag);
  }

  Wiring& wiring_;
  std::vector<std::size_t> order_;
  std::vector<bool> chosen_, forced_;
};

/// Steps that are kept although their plugins were built again, and the runs that made them.
struct BuiltAgain {
  std::vector<std::string> steps;
  std::set<std::string> runs;

  /// One cause, one warning, however many steps there are.
  void warn(std::vector<std::string>& warnings) const {
    if (steps.empty()) return;
    const std::vector<std::string> of(runs.begin(), runs.end());
    const bool is_one = steps.size() == 1;
    warnings.push_back(joined(steps, ", ") +
                       (is_one ? ": its plugin was" : ": their plugins were") +
                       " built again since run " + joined(of, ", ") + " with the same stage " +
                       (is_one ? "version: the result is" : "versions: the results are") +
                       " kept (--force makes " + (is_one ? "it" : "them") + " again)");
  }
};

void decide(PlannedStep& step, const PluginDescription& plugin, bool is_forced, bool knows_data,
            const std::vector<PastStep>& past, BuiltAgain& built_again) {
  if (!knows_data) {
    step.reason = "unknown until imported";
    return;
  }
  if (is_forced) {
    step.reason = "forced";
    return;
  }
  const auto same = std::find_if(past.begin(), past.end(), [&](const PastStep& p) {
    return p.step == step.spec.name && p.fingerprint == step.fingerprint && p.missing.empty();
  });
  if (same == past.end()) {
    step.reason = why_run(step, past);
    return;
  }
  step.action = Action::kKeep;
  step.reason = why_kept(step, *same);
  step.kept = *same;
  if (same->library_hash != plugin.library_hash) {
    built_again.steps.push_back(step.spec.name);
    built_again.runs.insert(short_run(same->run));
  }
}

}  // namespace

Plan make_plan(const Profile& profile, const PluginCatalog& catalog,
               const std::string& data_fingerprint, const std::vector<PastStep>& past,
               const PlanRequest& request) {
  if (profile.steps.empty()) throw Error(ExitCode::kUsage, "the profile names no steps");
  Wiring wiring(profile, catalog);
  const Selection selection(wiring, request);
  Plan plan;
  std::map<std::string, std::string> fingerprints{{kDataStep, data_fingerprint}};
  std::map<std::string, bool> known{{kDataStep, data_fingerprint != kUnknownData}};
  nlohmann::json all = nlohmann::json::array();
  BuiltAgain built_again;
  for (const std::size_t i : selection.order()) {
    PlannedStep step = std::move(wiring.steps()[i]);
    const std::string name = step.spec.name;
    const PluginDescription& plugin = wiring.plugin(i);
    nlohmann::json inputs = nlohmann::json::object();
    bool knows_data = true;
    for (const auto& [port, producers] : step.inputs) {
      for (const std::string& producer : producers) {
        inputs[port].push_back({{"step", producer}, {"fingerprint", fingerprints.at(producer)}});
        knows_data = knows_data && known.at(producer);
      }
    }
    step.ingredients = {{"stage", step.spec.stage},
                        {"version", plugin.version},
                        {"options", lasting_options(step.spec, plugin)},
                        {"seed", profile.seed},
                        {"inputs", std::move(inputs)}};
    // Packs are planned to fit a limit, and results depend on packs. Absent without one: a limit
    // that no one sets changes no fingerprint.
    if (profile.memory_limit > 0) step.ingredients["memory_limit"] = profile.memory_limit;
    step.fingerprint = hash_text(exact_dump(step.ingredients));
    decide(step, plugin, selection.is_forced(i), knows_data, past, built_again);
    fingerprints[name] = step.fingerprint;
    known[name] = knows_data;
    all.push_back({name, step.fingerprint});
    plan.steps.push_back(std::move(step));
  }
  built_again.warn(plan.warnings);
  plan.fingerprint = hash_text(exact_dump(all));
  return plan;
}

void check_domains(const Plan& plan, const PluginCatalog& catalog, const DataKind& data) {
  const std::string& domain = data.domain;
  if (domain.empty()) return;
  std::vector<std::string> fitting;
  for (const auto& [name, plugin] : catalog.all()) {
    if (reads(plugin, data)) fitting.push_back(name);
  }
  const std::string hint = fitting.empty() ? "no stage here reads such data"
                                           : "stages for such data: " + joined(fitting, ", ");
  const std::string classes = data.classes == 0 ? " without classes"
                                                : " of " + std::to_string(data.classes) +
                                                      (data.classes == 1 ? " class" : " classes");
  std::vector<Diagnostic> problems, unmade_ports;
  for (const PlannedStep& step : plan.steps) {
    const PluginDescription& plugin = *catalog.find(step.spec.stage);
    for (const PortDescription& port : plugin.inputs) {
      const auto producers = step.inputs.find(port.name);
      const bool is_filled = producers != step.inputs.end();
      if (is_of_domain(port)) {
        if (port.required && !is_filled && names_domain(port, domain)) {
          unmade_ports.push_back(unmade(step.spec, plugin, port, catalog));
        }
        continue;
      }
      const bool is_of_data = is_filled && producers->second.front() == kDataStep;
      if (!is_of_data || port.domain.empty()) continue;
      const bool is_named = names_domain(port, domain);
      if (is_named && takes_classes(port, data)) continue;
      problems.push_back({step.spec.where,
                          step.spec.name + ": the stage " + step.spec.stage +
                              " reads data of the domain " + port.domain + ", this is " + domain +
                              (is_named ? classes : ""),
                          hint});
    }
  }
  if (!problems.empty()) throw Error(ExitCode::kData, std::move(problems));
  if (!unmade_ports.empty()) throw Error(ExitCode::kUsage, std::move(unmade_ports));
}

bool Plan::needs_no_work() const {
  return std::all_of(steps.begin(), steps.end(),
                     [](const PlannedStep& step) { return step.action == Action::kKeep; });
}

std::string short_run(const std::string& id, std::size_t end) {
  return id.size() <= 6 + end ? id : id.substr(0, 4) + "…" + id.substr(id.size() - end);
}

std::string short_hash(const std::string& hash) {
  return hash.size() <= 8 ? hash : hash.substr(0, 4) + "…";
}

}  // namespace kdgat
