#include "pipeline/execute/run_options.h"

#include <algorithm>
#include <filesystem>
#include <set>

#include "pipeline/cli/command_line.h"
#include "pipeline/data/data.h"
#include "pipeline/plugin/schema.h"
#include "pipeline/profile/profile_keys.h"
#include "pipeline/profile/profile_layers.h"
#include "pipeline/records/record_options.h"
#include "pipeline/show/text.h"
#include "pipeline/system/program.h"
#include "pipeline/system/secrets.h"

extern char** environ;

namespace kdgat {

namespace fs = std::filesystem;
using nlohmann::json;

namespace {

/// The options of the host, of the data section and of every stage.
class OptionSchemas {
 public:
  explicit OptionSchemas(const PluginCatalog& catalog)
      : catalog_(catalog), data_(profile_sections()), keys_(run_schema(data_)) {}

  /// The schema of the option a key names; one that says nothing for a key that resolve_profile
  /// answers for without a schema.
  const json* find(const std::string& key) const {
    const std::string last = key.substr(key.rfind('.') + 1);  // npos + 1 = 0
    if (const json* found = find_declared(key, last)) return found;
    static const json any = json::object();
    if (key == "data.path" || published_key(key, catalog_) != nullptr) return &any;
    for (const auto& [name, plugin] : catalog_.all()) {
      if (plugin.refused_key(last) != nullptr) return &any;
    }
    return nullptr;
  }

  std::vector<std::string> keys() const {
    std::vector<std::string> keys;
    const auto add = [&](const json& schema, const std::string& prefix) {
      for (const std::string& name : option_names(schema)) keys.push_back(prefix + name);
    };
    add(keys_, "");
    add(data_.import, "data.");
    add(data_.synth, "data.synth.");
    for (const auto& [name, plugin] : catalog_.all()) add(plugin.options, "");
    for (const auto& [name, plugin] : catalog_.all()) add(plugin.options, name + ".");
    return keys;
  }

 private:
  /// Whatever step or stage stands before the dot.
  const json* find_declared(const std::string& key, const std::string& last) const {
    const auto in = [&](const json& schema) -> const json* {
      const std::string own = own_option_name(schema, last);
      return own.empty() ? nullptr : &option_schema(schema, own);
    };
    if (key.rfind("data.synth.", 0) == 0) return in(data_.synth);
    if (key.rfind("data.", 0) == 0) return in(data_.import);
    if (key == last) {
      if (const json* found = in(keys_)) return found;
    }
    for (const auto& [name, plugin] : catalog_.all()) {
      if (const json* found = in(plugin.options)) return found;
    }
    return nullptr;
  }

