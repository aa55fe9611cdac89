#include "pipeline/verbs/commands/completion_lists.h"

#include <algorithm>

#include "pipeline/execute/run_options.h"
#include "pipeline/plugin/schema.h"
#include "pipeline/profile/profile_keys.h"
#include "pipeline/profile/profile_layers.h"
#include "pipeline/run/run_index.h"
#include "pipeline/show/text.h"
#include "pipeline/system/json_file.h"

namespace kdgat {

namespace fs = std::filesystem;
using nlohmann::json;

namespace {

/// Wider ones are cut by the shells, or break their lists.
constexpr std::size_t kWidest = 60;

std::string cut_short(const std::string& text) {
  if (text_width(text) <= kWidest) return text;
  const std::size_t blank = text.rfind(' ', kWidest - 3);
  return text.substr(0, blank == std::string::npos ? kWidest - 3 : blank) + "...";
}

/// What the words of an option say of one of its values, "none keeps words as they are"; without
/// such a clause what the option is.
std::string about_value(const std::string& description, const std::string& value) {
  for (std::size_t begin = 0; begin < description.size();) {
    const std::size_t end = std::min(description.find_first_of(";:.,", begin), description.size());
    const std::string clause = description.substr(begin, end - begin);
    if (clause.compare(0, value.size() + 1, value + " ") == 0) {
      const std::size_t whole =
          std::min(description.find_first_of(";.", begin), description.size());
      return cut_short(
          description.substr(begin + value.size() + 1, whole - begin - value.size() - 1));
    }
    begin = description.find_first_not_of(' ', std::min(end + 1, description.size()));
    if (begin == std::string::npos) break;
  }
  return first_sentence(description);
}

void add_values(const OptionSchema& option, bool is_flag, std::vector<Candidate>& to) {
  const auto add = [&](const std::string& word, const std::string& about) {
    const bool is_there =
        std::any_of(to.begin(), to.end(), [&](const Candidate& one) { return one.word == word; });
    if (!is_there && !word.empty()) to.push_back({word, about});
  };
  const OptionSchema element = option.element();
  if (element.type == "boolean" && !is_flag) {
    for (const char* word : {"true", "false"}) add(word, first_sentence(option.words));
  }
  for (const json& choice : element.choices.is_null() ? element.examples : element.choices) {
    const std::string word = choice.is_string() ? choice.get<std::string>() : choice.dump();
    if (is_form(word)) continue;  // not a value as it stands
    const bool is_default = option.otherwise == choice;
    add(word, about_value(option.words, word) + (is_default ? " (default)" : ""));
  }
}

}  // namespace

std::string first_sentence(const std::string& text) {
  return cut_short(text.substr(0, std::min(text.find(". "), text.find("; "))));
}

std::vector<Candidate> values_of(const OptionSchema& option, bool is_flag) {
  std::vector<Candidate> out;
  add_values(option, is_flag, out);
  return out;
}

std::vector<Candidate> run_candidates(const fs::path& root) {
  const RunIndex index(root);
  std::vector<Candidate> names, ids;
  for (const RunRecord& run : index.runs()) {
    const std::string about =
        run.profile + ", " + run.dataset + ", " + format_when(run.started) + ", " + run.state;
    if (!run.name.empty()) names.push_back({run.name, about});
    ids.push_back({run.id, about});
  }
  names.insert(names.end(), ids.begin(), ids.end());
  return names;
}

std::vector<Candidate> preset_candidates(const std::vector<fs::path>& folders) {
  std::vector<Candidate> out;
  for (const std::string& name : preset_names(folders)) {
    std::string about;
    for (const fs::path& folder : folders) {
      for (const char* ending : {".yaml", ".yml", ".json"}) {
        const std::string text = file_text(folder / (name + ending)).value_or("");
        if (!about.empty() || text.empty()) continue;
        about = text.substr(0, text.find('\n'));
        const std::size_t words = about.find_first_not_of("# ");
        about = about.rfind('#', 0) == 0 && words != std::string::npos ? about.substr(words) : "";
      }
    }
    if (!about.empty() && about.back() == '.') about.pop_back();
    out.push_back({name, first_sentence(about)});
  }
  return out;
}

std::vector<Candidate> value_candidates(const std::string& option, const PluginCatalog& catalog) {
  const bool is_flag = option.rfind("--", 0) == 0;
  std::string key = is_flag ? option.substr(2) : option;
  std::replace(key.begin(), key.end(), '-', '_');
  const std::size_t dot = key.rfind('.');
  const std::string place = dot == std::string::npos ? "" : key.substr(0, dot);
  if (dot != std::string::npos) key = key.substr(dot + 1);
  std::vector<Candidate> out;
  const auto look_in = [&](const json& schema) {
    const std::string own = own_option_name(schema, key);
    if (!own.empty()) add_values(read_option(option_schema(schema, own)), is_flag, out);
  };
  const SectionSchemas sections = profile_sections();
  if (place == "data.synth") look_in(sections.synth);
  if (place == "data") look_in(sections.import);
  if (place.empty()) look_in(run_schema(sections));
  const PluginDescription* named = catalog.find(place);
  if (named != nullptr) look_in(named->options);
  if (named != nullptr || place == "data" || place == "data.synth") return out;
  // A step of a profile may have any stage.
  for (const auto& [name, plugin] : catalog.all()) look_in(plugin.options);
  return out;
}

std::string candidates_text(const std::vector<Candidate>& candidates) {
  std::string out;
  for (const Candidate& one : candidates) {
    const bool is_one_line = one_line(one.word) == one.word;  // others cannot be told apart
    if (is_one_line && !one.word.empty()) out += one.word + "\t" + one_line(one.about) + "\n";
  }
  return out;
}

}  // namespace kdgat
