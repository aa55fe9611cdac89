#include "pipeline/slurm/site_profile.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <cstdio>
#include <set>

#include "pipeline/memory/cards.h"
#include "pipeline/show/quantity.h"
#include "pipeline/show/text.h"
#include "pipeline/system/program.h"
#include "pipeline/system/secrets.h"

namespace kdgat {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr int64_t kHour = 60, kDay = 24 * kHour;

/// What the script itself says to sbatch, and the key that changes it ("" = none does).
constexpr std::pair<const char*, const char*> kTaken[] = {
    {"--account", "account"},
    {"--array", ""},
    {"--constraint", "constraint"},
    {"--cpus-per-task", "cpus_per_task"},
    {"--dependency", ""},
    {"--error", ""},
    {"--exclude", "exclude"},
    {"--gpus-per-node", "gpus"},
    {"--job-name", ""},
    {"--mem", "mem"},
    {"--no-requeue", "requeues"},
    {"--open-mode", ""},
    {"--output", ""},
    {"--partition", "partition"},
    {"--qos", "qos"},
    {"--requeue", "requeues"},
    {"--signal", "signal"},
    {"--time", "time"},
};

/// Adds what `check` throws about the value of a key.
template <class Check>
void check_with(std::vector<Diagnostic>& problems, const std::string& key, const Check& check) {
  try {
    check();
  } catch (const Error& e) {
    const Diagnostic& d = e.diagnostics().front();
    problems.push_back({"", key + ": " + d.message, d.hint});
  }
}

/// Every text of a site profile that comes into a script, with its key.
std::vector<std::pair<std::string, std::string>> texts_of(const SiteOptions& site) {
  std::vector<std::pair<std::string, std::string>> out = {
      {"account", site.account},       {"partition", site.partition}, {"qos", site.qos},
      {"constraint", site.constraint}, {"exclude", site.exclude},     {"gpu_type", site.gpu_type},
      {"container", site.container}};
  const auto add = [&](const char* key, const std::vector<std::string>& lines) {
    for (const std::string& line : lines) out.emplace_back(key, line);
  };
  add("sbatch", site.sbatch);
  add("modules", site.modules);
  add("before", site.before);
  add("environment", site.environment);
  return out;
}

/// What must not come into a script: more lines than were meant, and what only its owner may read.
void check_text(std::vector<Diagnostic>& problems, const std::string& key,
                const std::string& text) {
  std::string line = text;
  if (key == "before") std::replace(line.begin(), line.end(), '\n', ' ');  // a shell's, as it is
  std::replace(line.begin(), line.end(), '\t', ' ');
  if (holds_control(line))
    problems.push_back({"", key + ": \"" + text + "\" holds a control character", ""});
  if (!holds_secret(text)) return;
  problems.push_back({"", key + ": \"" + without_secrets(text) + "\": a secret in a batch script",
                      "set it where kdgat submit is started: sbatch hands the environment on; or "
                      "read it from a file, e.g. before: [export NAME=$(cat FILE)]"});
}

bool is_variable(const std::string& name) {
  return !name.empty() && std::isdigit(static_cast<unsigned char>(name.front())) == 0 &&
         std::all_of(name.begin(), name.end(), [](char c) {
           return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
         });
}

[[noreturn]] void no_time(const std::string& text) {
  throw Error(ExitCode::kUsage, "\"" + text + "\" is not a time",
              "45s, 90min, 6h, 2d, minutes, 1:30:00 or 2-00:00:00");
}

/// Minutes of "1:30:00", "2-00:00:00", "30:00" (minutes and seconds), as SLURM reads them; rounded
/// up.
double minutes_of_clock(const std::string& text) {
  long days = 0, a = 0, b = 0, c = 0;
  int end = 0;
  const char* at = text.c_str();
  const bool has_days = std::sscanf(at, "%6ld-%n", &days, &end) == 1 && end > 0;
  if (has_days) at += end;
  end = 0;
  const int got = std::sscanf(at, "%6ld%n:%6ld%n:%6ld%n", &a, &end, &b, &end, &c, &end);
  const bool is_signed = text.find_first_of("+ ") != std::string::npos ||
                         std::count(text.begin(), text.end(), '-') > (has_days ? 1 : 0);
  if (got < (has_days ? 1 : 2) || at[end] != '\0' || is_signed) no_time(text);
  const double clock = has_days || got == 3 ? 60.0 * a + b + (c > 0 ? 1 : 0) : a + (b > 0 ? 1 : 0);
  return (has_days ? static_cast<double>(days * kDay) : 0) + clock;
}

fs::path find_site(const std::string& name, const std::vector<fs::path>& folders) {
  if (fs::is_regular_file(name)) return name;
  for (const fs::path& folder : folders) {
    if (fs::is_regular_file(folder / (name + ".yaml"))) return folder / (name + ".yaml");
  }
  const std::vector<std::string> known = site_names(folders);
  const std::string near = nearest(name, known);
  throw Error(ExitCode::kUsage, "no site profile is called " + name,
              near.empty() ? "a YAML file, or one of: " + joined(known, ", ")
                           : "did you mean " + near + "?");
}

/// Puts a key under its own name with a checked value, or says what is wrong.
void check(Assignment& a, std::vector<Diagnostic>& problems) {
  const std::string key = plain_name(a.key);
  if (a.scope != Scope::kAll && a.scope != Scope::kHost && a.scope != Scope::kStep &&
      a.scope != Scope::kStage && a.scope != Scope::kNamed) {
    problems.push_back(Diagnostic{a.origin, "a site profile has no section for data",
                                  "that belongs in the profile"});
    return;
  }
  const std::string own = own_option_name(site_schema(), key);
  if (own.empty()) {
    const std::string near = nearest(key, option_names(site_schema()));
    problems.push_back({a.origin, "unknown key " + a.key + " of a site profile",
                        near.empty() ? "see kdgat submit --help"
                                     : "did you mean " + near + "? see kdgat submit --help"});
    return;
  }
  const Checked checked = check_value(option_schema(site_schema(), own), a.value);
  if (!checked.problem.empty()) {
    problems.push_back({a.origin, own + ": " + checked.problem, ""});
    return;
  }
  // What fields say together is asked of each alone here, so that the line can be named.
  try {
    load_options<SiteOptions>({{own, checked.value}});
  } catch (const Error& e) {
    for (const Diagnostic& d : e.diagnostics()) {
      problems.push_back({a.origin, d.message, d.hint});
    }
  }
  a.key = own;
  a.value.value = checked.value;
}

}  // namespace