  const PluginCatalog& catalog_;
  const SectionSchemas data_;
  const json keys_;
};

Offer offered_words(const RunFlags& extras) {
  Offer out = extras.takes_data ? Offer(Offer::kFiles) : Offer{Offer::kStages, Offer::kFiles};
  if (extras.action != nullptr) out.words.emplace_back(extras.action);
  return out;
}

/// --explain was a flag of every verb that takes these words, and is one of kdgat plan.
void refuse_explain(const Context& context, const std::string& called,
                    std::vector<std::string> words) {
  const std::string flag = "--explain";
  const auto end = std::find(words.begin(), words.end(), "--");
  const auto said = std::find(words.begin(), end, flag);
  if (said == end) return;
  if (called == "kdgat run") throw moved(context, called + " " + flag, "kdgat plan", words);
  *said = "--dry-run";
  throw moved(context, called + " " + flag, called, words);
}

}  // namespace

SectionSchemas profile_sections() {
  SectionSchemas out = data_schemas();
  out.records = record_section();
  return out;
}

RunOptions parse_run_options(const Context& context, const std::vector<std::string>& arguments,
                             const RunFlags& extras) {
  RunOptions options;
  ProfileRequest& profile = options.profile;
  profile.environment = option_environment();
  profile.preset_folders = default_preset_folders();

  const OptionSchemas schemas(context.catalog);
  CommandLine line(context, extras.called);
  const auto set = [&](const std::string& key, const std::string& value) {
    profile.overrides.push_back({key, value, line.place()});
  };
  const auto read_config = [&](const std::string& file) {
    if (profile.config) {
      return line.problem("a second profile file " + file, "layer presets instead: --preset A,B");
    }
    profile.config = file;
  };
  const auto read_presets = [&](const std::string& names) {
    const std::vector<std::string> named = parts_of(names, ',');
    profile.presets.insert(profile.presets.end(), named.begin(), named.end());
  };
  line.value("--preset", read_presets, Offer::kPresets);
  line.value("--config", read_config, Offer::kFiles);
  const auto read_data = [&](const std::string& path) {
    if (!profile.data.empty()) {
      return line.problem("--data is given twice: " + profile.data + " and " + path,
                          "a run reads one data set: put both into one folder");
    }
    profile.data = path;
  };
  line.value("--data", read_data, Offer::kFiles);
  line.value("--require", [&](const std::string& text) {
    options.require.push_back({"require", text, line.place()});
  });
  const auto label = [&](const char* flag, const std::string& text) {
    const std::string problem = label_problem(text);
    if (!problem.empty()) line.problem(std::string(flag) + " \"" + text + "\" " + problem);
    return problem.empty();
  };
  line.value("--name", [&](const std::string& text) {
    if (label("--name", text)) options.labels.name = text;
  });
  line.value("--tag", [&](const std::string& text) {
    if (label("--tag", text)) options.labels.tags.push_back(text);
  });
  line.value("--from", options.plan.from);
  line.value("--until", options.plan.until);
  line.flag("--force", options.plan.force);
  line.flag("--verify", options.verify);
  line.flag("-n,--dry-run", options.dry_run);
  if (extras.explains) line.flag("--explain", options.dry_run);
  line.flag("--in-process", options.in_process);
  if (extras.takes_seeds) {
    line.value("--at-once", [&](const std::string& text) {
      const auto number = finite_number(text);
      if (!number || *number < 1 || *number > 1000 || *number != static_cast<int>(*number)) {
        return line.problem("--at-once " + text + " is no number of runs", "1, 2, ...");
      }
      options.at_once = static_cast<int>(*number);
    });
  }
  if (extras.declare) extras.declare(line, options);
  line.options({[&](const std::string& key) { return schemas.find(key); },
                [&] { return schemas.keys(); }, set, true, true});
  const auto read_word = [&](const std::string& word) {
    if (const size_t equal = word.find('='); equal != std::string::npos && equal > 0) {
      set(word.substr(0, equal), word.substr(equal + 1));
    } else if (is_profile_file(word)) {
      read_config(word);
    } else if (extras.takes_data) {
      read_data(word);
    } else if (profile.stage.empty()) {
      profile.stage = word;
    } else {
      line.problem("cannot run both " + profile.stage + " and " + word,
                   "name one stage, or a profile with several; options are key=value");
    }
  };
  line.words(read_word, offered_words(extras));
  profile.problems = line.read(arguments);
  if (!extras.explains) refuse_explain(context, extras.called, arguments);
  if (extras.takes_data && profile.data.empty()) {
    throw Error(ExitCode::kUsage, extras.called + " needs logs",
                "a log, a folder of logs, or -; see " + extras.called + " --help");
  }
  options.plan.only = profile.stage;
  return options;
}

std::string typed_line(const Context& context, const std::string& called,
                       const std::vector<std::string>& words) {
  std::vector<std::string> all;
  all.reserve(words.size());
  for (const std::string& word : words) all.push_back(without_secrets(word));
  for (const fs::path& folder : context.plugin_folders) {
    all.insert(all.end(), {"--plugin-dir", folder.string()});
  }
  return called + (all.empty() ? "" : " ") + shell_line(all);
}

Error moved(const Context& context, const std::string& old, const std::string& called,
            std::vector<std::string> words) {
  if (context.verbosity > 0) words.emplace_back("-v");
  if (context.json) words.emplace_back("--json");
  return Error(ExitCode::kUsage, old + " is now " + typed_line(context, called, words));
}

std::map<std::string, std::string> option_environment() {
  // What the program and its tests read themselves.
  static const std::set<std::string> own = {
      "KDGAT_PLUGIN_PATH", "KDGAT_ISA",      "KDGAT_SHARED", "KDGAT_BINARY",  "KDGAT_BUILD_DIR",
      "KDGAT_PYTHON",      "KDGAT_PROGRESS", "KDGAT_NVRTC",  "KDGAT_KERNELS", "KDGAT_REQUIRE_GPU"};
  std::map<std::string, std::string> found;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string text = *entry;
    const size_t equal = text.find('=');
    const std::string name = text.substr(0, equal);
    // A command that is told of an alarm (pipeline/alarms/) may be this program again.
    const bool is_own = own.count(name) != 0 || name.rfind("KDGAT_ALARM_", 0) == 0;
    if (name.rfind("KDGAT_", 0) == 0 && !is_own) found[name] = text.substr(equal + 1);
  }
  return found;
}

}  // namespace kdgat
