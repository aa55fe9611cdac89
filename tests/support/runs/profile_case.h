// Profiles over stages made up for tests.
#pragma once

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "kdgat/options.h"
#include "pipeline/profile/profile.h"
#include "pipeline/show/problem.h"
#include "support/programs/command.h"

namespace kdgat::test {

struct EncoderOptions {
  double lr = 0.003;
  int64_t batch_size = 4096;
  int64_t max_epochs = 300;
  bool optimize_batch_size = true;
  std::string monitor = "val_loss";
  std::vector<int64_t> hidden_dims = {480, 240, 48};
  static auto table() {
    using O = EncoderOptions;
    return std::tuple{field("lr", &O::lr, "Learning rate.").range(1e-6, 1),
                      field("batch_size", &O::batch_size, "Graphs.").range(1, 1e6),
                      field("max_epochs", &O::max_epochs, "Epochs."),
                      field("optimize_batch_size", &O::optimize_batch_size, "Lower it."),
                      field("monitor", &O::monitor, "Metric.").choices({"val_loss", "val_auc"}),
                      field("hidden_dims", &O::hidden_dims, "Widths.").alias("vgae_hidden_dims")};
  }
};

struct HeadOptions {
  double lr = 0.003;
  int64_t hidden = 48;
  static auto table() {
    using O = HeadOptions;
    return std::tuple{field("lr", &O::lr, "Learning rate.").range(1e-6, 1),
                      field("hidden", &O::hidden, "Width.").alias("gat_hidden").range(1, 4096)};
  }
};

struct ImportLike {
  int64_t window = 100;
  std::string split = "time";
  static auto table() {
    return std::tuple{field("window", &ImportLike::window, "Rows.").range(2, 1000),
                      field("split", &ImportLike::split, "Split.").choices({"time", "random"})};
  }
};

struct SynthLike {
  double seconds = 60;
  static auto table() { return std::tuple{field("seconds", &SynthLike::seconds, "Length.")}; }
};

inline PluginDescription stage(const std::string& name, nlohmann::json options,
                               nlohmann::json refused = nlohmann::json::array()) {
  PluginDescription plugin;
  plugin.name = name;
  plugin.options = std::move(options);
  plugin.refused = std::move(refused);
  return plugin;
}

inline PluginCatalog stages() {
  const nlohmann::json refused = {
      {{"name", "use_kd"}, {"neutral", {false}}, {"reason", "distillation is not here"}},
      {{"name", "precision"}, {"neutral", {"32"}}, {"reason", "use 32"}}};
  PluginCatalog catalog;
  catalog.add(stage("autoencoder", options_schema<EncoderOptions>(), refused));
  PluginDescription classifier = stage("classifier", options_schema<HeadOptions>(), refused);
  classifier.published_names = {"normal"};
  catalog.add(std::move(classifier));
  catalog.add(stage("evaluate", {{"type", "object"}, {"properties", nlohmann::json::object()}}));
  return catalog;
}

/// A folder of profile files and the request made so far.
struct ProfileCase {
  ScratchFolder folder;
  PluginCatalog catalog = stages();
  ProfileRequest request;

  ProfileCase() { request.preset_folders = {folder.path()}; }

  void file(const std::string& name, const std::string& text) const {
    std::filesystem::create_directories((folder / name).parent_path());
    std::ofstream(folder / name) << text;
  }
  ProfileCase& config(const std::string& text, const std::string& name = "profile.yaml") {
    file(name, text);
    request.config = folder / name;
    return *this;
  }
  ProfileCase& set(const std::string& key, const std::string& value) {
    const size_t argument = request.overrides.size() + 2;
    request.overrides.push_back({key, value, "command line, argument " + std::to_string(argument)});
    return *this;
  }
  Profile resolve() const {
    return resolve_profile(request, catalog,
                           {options_schema<ImportLike>(), options_schema<SynthLike>()});
  }
  /// Every problem as text, the folder's name taken out.
  std::string problems() const {
    try {
      resolve();
    } catch (const Error& e) {
      CHECK(e.code() == ExitCode::kUsage);
      std::string text = Failure{"", e.diagnostics()}.text();
      const std::string here = folder.path().string() + "/";
      for (size_t at; (at = text.find(here)) != std::string::npos;) text.erase(at, here.size());
      return text;
    }
    return "";
  }
};

inline const StepSpec& step(const Profile& profile, const std::string& name) {
  for (const StepSpec& s : profile.steps) {
    if (s.name == name) return s;
  }
  throw std::runtime_error("no step " + name);
}

inline nlohmann::json option(const Profile& profile, const std::string& name,
                             const std::string& key) {
  return step(profile, name).options.values.at(key);
}

}  // namespace kdgat::test