const json& site_schema() {
  static const json schema = options_schema<SiteOptions>();
  return schema;
}

std::string site_keys_text() {
  constexpr std::size_t kIndent = 23;
  std::string out;
  for (const auto& [name, option] : site_schema().at("properties").items()) {
    const json& value = option.at("default");
    const bool is_set = value != "" && value != 0 && value != json::array();
    const std::string text = option.at("description").get<std::string>() +
                             (is_set ? " Default " + value_text(value) + "." : "");
    const std::string begin = "  " + name;
    out += begin + std::string(kIndent - begin.size(), ' ') + wrapped(text, kIndent) + "\n";
  }
  return out;
}

uint64_t parse_job_memory(const std::string& text) {
  const uint64_t bytes = parse_bytes(text);  // says what is wrong with it
  const std::size_t end = text.find_first_not_of("0123456789. ");
  if (end == std::string::npos) return parse_bytes(text + "MiB");
  const bool is_bytes = text[end] == 'b' || text[end] == 'B';
  return is_bytes ? bytes : parse_bytes(text.substr(0, end + 1));
}

std::vector<Diagnostic> SiteOptions::validate() const {
  std::vector<Diagnostic> problems;
  check_with(problems, "time", [&] { parse_minutes(time); });
  if (!mem.empty()) check_with(problems, "mem", [&] { parse_job_memory(mem); });
  if (!max_mem.empty()) check_with(problems, "max_mem", [&] { parse_job_memory(max_mem); });
  if (!card.empty()) check_with(problems, "card", [&] { find_card(card); });
  for (const auto& [key, text] : texts_of(*this)) check_text(problems, key, text);
  for (const std::string& line : environment) {
    if (is_variable(line.substr(0, line.find('='))) && line.find('=') != std::string::npos)
      continue;
    problems.push_back(
        {"", "environment: \"" + without_secrets(line) + "\" sets no variable", "NAME=VALUE"});
  }
  for (const std::string& line : sbatch) {
    const std::string word = line.substr(0, line.find_first_of("= "));
    if (line.rfind('-', 0) != 0) {
      problems.push_back(
          {"", "sbatch: \"" + line + "\" is not an option of sbatch", "--name=value"});
    }
    for (const auto& [taken, key] : kTaken) {
      if (word != taken) continue;
      problems.push_back({"", "sbatch: the script sets " + word + " itself",
                          *key == '\0' ? "leave it out" : "use the key " + std::string(key)});
    }
  }
  return problems;
}

