#include "pipeline/run/run_query.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>

#include "pipeline/show/text.h"

namespace kdgat {
namespace {

using nlohmann::json;

std::string digits_of(double value) { return json(value).dump(); }

RunValue text_value(std::string text) {
  std::optional<double> number = finite_number(text);
  return {std::move(text), number};
}

std::optional<RunValue> present(const std::string& text) {
  if (text.empty()) return std::nullopt;
  return text_value(text);
}

/// Of a run itself; the order is that of run_keys().
std::optional<RunValue> own_value(const RunRecord& run, const std::string& key) {
  if (key == "run") return RunValue{run.id, {}};
  if (key == "name")
    return run.labels.name.empty() ? std::nullopt : std::optional(RunValue{run.labels.name, {}});
  if (key == "tag") return present(joined(run.labels.tags, ", "));
  if (key == "profile") return present(run.profile);
  if (key == "dataset") return present(run.dataset);
  if (key == "state") return present(run.state);
  if (key == "host") return present(run.host);
  if (key == "device") return present(run.device);
  if (key == "cpu") return present(run.cpu);
  if (key == "gpu") return present(run.gpu);
  if (key == "kdgat") return present(run.version);
  if (key == "libtorch") return present(run.libtorch);
  if (key == "started") return present(run.started);
  if (key == "threads" && run.threads > 0) return text_value(std::to_string(run.threads));
  if (key == "seconds" && run.seconds() >= 0) return text_value(digits_of(run.seconds()));
  return std::nullopt;
}

bool compares(const RunValue& value, const std::string& relation, const RunValue& wanted) {
  int order = 0;
  if (value.number && wanted.number) {
    order = *value.number < *wanted.number ? -1 : *value.number > *wanted.number ? 1 : 0;
  } else if (value.number.has_value() != wanted.number.has_value()) {
    return relation == "!=";
  } else {
    order = value.text.compare(wanted.text);
  }
  if (relation == "=" || relation == "==") return order == 0;
  if (relation == "!=") return order != 0;
  if (relation == "<") return order < 0;
  if (relation == "<=") return order <= 0;
  return relation == ">" ? order > 0 : order >= 0;
}

/// Every key of the runs' options, and of their figures.
struct KnownKeys {
  std::set<std::string> options, figures;
};

KnownKeys known_keys(const RunIndex& index, const std::vector<std::size_t>& runs) {
  std::vector<char> option(index.texts().size(), 0), figure(index.texts().size(), 0);
  for (const std::size_t run : runs) {
    for (const OptionCell& cell : index.values(run).options) option[cell.key] = 1;
    for (const FigureCell& cell : index.values(run).figures) figure[cell.key] = 1;
  }
  KnownKeys out;
  for (uint32_t id = 0; id < option.size(); ++id) {
    if (option[id] != 0) out.options.insert(index.texts().text(id));
    if (figure[id] != 0) out.figures.insert(index.texts().text(id));
  }
  return out;
}

bool ends_like(const std::string& key, const std::string& typed) {
  return key.size() > typed.size() && key.ends_with(typed) &&
         key[key.size() - typed.size() - 1] == '.';
}

[[noreturn]] void refuse_key(const std::string& typed, const std::set<std::string>& meant,
                             const KnownKeys& known, const std::string& where) {
  constexpr std::size_t kShown = 8;
  std::vector<std::string> list(meant.begin(), meant.end());
  if (!list.empty()) {
    const std::size_t more = list.size() - std::min(list.size(), kShown);
    list.resize(list.size() - more);
    throw Error(ExitCode::kUsage,
                typed + " may be " + joined(list, ", ") +
                    (more > 0 ? " and " + std::to_string(more) + " more" : ""),
                "give more of it", where);
  }
  std::vector<std::string> all = run_keys();
  all.insert(all.end(), known.options.begin(), known.options.end());
  all.insert(all.end(), known.figures.begin(), known.figures.end());
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
         (filter.name.empty() || run.labels.name == filter.name) &&
         std::all_of(filter.tags.begin(), filter.tags.end(),
                     [&](const std::string& tag) { return run.labels.has(tag); });
}

bool meets(const RunIndex& index, std::size_t run, const Condition& condition, const RunKey& key) {
  const RunValue wanted = text_value(condition.wanted);
  const bool is_tag = key.kind == RunKey::Kind::kOfRun && key.name == "tag";
  if (is_tag) {
    const std::vector<std::string>& tags = index.runs()[run].labels.tags;
    return std::any_of(tags.begin(), tags.end(), [&](const std::string& tag) {
      return compares(text_value(tag), condition.relation, wanted);
    });
  }
  const std::optional<RunValue> value = value_of(index, run, key);
  return value && compares(*value, condition.relation, wanted);
}

}  // namespace

const std::vector<std::string>& run_keys() {
  static const std::vector<std::string> keys = {
      "run", "name", "tag",   "profile",  "dataset", "state",   "host",   "device",
      "cpu", "gpu",  "kdgat", "libtorch", "started", "threads", "seconds"};
  return keys;
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

RunKey find_key(const std::string& typed, const RunIndex& index,
                const std::vector<std::size_t>& runs, bool is_figure, const std::string& where) {
  const auto& own = run_keys();
  if (std::find(own.begin(), own.end(), typed) != own.end()) {
    return {RunKey::Kind::kOfRun, typed, 0};
  }
  const KnownKeys known = known_keys(index, runs);
  const auto found = [&](const std::string& key) {
    const bool is_both = known.options.contains(key) && known.figures.contains(key);
    const bool takes_figure = is_both ? is_figure : known.figures.contains(key);
    RunKey out{takes_figure ? RunKey::Kind::kFigure : RunKey::Kind::kOption, key, 0};
    for (; index.texts().text(out.id) != key; ++out.id) continue;  // it is there
    return out;
  };
  if (known.options.contains(typed) || known.figures.contains(typed)) return found(typed);
  std::set<std::string> meant;
  for (const auto* list : {&known.options, &known.figures}) {
    std::copy_if(list->begin(), list->end(), std::inserter(meant, meant.end()),
                 [&](const std::string& key) { return ends_like(key, typed); });
  }
  if (meant.size() == 1) return found(*meant.begin());
  refuse_key(typed, meant, known, where);
}

std::optional<RunValue> value_of(const RunIndex& index, std::size_t run, const RunKey& key) {
  if (key.kind == RunKey::Kind::kOfRun) return own_value(index.runs()[run], key.name);
  const RunValues& values = index.values(run);
  if (key.kind == RunKey::Kind::kFigure) {
    for (const FigureCell& cell : values.figures) {
      if (cell.key == key.id) return RunValue{digits_of(cell.value), cell.value};
    }
    return std::nullopt;
  }
  for (const OptionCell& cell : values.options) {
    if (cell.key != key.id) continue;
    const std::string& text = index.texts().text(cell.value);
    if (text.empty() || text.front() != '"') return text_value(text);
    return RunValue{json::parse(text).get<std::string>(), {}};
  }
  return std::nullopt;
}

std::string result_of(const RunIndex& index, std::size_t run, const RunKey& key) {
  const RunRecord& record = index.runs()[run];
  const RunValues& values = index.values(run);
  for (std::size_t i = 0; key.kind == RunKey::Kind::kFigure && i < values.figures.size(); ++i) {
    if (values.figures[i].key != key.id) continue;
    // By names, not paths: a root may have been moved since a step of it was kept.
    const std::filesystem::path& folder = record.steps.at(values.step_of[i]).folder;
    return (folder.parent_path().filename() / folder.filename()).string();
  }
  return record.id;
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
