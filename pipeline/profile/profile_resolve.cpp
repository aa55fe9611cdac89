// Layers to Profile: what every option of its steps is, and every problem found.
#include <algorithm>
#include <set>

#include "kdgat/text.h"
#include "pipeline/profile/profile.h"
#include "pipeline/profile/profile_hints.h"
#include "pipeline/profile/profile_keys.h"
#include "pipeline/profile/profile_layers.h"
#include "pipeline/profile/profile_steps.h"
#include "pipeline/show/problem.h"
#include "pipeline/show/quantity.h"
#include "pipeline/show/text.h"

namespace kdgat {

using nlohmann::json;

namespace {

constexpr const char* kAllocator = "allocator";

Settings defaults_of(const json& schema) {
  Settings settings;
  for (const auto& [name, option] : options_in(schema).items()) {
    settings.values[name] = read_option(option).otherwise;
    settings.origin[name] = "default";
  }
  return settings;
}

/// A published key that is accepted at any value, with a note that it has no effect.
bool has_only_note(const std::string& key, const PluginCatalog& catalog) {
  const PublishedKey* published = published_key(key, catalog);
  return published != nullptr && published->neutral.empty() && !published->reason.empty();
}

bool is_neutral(const std::vector<json>& neutral, const Value& value) {
  return std::any_of(neutral.begin(), neutral.end(), [&](const json& allowed) {
    return allowed == value.value ||
           (allowed.is_string() && !value.text.empty() && allowed == json(value.text));
  });
}

/// As one types it: texts without quotes.
std::string plain_text(const json& value) {
  return value.is_string() ? value.get<std::string>() : value_text(value);
}

class Resolver {
 public:
  Resolver(const ProfileRequest& request, const PluginCatalog& catalog,
           const SectionSchemas& schemas)
      : request_(request),
        catalog_(catalog),
        schemas_(schemas),
        keys_(run_schema(schemas)),
        problems_(request.problems) {}

  Profile resolve() {
    layers_ = gather_layers(request_, catalog_, problems_);
    for (Layer& layer : layers_) {
      expand_values(layer, problems_);
      adopt_sections(layer);
    }
    for (const Layer& layer : layers_) {
      if (layer.kind == LayerKind::kFile) profile_.name = layer.name;
    }
    ChosenSteps chosen = choose_steps(request_, catalog_, layers_, profile_.name, problems_);
    profile_.steps = std::move(chosen.steps);
    profile_.only = std::move(chosen.only);
    has_broken_plugin_ = chosen.has_broken_plugin;
    for (Layer& layer : layers_) name_targets(layer, profile_.steps, catalog_);
    set_host();
    set_data();
    set_steps();
    for (const Layer& layer : layers_) {
      for (const Assignment& a : layer.assignments) account(layer, a);
    }
    finish();
    return std::move(profile_);
  }

 private:
  void problem(const Assignment& a, const std::string& message, const std::string& hint) {
    if (reported_.insert(&a).second) problems_.push_back({a.origin, message, hint});
  }
  /// Once, though several steps or layers come to say it.
  void note(const Assignment& a, const std::string& message, const std::string& hint = "") {
    Diagnostic found{a.origin, message, hint};
    if (noted_.insert(found.text()).second) profile_.notes.push_back(std::move(found));
  }

  // ---- values

  /// Sets one option; reports what is wrong. `label` names the option in messages.
  void set(Settings& settings, const json& schema, const std::string& own, const Assignment& a,
           const std::string& label, const std::string& see) {
    const Checked checked = check_value(option_schema(schema, own), a.value);
    if (checked.problem.empty()) {
      settings.values[own] = checked.value;
      settings.origin[own] = a.origin;
      return;
    }
    const json otherwise = read_option(option_schema(schema, own)).otherwise;
    std::string hint;
    if (!otherwise.is_null()) hint = "the default is " + value_text(otherwise);
    if (!see.empty()) hint += (hint.empty() ? "see " : "; see ") + see;
    problem(a, label + ": " + checked.problem, hint);
  }

  /// A key of a section that stands beside the host's own is one of those.
  void adopt_sections(Layer& layer) const {
    for (Assignment& a : layer.assignments) {
      const std::string own =
          a.scope == Scope::kAll ? own_option_name(schemas_.records.schema, a.key) : "";
      if (own.empty()) continue;
      a.scope = Scope::kHost;
      a.key = own;
    }
  }

  /// What is wrong with one value, beyond its schema.
  Diagnostic check_key(const Assignment& a) const {
    const json& schema = schemas_.records.schema;
    if (!options_in(schema).contains(a.key) || !schemas_.records.check) {
      return check_host_value(a.key, a.value);
    }
    const Checked checked = check_value(option_schema(schema, a.key), a.value);
    if (!checked.problem.empty()) return {};  // its schema says so
    const std::vector<Diagnostic> found = schemas_.records.check({{a.key, checked.value}});
    return found.empty() ? Diagnostic() : found.front();
  }