int64_t parse_minutes(const std::string& text) {
  constexpr double kMost = 60.0 * 24 * 365 * 10;
  const bool is_clock = text.find_first_of(":-") != std::string::npos;
  const double minutes = is_clock ? minutes_of_clock(text) : parse_minutes_of(text).value_or(0);
  if (!(minutes > 0) || minutes > kMost) no_time(text);
  return static_cast<int64_t>(std::ceil(minutes));
}

std::string slurm_time(int64_t minutes) {
  std::array<char, 48> text{};
  const auto days = static_cast<long>(minutes / kDay);
  const auto hours = static_cast<long>(minutes % kDay / kHour);
  const auto rest = static_cast<long>(minutes % kHour);
  if (days > 0) {
    std::snprintf(text.data(), text.size(), "%ld-%02ld:%02ld:00", days, hours, rest);
  } else {
    std::snprintf(text.data(), text.size(), "%02ld:%02ld:00", hours, rest);
  }
  return text.data();
}

SiteProfile SiteProfile::read(const std::string& name, const std::vector<fs::path>& folders,
                              const std::vector<ProfileRequest::Override>& overrides) {
  ProfileRequest request;
  request.config = find_site(name, folders);
  request.preset_folders = folders;
  request.overrides = overrides;
  std::vector<Diagnostic> problems;
  SiteProfile site;
  site.name_ = request.config->stem().string();
  for (Layer& layer : gather_layers(request, PluginCatalog(), problems)) {
    for (Assignment& a : layer.assignments) {
      check(a, problems);
      site.assignments_.push_back(std::move(a));
    }
  }
  if (!problems.empty()) throw Error(ExitCode::kUsage, std::move(problems));
  return site;
}

SiteOptions SiteProfile::of_step(const std::string& step, const std::string& stage) const {
  json values = json::object();
  // A key for one step wins over one for its stage, which wins over one for all; a later layer
  // wins over an earlier one.
  const auto is_for = [](const Assignment& a, const std::string& name) {
    return !a.target.empty() && plain_name(a.target) == plain_name(name);
  };
  for (const int wanted : {0, 1, 2}) {
    for (const Assignment& a : assignments_) {
      const int level = is_for(a, step) ? 2 : is_for(a, stage) ? 1 : a.target.empty() ? 0 : -1;
      if (level == wanted) values[a.key] = a.value.value;
    }
  }
  return load_options<SiteOptions>(values);
}

std::vector<Diagnostic> SiteProfile::unknown_steps(const std::vector<std::string>& steps,
                                                   const std::vector<std::string>& stages) const {
  std::vector<std::string> known = steps;
  known.insert(known.end(), stages.begin(), stages.end());
  std::vector<Diagnostic> problems;
  std::set<std::string> told;
  for (const Assignment& a : assignments_) {
    const bool is_known =
        a.target.empty() || std::any_of(known.begin(), known.end(), [&](const std::string& name) {
          return plain_name(name) == plain_name(a.target);
        });
    if (is_known || !told.insert(a.target).second) continue;
    const std::string near = nearest(a.target, known);
    problems.push_back(Diagnostic{
        a.origin, "no stage or step is called " + a.target,
        near.empty() ? "there are " + joined(known, ", ") : "did you mean " + near + "?"});
  }
  return problems;
}

std::vector<fs::path> site_folders() {
  std::vector<fs::path> folders;
  for (const fs::path& folder : default_preset_folders()) folders.push_back(folder / "slurm");
  return folders;
}

std::vector<std::string> site_names(const std::vector<fs::path>& folders) {
  return preset_names(folders);
}

}  // namespace kdgat
