// Catalogs and profiles made by hand, and a status that remembers what it was told.
#pragma once

#include <string>
#include <vector>

#include "pipeline/run/plan.h"
#include "pipeline/show/status.h"

namespace kdgat::test {

inline PluginDescription fake_plugin(const std::string& name, std::vector<PortDescription> inputs,
                                     std::vector<PortDescription> outputs) {
  PluginDescription plugin;
  plugin.name = name;
  plugin.library = "kdgat_" + name + ".so";
  plugin.library_hash = "hash of " + name;
  plugin.inputs = std::move(inputs);
  plugin.outputs = std::move(outputs);
  plugin.options = {
      {"properties",
       {{"lr", {{"type", "number"}}}, {"log_every", {{"type", "integer"}, {"x-runtime", true}}}}}};
  return plugin;
}

/// trainer: graphs -> model; scorer: graphs and any models -> metrics; refiner: one model -> model.
inline PluginCatalog fake_catalog() {
  PluginCatalog catalog;
  catalog.add(fake_plugin("trainer", {{"graphs", "graphs"}}, {{"model", "model"}}));
  catalog.add(fake_plugin("scorer", {{"graphs", "graphs"}, {"models", "model", true, true}},
                          {{"metrics", "metrics"}}));
  catalog.add(fake_plugin("refiner", {{"teacher", "model"}}, {{"model", "model"}}));
  return catalog;
}

inline StepSpec fake_step(const std::string& name, const std::string& stage,
                          std::vector<std::string> needs = {}) {
  StepSpec spec;
  spec.name = name;
  spec.stage = stage;
  spec.needs = std::move(needs);
  spec.where = "p.yaml:1";
  spec.options.values = {{"lr", 0.1}, {"log_every", 10}};
  spec.options.origin = {{"lr", "p.yaml:7"}, {"log_every", "default"}};
  return spec;
}

inline Profile fake_profile(std::vector<StepSpec> steps) {
  Profile profile;
  profile.steps = std::move(steps);
  return profile;
}

/// As if every step of a plan had been run.
inline std::vector<PastStep> past_of(const Plan& plan, const std::string& run = "01JDAAAAB2") {
  std::vector<PastStep> past;
  for (const PlannedStep& step : plan.steps) {
    past.push_back({run,
                    step.spec.name,
                    step.spec.stage,
                    step.fingerprint,
                    step.ingredients,
                    "runs/" + step.spec.name,
                    {{"width", 4}},
                    "2026-03-01T18:04:09Z",
                    "hash of " + step.spec.stage,
                    ""});
  }
  return past;
}

class FakeStatus : public Status {
 public:
  void announce(const std::vector<std::string>&) override {}
  void begin(const std::string&) override {}
  void progress(const Progress& now) override { progresses.push_back(now); }
  void end(const StepEnd& end) override { ends.push_back(end); }
  void message(const std::string& level, const std::string& text) override {
    messages.push_back(level + ": " + text);
  }
  std::string outcome(const std::string& step) const {
    for (const StepEnd& end : ends) {
      if (end.step == step) return end.outcome;
    }
    return "";
  }

  std::vector<Progress> progresses;
  std::vector<StepEnd> ends;
  std::vector<std::string> messages;
};

}  // namespace kdgat::test