  void set_host_value(Settings& host, const Assignment& a, const std::string& of_step) {
    const Diagnostic refused = check_key(a);
    if (refused.message.empty()) {
      set(host, keys_, a.key, a, of_step + a.key, "");
    } else {
      problem(a, of_step + a.key + ": " + refused.message, refused.hint);
    }
  }

  void set_host() {
    Settings host = defaults_of(keys_);
    for (const Layer& layer : layers_) {
      for (const Assignment& a : layer.assignments) {
        if (a.scope == Scope::kHost) set_host_value(host, a, "");
      }
    }
    for (const std::string& name : own_option_names(schemas_.records.schema)) {
      profile_.records[name] = std::move(host.values[name]);
      host.values.erase(name);
    }
    auto own = load_options<HostOptions>(host.values);
    profile_.dataset = std::move(own.dataset);
    profile_.device = std::move(own.device);
    profile_.threads = static_cast<int>(own.threads);
    profile_.nproc = static_cast<int>(own.nproc);
    profile_.memory_limit = parse_bytes(own.memory_limit);
    profile_.allocator = std::move(own.allocator);
    profile_.seed = own.seed;
    profile_.seeds = std::move(own.seeds);
    profile_.require = std::move(own.require);
    profile_.root = std::move(own.root);
    profile_.origin = std::move(host.origin);
  }

  void set_data() {
    DataSpec& data = profile_.data;
    data.import = defaults_of(schemas_.import);
    data.synth = defaults_of(schemas_.synth);
    bool was_synthetic = false;
    for (const Layer& layer : layers_) {
      for (const Assignment& a : layer.assignments) {
        if (a.scope == Scope::kSynth) {
          // A path of the command line stands, whatever options of synthetic input it also sets.
          if (data.path.empty() || layer.kind == LayerKind::kFile) {
            if (!data.synthetic) data.where = a.origin;
            data.synthetic = was_synthetic = true;
            data.path.clear();
          } else {
            note(a, "data.synth." + a.key + " has no effect: data.path is set");
          }
          if (!a.key.empty()) set_section(data.synth, schemas_.synth, a, "data.synth");
        } else if (a.scope == Scope::kData && a.key == "path") {
          const Checked path = check_value({{"type", "string"}, {kAnyBytes, true}}, a.value);
          if (!path.problem.empty() || path.value == "") {
            problem(a, "data.path has no value", "");
            continue;
          }
          data.path = path.value;
          data.synthetic = false;
          data.where = profile_.origin["data.path"] = a.origin;
          if (layer.kind != LayerKind::kFile) name_dataset(data.path, was_synthetic);
        } else if (a.scope == Scope::kData) {
          set_section(data.import, schemas_.import, a, "data");
        }
      }
    }
    if (schemas_.settle_import) schemas_.settle_import(data.import.values);
  }

  void set_section(Settings& settings, const json& schema, const Assignment& a,
                   const std::string& section) {
    const std::string own = own_option_name(schema, a.key);
    const std::string see = "kdgat data import --help";
    if (!own.empty()) return set(settings, schema, own, a, section + "." + a.key, see);
    const std::string near = nearest(a.key, option_names(schema));
    problem(a, "unknown option " + section + "." + a.key,
            near.empty() ? "see " + see : "did you mean " + section + "." + near + "? see " + see);
  }

  /// Input named on the command line is another data set than a synthetic or unnamed one.
  void name_dataset(const std::string& path, bool was_synthetic) {
    const std::string origin = profile_.origin["dataset"];
    if (is_typed(origin) || (origin != "default" && !was_synthetic)) return;
    profile_.dataset = dataset_name(path);
    profile_.origin["dataset"] = "the name of the data";
  }

  void set_steps() {
    for (StepSpec& step : profile_.steps) {
      const PluginDescription* plugin = catalog_.find(step.stage);
      if (plugin != nullptr) step.options = defaults_of(plugin->options);
    }
    for (const Layer& layer : layers_) {
      for (const Scope scope : {Scope::kAll, Scope::kStage, Scope::kStep}) {
        for (const Assignment& a : layer.assignments) {
          if (a.scope == scope) set_in_steps(layer, a);
        }
      }
    }
    for (const StepSpec& step : profile_.steps) {
      const PluginDescription* plugin = catalog_.find(step.stage);
      if (plugin == nullptr) continue;
      refused_ = std::exchange(refused_of_[step.name], {});
      check_refused(*plugin, step.name);
    }
  }

