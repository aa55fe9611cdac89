// Keys the host itself answers for: its own (dataset, seed, ...) and published ones, of which those
// of one stage are described by its plugin. Private to this folder, run_options and the verbs that
// list keys.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "kdgat/error.h"
#include "kdgat/published.h"
#include "pipeline/plugin/plugin_catalog.h"
#include "pipeline/plugin/schema.h"

namespace kdgat {

/// dataset, device, threads, nproc, memory_limit, allocator, seed, seeds, root, kdgat_version, with
/// their published aliases.
const nlohmann::json& host_schema();
/// What is wrong with the value of a host key beyond its schema (a device, a size, the settings of
/// an allocator); no message if nothing is.
Diagnostic check_host_value(const std::string& key, const Value& value);

/// A published key that no option stands for, of every program or of one whose profiles a stage
/// knows; nullptr if it is none. Without `reason` it is the option of a model this version does not
/// have: without effect for every other model, and silent.
const PublishedKey* published_key(const std::string& name, const PluginCatalog& catalog);

/// The names of all such keys.
std::vector<std::string> published_keys(const PluginCatalog& catalog);

/// The stage that profiles with this section run; nullptr if it is none of a published program.
const PluginDescription* published_section(const std::string& section,
                                           const PluginCatalog& catalog);
/// The key that a path of such a profile ("dataset.gnn_encoding.window_size") stands for here
/// ("data.word_window"), or a published_key() where none does; "" if it is no such path.
std::string published_path(const std::string& path, const PluginCatalog& catalog);
/// All such paths, for the nearest one; options of the stages are not listed.
std::vector<std::string> published_paths(const PluginCatalog& catalog);
/// What to do about a path that is refused; "" if it is not.
std::string refused_path(const std::string& path, const PluginCatalog& catalog);

/// What a published stage is called here; "" if it has no other name.
std::string published_stage(const std::string& name, const PluginCatalog& catalog);

}  // namespace kdgat
