// Keys the host itself answers for: its own (dataset, seed, ...) and published ones that mean
// nothing here. Private to this folder, run_options and the verbs that list keys.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "kdgat/error.h"
#include "pipeline/plugin/schema.h"

namespace kdgat {

/// dataset, device, threads, nproc, memory_limit, allocator, records, mlflow_uri,
/// mlflow_experiment, seed, root, with their published aliases.
const nlohmann::json& host_schema();
/// What is wrong with the value of a host key beyond its schema (a device, a size, the settings of
/// an allocator, an address); no message if nothing is.
Diagnostic check_host_value(const std::string& key, const Value& value);

/// A published key that no option stands for. `neutral` empty: any value. Without `reason` it is
/// the option of a model this version does not have: without effect for every other model, and
/// silent.
struct PublishedKey {
  std::string name;
  std::vector<nlohmann::json> neutral;
  std::string reason;
};

/// nullptr if it is none.
const PublishedKey* published_key(const std::string& name);

/// Published profiles of texts nest their keys: the key that "dataset.gnn_encoding.window_size"
/// stands for here ("data.word_window"), or a published_key() where none does; "" if it is no such
/// path.
std::string published_path(const std::string& path);
/// All such paths, for the nearest one. What follows "model_config.model_specific_params." are the
/// options of the stage textgcn and not listed.
std::vector<std::string> published_paths();
/// What published programs take for granted where such a profile says nothing.
const std::vector<std::pair<std::string, nlohmann::json>>& published_text_defaults();

/// What a published stage is called here; "" if it has no other name.
std::string published_stage(const std::string& name);

}  // namespace kdgat