  /// One assignment, in each step that it is for.
  void set_in_steps(const Layer& layer, const Assignment& a) {
    const std::vector<const StepSpec*> set_apart = steps_set_apart(layer, a);
    for (StepSpec& step : profile_.steps) {
      const PluginDescription* plugin = catalog_.find(step.stage);
      if (plugin == nullptr) continue;
      if (a.scope == Scope::kStage && a.target != step.stage) continue;
      if (a.scope == Scope::kStep && a.target != step.name) continue;
      if (a.key == kAllocator && a.scope != Scope::kAll) {
        set_allocator(step, a);
        continue;
      }
      const bool is_kept = a.scope == Scope::kAll &&
                           std::find(set_apart.begin(), set_apart.end(), &step) != set_apart.end();
      Settings unused = step.options;  // a value that is not taken is still checked
      refused_ = std::exchange(refused_of_[step.name], {});
      set_option(is_kept ? unused : step.options, *plugin, step.name, a);
      refused_of_[step.name] = std::exchange(refused_, {});
      const std::string own = own_option_name(plugin->options, a.key);
      if (a.scope == Scope::kStep && !own.empty()) set_by_[{step.name, own}] = layer.file;
    }
  }

  /// The steps that a value for all steps, or for all of a stage, would make like others of their
  /// stage: those for which a file below sets this option alone, differently from another step.
  /// A note names them; a value for all steps that reaches none is an error.
  std::vector<const StepSpec*> steps_set_apart(const Layer& layer, const Assignment& a) {
    std::vector<const StepSpec*> found;
    std::string kept, first;
    std::size_t takers = 0, keepers = 0;
    for (const StepSpec& step : profile_.steps) {
      const PluginDescription* plugin = catalog_.find(step.stage);
      if (plugin == nullptr || a.scope == Scope::kStep) continue;
      if (a.scope == Scope::kStage && a.target != step.stage) continue;
      const std::string own = own_option_name(plugin->options, a.key);
      if (own.empty()) continue;
      ++takers;
      const auto set_by = set_by_.find({step.name, own});
      if (set_by == set_by_.end() || set_by->second == layer.file) continue;
      const json& schema = option_schema(plugin->options, own);
      const json& value = step.options.values[own];
      const bool differs =
          std::any_of(profile_.steps.begin(), profile_.steps.end(), [&](const StepSpec& other) {
            return other.stage == step.stage && other.options.values.at(own) != value;
          });
      if (!differs || read_option(schema).is_runtime) continue;
      const Checked checked = check_value(schema, a.value);
      if (!checked.problem.empty()) return {};  // refused where it is set
      found.push_back(&step);
      if (checked.value == value) continue;
      if (kept.empty()) first = step.name;
      ++keepers;
      kept += (kept.empty() ? "" : ", ") + step.name + " (" + plain_text(value) + ")";
    }
    if (kept.empty()) return found;
    const std::string given = a.key + "=" + plain_text(a.value.value);
    if (a.scope == Scope::kStage) {
      note(a, a.target + "." + given + " replaces what the profile sets for single steps: " + kept);
      return found;
    }
    const std::string cure = "to change such a step, name it: '" + first + "." + given + "'";
    if (keepers == takers) {
      problem(a, given + " applies to no step: the profile sets " + a.key + " for each: " + kept,
              cure);
    } else {
      note(a, given + " does not apply to steps for which the profile sets " + a.key + ": " + kept,
           cure);
    }
    return found;
  }

  /// The one key of the host that a step may have of its own.
  void set_allocator(StepSpec& step, const Assignment& a) {
    used_.insert(&a);
    Settings host = defaults_of(keys_);
    set_host_value(host, a, step.name + ".");
    step.allocator = host.values[kAllocator];
    step.allocator_origin = a.origin;
  }

  /// A later layer may take back what a published file asks for: only the last value counts.
  void check_refused(const PluginDescription& plugin, const std::string& label) {
    for (const auto& [key, a] : std::exchange(refused_, {})) {
      const PublishedKey& refused = *plugin.refused_key(key);
      std::string name = label;
      name += "." + key;
      if (!is_neutral(refused.neutral, a->value)) {
        problem(*a, name + ": " + quoted_value(a->value.value) + " is not supported",
                refused.reason);
      } else if (refused.neutral.size() > 1) {  // several values, none of which does anything
        note(*a, name + " has no effect: " + refused.reason);
      }
    }
  }

