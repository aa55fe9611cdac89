#include "pipeline/run/run_query.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "pipeline/show/text.h"

namespace kdgat {
namespace {

using nlohmann::json;

std::string digits_of(double value) { return json(value).dump(); }

RunValue text_value(std::string text) {
  std::optional<double> number = finite_number(text);
  return {std::move(text), number};
}

/// What a run is, by a word of its own. "" of a run that has none.
struct OwnKey {
  const char* name;
  std::string (*text)(const RunRecord& run);
  bool is_text = false;  ///< also where it looks like a number
};

const std::vector<OwnKey>& own_keys() {
  using Run = const RunRecord&;
  static const std::vector<OwnKey> keys = {
      {"run", [](Run run) { return run.id; }, true},
      {"name", [](Run run) { return run.name; }, true},
      {"tag", [](Run run) { return joined(run.tags, ", "); }},
      {"profile", [](Run run) { return run.profile; }},
      {"dataset", [](Run run) { return run.dataset; }},
      {"state", [](Run run) { return run.state; }},
      {"host", [](Run run) { return run.host; }},
      {"device", [](Run run) { return run.device; }},
      {"cpu", [](Run run) { return run.cpu; }},
      {"gpu", [](Run run) { return run.gpu; }},
      {"kdgat", [](Run run) { return run.version; }},
      {"libtorch", [](Run run) { return run.libtorch; }},
      {"started", [](Run run) { return run.started; }},
      {"threads", [](Run run) { return run.threads > 0 ? std::to_string(run.threads) : ""; }},
      {"seconds", [](Run run) { return run.seconds() >= 0 ? digits_of(run.seconds()) : ""; }}};
  return keys;
}

std::optional<RunValue> own_value(const RunRecord& run, const std::string& name) {
  for (const OwnKey& key : own_keys()) {
    if (name != key.name) continue;
    std::string text = key.text(run);
    if (text.empty()) return std::nullopt;
    return key.is_text ? RunValue{std::move(text), {}} : text_value(std::move(text));
  }
  return std::nullopt;
}

bool compares(const RunValue& value, const std::string& relation, const RunValue& wanted) {
  int order = value.text.compare(wanted.text);
  if (value.number && wanted.number) {
    order = *value.number < *wanted.number ? -1 : *value.number > *wanted.number ? 1 : 0;
  } else if (value.number || wanted.number) {
    const bool asks_order = relation.front() == '<' || relation.front() == '>';
    if (asks_order) return false;  // a word is neither less nor more than a number
  }
  if (relation == "=" || relation == "==") return order == 0;
  if (relation == "!=") return order != 0;
  if (relation == "<") return order < 0;
  if (relation == "<=") return order <= 0;
  return relation == ">" ? order > 0 : order >= 0;
}

KeyOf key_of(RunKey::Kind kind) {
  return kind == RunKey::Kind::kFigure ? KeyOf::kFigure : KeyOf::kOption;
}

bool has_any(const RunIndex& index, const std::vector<std::size_t>& runs, const RunKey& key) {
  const RunColumn& column = index.column(key_of(key.kind), key.name);
  return std::any_of(runs.begin(), runs.end(),
                     [&](std::size_t run) { return column[run].has_value(); });
}

/// Every option or figure of the runs whose key is wanted.
template <class Wanted>
std::vector<RunKey> keys_of(const RunIndex& index, const std::vector<std::size_t>& runs,
                            RunKey::Kind kind, const Wanted& is_wanted) {
  std::vector<RunKey> out;
  for (const std::string& name : index.keys(key_of(kind))) {
    if (RunKey key{kind, name}; is_wanted(name) && has_any(index, runs, key)) out.push_back(key);
  }
  return out;
}

bool ends_like(const std::string& key, const std::string& typed) {
  return key.size() > typed.size() && key.ends_with(typed) &&
         key[key.size() - typed.size() - 1] == '.';
}

[[noreturn]] void refuse_key(const std::string& typed, const std::vector<RunKey>& meant,
                             const RunIndex& index, const std::vector<std::size_t>& runs,
                             const std::string& where) {
  constexpr std::size_t kShown = 8;
  if (!meant.empty()) {
    std::vector<std::string> list;
    list.reserve(meant.size());
    for (const RunKey& key : meant) list.push_back(key.name);
    const std::size_t more = list.size() - std::min(list.size(), kShown);
    list.resize(list.size() - more);
    throw Error(ExitCode::kUsage,
                typed + " may be " + joined(list, ", ") +
                    (more > 0 ? " and " + std::to_string(more) + " more" : ""),
                "give more of it", where);
  }
  std::vector<std::string> all = run_keys();
  for (const RunKey::Kind kind : {RunKey::Kind::kOption, RunKey::Kind::kFigure}) {
    for (RunKey& key : all_keys(index, runs, kind)) all.push_back(std::move(key.name));
  }
  std::string near = nearest(typed, all);
  if (near.empty()) {  // of another step, or a figure without its part
    const std::string last = typed.substr(typed.rfind('.') + 1);  // npos + 1 = 0
    const auto found = std::find_if(all.begin(), all.end(),
                                    [&](const std::string& key) { return ends_like(key, last); });
    if (found != all.end()) near = *found;
  }
  throw Error(ExitCode::kUsage, "no run has an option or a figure " + typed,
              (near.empty() ? "" : "did you mean " + near + "? ") +
                  std::string("kdgat runs export shows what there is"),
              where);
}

bool has_all(const RunRecord& run, const RunFilter& filter) {
  return (filter.dataset.empty() || run.dataset == filter.dataset) &&
         (filter.name.empty() || run.name == filter.name) &&
         std::all_of(filter.tags.begin(), filter.tags.end(),
                     [&](const std::string& tag) { return run.has(tag); });
}

bool meets(const RunIndex& index, std::size_t run, const Condition& condition, const RunKey& key) {
  const RunValue wanted = text_value(condition.wanted);
  const bool is_tag = key.kind == RunKey::Kind::kOfRun && key.name == "tag";
  if (is_tag) {
    const std::vector<std::string>& tags = index.runs()[run].tags;
    return std::any_of(tags.begin(), tags.end(), [&](const std::string& tag) {
      return compares(text_value(tag), condition.relation, wanted);
    });
  }
  const std::optional<RunValue> value = value_of(index, run, key);
  return value && compares(*value, condition.relation, wanted);
}

}  // namespace

const std::vector<std::string>& run_keys() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> out;
    for (const OwnKey& key : own_keys()) out.emplace_back(key.name);
    return out;
  }();
  return names;
}

