#include "pipeline/run/plan_reasons.h"

#include <algorithm>
#include <map>
#include <set>

#include "pipeline/run/run_record.h"
#include "pipeline/show/quantity.h"
#include "pipeline/show/text.h"

namespace kdgat {
namespace {

void add_option_changes(const StepSpec& spec, const nlohmann::json& before,
                        const nlohmann::json& now, std::vector<std::string>& changes) {
  std::set<std::string> names;
  for (const auto& [name, value] : before.items()) names.insert(name);
  for (const auto& [name, value] : now.items()) names.insert(name);
  for (const std::string& name : names) {
    const nlohmann::json was = before.value(name, nlohmann::json()),
                         is = now.value(name, nlohmann::json());
    if (was == is) continue;
    const auto origin = spec.options.origin.find(name);
    changes.push_back("option changed: " + spec.name + "." + name + " " +
                      (was.is_null() ? "(new)" : was.dump()) + " -> " +
                      (is.is_null() ? "(gone)" : is.dump()) +
                      (origin == spec.options.origin.end() ? "" : " (" + origin->second + ")"));
  }
}

void add_input_changes(const nlohmann::json& before, const nlohmann::json& now,
                       std::vector<std::string>& changes) {
  const auto flat = [](const nlohmann::json& inputs) {
    std::map<std::string, std::string> out;
    for (const auto& [port, list] : inputs.items()) {
      for (const nlohmann::json& item : list) {
        out[item.value("step", "")] = item.value("fingerprint", "");
      }
    }
    return out;
  };
  const std::map<std::string, std::string> was = flat(before), is = flat(now);
  for (const auto& [name, fingerprint] : is) {
    const auto old = was.find(name);
    if (old == was.end()) {
      changes.push_back("input changed: " + name + " was not among them");
    } else if (old->second != fingerprint && name == kDataStep) {
      changes.push_back("input changed: data " + short_hash(old->second) + " -> " +
                        short_hash(fingerprint));
    } else if (old->second != fingerprint) {
      changes.push_back("input changed: " + name + " is new");
    }
  }
  for (const auto& [name, fingerprint] : was) {
    if (!is.contains(name)) changes.push_back("input changed: " + name + " is no longer one");
  }
}

}  // namespace

std::string why_run(const PlannedStep& step, const std::vector<PastStep>& past) {
  const auto last = std::find_if(past.begin(), past.end(), [&](const PastStep& p) {
    return p.step == step.spec.name && p.stage == step.spec.stage;
  });
  if (last == past.end()) return "never ran";
  if (last->fingerprint == step.fingerprint) {
    return "output of run " + short_run(last->run) + " is gone: " + last->missing;
  }
  const nlohmann::json& was = last->ingredients;
  const nlohmann::json& is = step.ingredients;
  const auto number = [](const nlohmann::json& of, const char* name) {
    return of.contains(name) ? of.at(name).dump() : std::string("unknown");
  };
  std::vector<std::string> changes;
  add_input_changes(was.value("inputs", nlohmann::json::object()), is.at("inputs"), changes);
  add_option_changes(step.spec, was.value("options", nlohmann::json::object()), is.at("options"),
                     changes);
  if (number(was, "seed") != number(is, "seed")) {
    changes.push_back("seed changed: " + number(was, "seed") + " -> " + number(is, "seed"));
  }
  const auto limit = [](const nlohmann::json& of) {
    const uint64_t bytes = of.value("memory_limit", uint64_t{0});
    return bytes == 0 ? "none" : exact_bytes(bytes);
  };
  if (limit(was) != limit(is)) {
    changes.push_back("memory limit changed: " + limit(was) + " -> " + limit(is));
  }
  if (number(was, "version") != number(is, "version")) {
    changes.push_back("stage version changed: " + number(was, "version") + " -> " +
                      number(is, "version"));
  }
  constexpr std::size_t kShown = 3;
  const std::size_t more = changes.size() > kShown ? changes.size() - kShown : 0;
  changes.resize(changes.size() - more);
  return joined(changes, "; ") + (more > 0 ? "; and " + std::to_string(more) + " more" : "");
}

std::string why_kept(const PlannedStep& step, const PastStep& past) {
  std::string data;
  for (const auto& [port, list] : step.ingredients.at("inputs").items()) {
    for (const nlohmann::json& item : list) {
      if (item.at("step") == kDataStep) data = " data " + short_hash(item.at("fingerprint")) + ",";
    }
  }
  return "same" + data + " options, stage version " + step.ingredients.at("version").dump() +
         " as run " + short_run(past.run);
}

int version_of(const PlannedStep& step) { return step.ingredients.value("version", 0); }

const char* action_word(const PlannedStep& step) {
  return step.action == Action::kKeep ? "keep" : "run";
}

std::string told_reason(const PlannedStep& step) {
  return step.reason + (step.kept ? " (" + format_when(step.kept->finished) + ")" : "");
}

}  // namespace kdgat