  void set_option(Settings& settings, const PluginDescription& plugin, const std::string& label,
                  const Assignment& a) {
    const std::string own = own_option_name(plugin.options, a.key);
    if (!own.empty()) {
      used_.insert(&a);
      set(settings, plugin.options, own, a, label + "." + a.key,
          "kdgat plugins show " + plugin.name);
    } else if (a.scope == Scope::kAll && has_only_note(a.key, catalog_)) {
      return;  // account_flat says so once
    } else if (plugin.refused_key(a.key) != nullptr) {
      used_.insert(&a);
      refused_[a.key] = &a;
    } else if (a.scope != Scope::kAll) {
      used_.insert(&a);
      const std::string near = nearest(a.key, option_names(plugin.options));
      const std::string see = "see kdgat config schema " + plugin.name;
      problem(a, "unknown option " + label + "." + a.key,
              near.empty() ? see : "did you mean " + near + "? " + see);
    }
  }

  // ---- accounting: no key is left without an answer

  void account(const Layer& layer, const Assignment& a) {
    if (used_.count(&a) != 0) return;
    if (a.scope == Scope::kAll) {
      account_flat(layer, a);
    } else if (a.scope == Scope::kStage) {
      const PluginDescription* plugin = catalog_.find(a.target);
      if (plugin == nullptr) return unknown_target(a);
      if (a.key == kAllocator) {
        StepSpec unused{a.target, a.target, {}, {}, a.origin};
        set_allocator(unused, a);
      } else {
        Settings unused = defaults_of(plugin->options);
        set_option(unused, *plugin, a.target, a);
        check_refused(*plugin, a.target);
      }
      if (layer.kind == LayerKind::kCommandLine) {
        note(a, a.target + "." + a.key + " has no effect: no step runs " + a.target);
      }
    } else if (a.scope == Scope::kNamed ||
               (a.scope == Scope::kStep && find_step(profile_.steps, a.target) == nullptr)) {
      unknown_target(a);
    }
  }

  void account_flat(const Layer& layer, const Assignment& a) {
    if (has_only_note(a.key, catalog_))
      return note(a, a.key + ": " + published_key(a.key, catalog_)->reason);
    std::string others;
    for (const auto& [name, plugin] : catalog_.all()) {
      if (!own_option_name(plugin.options, a.key).empty() || plugin.refused_key(a.key) != nullptr) {
        others += (others.empty() ? "" : ", ") + name;
      }
    }
    if (!others.empty()) {
      if (layer.kind == LayerKind::kCommandLine) {
        note(a,
             a.key +
                 " has no effect: no step of this run has such an option; these have: " + others +
                 (options_in(schemas_.import).contains(a.key) ? "; of the data it is data." + a.key
                                                              : ""));
      }
      return;
    }
    if (const PublishedKey* published = published_key(a.key, catalog_)) {
      if (!published->neutral.empty() && !is_neutral(published->neutral, a.value)) {
        problem(a, a.key + ": " + quoted_value(a.value.value) + " is not supported",
                published->reason);
      }
      return;
    }
    unknown_option(a);
  }

  void unknown_option(const Assignment& a) {
    problem(a, "unknown option " + a.key, hint_for_option(a.key, known()));
  }

  void unknown_target(const Assignment& a) {
    if (catalog_.problems().contains(a.target)) return;  // its own problem is reported if it runs
    problem(a, "unknown stage " + a.target + " in " + a.target + "." + a.key,
            hint_for_target(a.target, a.key, known()));
  }

  KnownNames known() const { return {profile_.steps, catalog_, schemas_, keys_}; }

  void finish() {
    if (problems_.empty()) return;
    std::vector<Diagnostic> distinct;
    std::set<std::string> seen;
    for (Diagnostic& d : problems_) {
      if (seen.insert(d.text()).second) distinct.push_back(std::move(d));
    }
    const bool plugin_only = has_broken_plugin_ && distinct.size() == 1;
    throw Error(plugin_only ? ExitCode::kPlugin : ExitCode::kUsage, std::move(distinct));
  }

  const ProfileRequest& request_;
  const PluginCatalog& catalog_;
  const SectionSchemas& schemas_;
  const json keys_;
  std::vector<Diagnostic> problems_;
  std::vector<Layer> layers_;
  Profile profile_;
  std::set<const Assignment*> used_, reported_;
  std::set<std::string> noted_;
  std::map<std::string, const Assignment*> refused_;  ///< of the step at hand, by key
  std::map<std::string, std::map<std::string, const Assignment*>> refused_of_;  ///< by step
  /// The file that sets an option for a step alone, by step and option; "" = the command line.
  std::map<std::pair<std::string, std::string>, std::string> set_by_;
  bool has_broken_plugin_ = false;
};

}  // namespace

json run_schema(const SectionSchemas& sections) {
  json out = host_schema();
  out["properties"].update(options_in(sections.records.schema));
  return out;
}

Profile resolve_profile(const ProfileRequest& request, const PluginCatalog& catalog,
                        const SectionSchemas& schemas) {
  return Resolver(request, catalog, schemas).resolve();
}

}  // namespace kdgat