std::optional<Condition> read_condition(const std::string& text, const std::string& where,
                                        std::vector<Diagnostic>& problems) {
  const auto trimmed = [](const std::string& part) {
    const std::size_t begin = part.find_first_not_of(' ');
    if (begin == std::string::npos) return std::string();
    return part.substr(begin, part.find_last_not_of(' ') - begin + 1);
  };
  const std::size_t at = text.find_first_of("<>=!");
  for (const char* relation : {">=", "<=", "==", "!=", "=", ">", "<"}) {
    if (at == std::string::npos || text.compare(at, std::string(relation).size(), relation) != 0) {
      continue;
    }
    Condition out{trimmed(text.substr(0, at)), relation,
                  trimmed(text.substr(at + std::string(relation).size())), where};
    if (!out.key.empty() && !out.wanted.empty()) return out;
    break;
  }
  problems.push_back({where, "\"" + text + "\" is no condition",
                      "a key, one of >= <= == != > <, and a value: \"classifier.lr<0.01\""});
  return std::nullopt;
}

std::vector<RunKey> all_keys(const RunIndex& index, const std::vector<std::size_t>& runs,
                             RunKey::Kind kind) {
  return keys_of(index, runs, kind, [](const std::string&) { return true; });
}

RunKey find_key(const std::string& typed, const RunIndex& index,
                const std::vector<std::size_t>& runs, bool is_figure, const std::string& where) {
  using Kind = RunKey::Kind;
  const auto& own = run_keys();
  if (std::find(own.begin(), own.end(), typed) != own.end()) return {Kind::kOfRun, typed};
  // An option and a figure of the same name: one of them was chosen.
  const Kind first = is_figure ? Kind::kFigure : Kind::kOption;
  const Kind second = is_figure ? Kind::kOption : Kind::kFigure;
  for (const Kind kind : {first, second}) {
    if (RunKey key{kind, typed}; has_any(index, runs, key)) return key;
  }
  const auto is_meant = [&](const std::string& name) { return ends_like(name, typed); };
  std::vector<RunKey> meant = keys_of(index, runs, first, is_meant);
  for (RunKey& key : keys_of(index, runs, second, is_meant)) {
    const bool is_new = std::none_of(meant.begin(), meant.end(),
                                     [&](const RunKey& one) { return one.name == key.name; });
    if (is_new) meant.push_back(std::move(key));
  }
  if (meant.size() == 1) return meant.front();
  std::sort(meant.begin(), meant.end(),
            [](const RunKey& a, const RunKey& b) { return a.name < b.name; });
  refuse_key(typed, meant, index, runs, where);
}

std::optional<RunCell> cell_of(const RunIndex& index, std::size_t run, const RunKey& key) {
  if (key.kind == RunKey::Kind::kOfRun) return std::nullopt;
  return index.column(key_of(key.kind), key.name)[run];
}

std::optional<RunValue> value_of(const RunIndex& index, std::size_t run, const RunKey& key) {
  if (key.kind == RunKey::Kind::kOfRun) return own_value(index.runs()[run], key.name);
  const auto& cell = index.column(key_of(key.kind), key.name)[run];
  if (!cell) return std::nullopt;
  if (key.kind == RunKey::Kind::kFigure) return RunValue{digits_of(cell->value), cell->value};
  if (cell->text.empty() || cell->text.front() != '"') return text_value(cell->text);
  return RunValue{json::parse(cell->text).get<std::string>(), {}};
}

std::string result_of(const RunIndex& index, std::size_t run, const RunKey& key) {
  const RunRecord& record = index.runs()[run];
  const std::optional<RunCell> cell = cell_of(index, run, key);
  if (key.kind != RunKey::Kind::kFigure || !cell || !cell->step) return record.id;
  // By names, not paths: a root may have been moved since a step of it was kept.
  const std::filesystem::path& folder = record.steps.at(*cell->step).folder;
  return (folder.parent_path().filename() / folder.filename()).string();
}

std::vector<std::size_t> matching_runs(RunIndex& index, const RunFilter& filter) {
  std::vector<std::size_t> out;
  for (std::size_t i = 0; i < index.runs().size(); ++i) {
    if (has_all(index.runs()[i], filter)) out.push_back(i);
  }
  if (filter.conditions.empty() || out.empty()) return out;
  index.read_values();
  const std::vector<std::size_t> all = out;
  for (const Condition& condition : filter.conditions) {
    const RunKey key = find_key(condition.key, index, all, true, condition.where);
    std::erase_if(out, [&](std::size_t run) { return !meets(index, run, condition, key); });
  }
  return out;
}

}  // namespace kdgat
