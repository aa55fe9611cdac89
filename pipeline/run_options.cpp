#include "pipeline/run_options.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <set>

#include "pipeline/data.h"
#include "pipeline/profile_keys.h"
#include "pipeline/schema.h"

extern char** environ;

namespace kdgat {

namespace fs = std::filesystem;
using nlohmann::json;

namespace {

const std::vector<std::string> kValueFlags = {"--preset", "--config", "--data", "--from",
                                              "--until"};
const std::vector<std::string> kBareFlags = {"--force", "--dry-run", "--explain", "--in-process"};

bool is_one_of(const std::string& word, const std::vector<std::string>& words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

bool is_file_name(const std::string& word) {
  const std::string end = fs::path(word).extension().string();
  return end == ".yaml" || end == ".yml" || end == ".json";
}

/// Not the next flag; a negative number is a value.
bool is_value(const std::string& word) {
  return word.empty() || word[0] != '-' || word == "-" || plain_scalar(word).value.is_number();
}

std::vector<std::string> split(const std::string& text, char at) {
  std::vector<std::string> parts;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(at, begin), text.size());
    if (end > begin) parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

/// --classifier.max-epochs as a key: classifier.max_epochs.
std::string key_of(const std::string& flag) {
  std::string key = flag.substr(2);
  std::replace(key.begin(), key.end(), '-', '_');
  return key;
}

class Parser {
 public:
  Parser(const Context& context, const std::vector<std::string>& words,
         const std::vector<std::string>& own_flags)
      : context_(context), words_(words), own_flags_(own_flags), data_(data_schemas()) {}

  RunOptions parse() {
    options_.profile.environment = option_environment();
    options_.profile.preset_folders = default_preset_folders();
    while (next_ < words_.size()) {
      place_ = context_.place(next_);
      const std::string word = words_[next_++];
      if (word.size() > 1 && word[0] == '-') {
        read_flag(word == "-n" ? "--dry-run" : word);
      } else {
        read_word(word);
      }
    }
    options_.plan.only = options_.profile.stage;
    return std::move(options_);
  }

 private:
  void problem(std::string message, std::string hint = "") {
    options_.profile.problems.push_back(
        {"", std::move(message) + " (" + place_ + ")", std::move(hint)});
  }

  void override_with(const std::string& key, std::string value) {
    options_.profile.overrides.push_back({key, std::move(value), place_});
  }

  void read_word(const std::string& word) {
    if (const size_t equal = word.find('='); equal != std::string::npos && equal > 0) {
      override_with(word.substr(0, equal), word.substr(equal + 1));
    } else if (is_file_name(word)) {
      read_config(word);
    } else if (options_.profile.stage.empty()) {
      options_.profile.stage = word;
    } else {
      problem("cannot run both " + options_.profile.stage + " and " + word,
              "name one stage, or a profile with several; options are key=value");
    }
  }

  void read_config(const std::string& file) {
    if (options_.profile.config) {
      return problem("a second profile file " + file, "layer presets instead: --preset A,B");
    }
    options_.profile.config = file;
  }

  void read_flag(const std::string& word) {
    const size_t equal = word.find('=');
    const std::string flag = word.substr(0, equal);
    std::optional<std::string> value;
    if (equal != std::string::npos) value = word.substr(equal + 1);

    if (flag == "--memory-limit") {
      if (!value && has_value()) ++next_;
      problem("--memory-limit is not supported in this version",
              "give the process a limit: systemd-run --user --scope -p MemoryMax=8G kdgat ...");
    } else if (is_one_of(flag, kBareFlags) || is_one_of(flag, own_flags_)) {
      if (value) return problem(flag + " takes no value");
      set_bare(flag);
    } else if (is_one_of(flag, kValueFlags)) {
      if (!value && has_value()) value = words_[next_++];
      if (!value || value->empty()) return problem(flag + " needs a value");
      set_valued(flag, *value);
    } else {
      read_option(flag, std::move(value));
    }
  }

  bool has_value() const { return next_ < words_.size() && is_value(words_[next_]); }

  void set_bare(const std::string& flag) {
    if (flag == "--force") options_.plan.force = true;
    if (flag == "--dry-run") options_.dry_run = true;
    if (flag == "--explain") options_.explain = true;
    if (flag == "--in-process") options_.in_process = true;
    if (is_one_of(flag, own_flags_)) options_.rest.push_back(flag);
  }

  void set_valued(const std::string& flag, const std::string& value) {
    if (flag == "--preset") {
      for (std::string& name : split(value, ',')) {
        options_.profile.presets.push_back(std::move(name));
      }
    }
    if (flag == "--config") read_config(value);
    if (flag == "--data") options_.profile.data = value;
    if (flag == "--from") options_.plan.from = value;
    if (flag == "--until") options_.plan.until = value;
  }

  /// An option of the host, of a stage or of the data section as a flag.
  void read_option(const std::string& flag, std::optional<std::string> value) {
    const std::string key = flag.size() > 2 && flag[1] == '-' ? key_of(flag) : "";
    const json* schema = key.empty() ? nullptr : find_schema(key);
    if (schema == nullptr && !is_accepted(key)) {
      if (!value && has_value()) ++next_;
      std::string near = nearest(flag, known_flags());
      return problem("unknown flag " + flag,
                     near.empty() ? "see kdgat run --help" : "did you mean " + near + "?");
    }
    if (!value) value = read_values(schema);
    if (!value) return problem(flag + " needs a value");
    override_with(key, *value);
  }

  /// The words that belong to a flag: none or one for a boolean, several numbers for a list.
  std::optional<std::string> read_values(const json* schema) {
    const std::string type = schema == nullptr ? "" : schema->value("type", "");
    if (type == "boolean") return read_boolean();
    if (!has_value()) return std::nullopt;
    std::string value = words_[next_++];
    const bool numbers = type == "array" && (*schema)["items"].value("type", "") != "string";
    if (!numbers || !plain_scalar(value).value.is_number()) return value;
    while (has_value() && plain_scalar(words_[next_]).value.is_number()) {
      value += ", " + words_[next_++];
    }
    return "[" + value + "]";
  }

  /// Flags take the published spellings of truth too; profiles do not.
  std::string read_boolean() {
    static const std::vector<std::string> yes = {"true", "True", "TRUE", "1", "yes"};
    static const std::vector<std::string> no = {"false", "False", "FALSE", "0", "no"};
    if (next_ < words_.size()) {
      const bool is_yes = is_one_of(words_[next_], yes);
      if (is_yes || is_one_of(words_[next_], no)) {
        ++next_;
        return is_yes ? "true" : "false";
      }
    }
    return "true";
  }

  /// The schema of the option a key names, whatever step or stage stands before the dot.
  const json* find_schema(const std::string& key) const {
    const size_t dot = key.rfind('.');
    const std::string last = dot == std::string::npos ? key : key.substr(dot + 1);
    const auto in = [&](const json& schema) -> const json* {
      const std::string own = own_option_name(schema, last);
      return own.empty() ? nullptr : &option_schema(schema, own);
    };
    if (key.rfind("data.synth.", 0) == 0) return in(data_.synth);
    if (key.rfind("data.", 0) == 0) return in(data_.import);
    if (dot == std::string::npos) {
      if (const json* found = in(host_schema())) return found;
    }
    for (const auto& [name, plugin] : context_.catalog.all()) {
      if (const json* found = in(plugin.options)) return found;
    }
    return nullptr;
  }

  /// Keys without a schema that resolve_profile nevertheless answers for.
  bool is_accepted(const std::string& key) const {
    if (key.empty()) return false;
    if (key == "data.path" || published_key(key) != nullptr) return true;
    const std::string last = key.substr(key.rfind('.') + 1);  // npos + 1 = 0
    for (const auto& [name, plugin] : context_.catalog.all()) {
      for (const json& refused : plugin.refused) {
        if (refused.value("name", "") == last) return true;
      }
    }
    return false;
  }

  std::vector<std::string> known_flags() const {
    std::vector<std::string> flags = kValueFlags;
    flags.insert(flags.end(), kBareFlags.begin(), kBareFlags.end());
    flags.insert(flags.end(), own_flags_.begin(), own_flags_.end());
    const auto add = [&](const json& schema, const std::string& prefix) {
      for (const std::string& name : option_names(schema)) flags.push_back(flag_of(prefix + name));
    };
    add(host_schema(), "");
    add(data_.import, "data.");
    add(data_.synth, "data.synth.");
    for (const auto& [name, plugin] : context_.catalog.all()) add(plugin.options, "");
    for (const auto& [name, plugin] : context_.catalog.all()) add(plugin.options, name + ".");
    return flags;
  }

  const Context& context_;
  const std::vector<std::string>& words_;
  const std::vector<std::string>& own_flags_;
  const SectionSchemas data_;
  size_t next_ = 0;
  std::string place_;
  RunOptions options_;
};

}  // namespace

RunOptions parse_run_options(const Context& context, const std::vector<std::string>& arguments,
                             const std::vector<std::string>& own_flags) {
  return Parser(context, arguments, own_flags).parse();
}

std::map<std::string, std::string> option_environment() {
  // What the program and its tests read themselves.
  static const std::set<std::string> own = {"KDGAT_PLUGIN_PATH", "KDGAT_ISA",       "KDGAT_SHARED",
                                            "KDGAT_BINARY",      "KDGAT_BUILD_DIR", "KDGAT_PYTHON",
                                            "KDGAT_PROGRESS"};
  std::map<std::string, std::string> found;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string text = *entry;
    const size_t equal = text.find('=');
    const std::string name = text.substr(0, equal);
    if (name.rfind("KDGAT_", 0) == 0 && own.count(name) == 0) found[name] = text.substr(equal + 1);
  }
  return found;
}

}  // namespace kdgat
