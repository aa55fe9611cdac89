// What training on one graph of texts needs, counted from its sizes; and what this process held.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "engine/memory/memory_plan.h"
#include "fields/texts/model/text_gcn_config.h"
#include "fields/texts/textgcn/textgcn_options.h"

namespace kdgat::textgcn {

struct TextSizes {
  int64_t nodes = 0, nonzeros = 0, classes = 0;
};

/// Of the "text" facts of a data set.
TextSizes sizes_of(const nlohmann::json& text_facts);

texts::TextGcnConfig config_of(const TextGcnOptions& options, const TextSizes& sizes);

/// Numbers that are trained.
int64_t count_parameters(const texts::TextGcnConfig& config);

/// The graph is one "graph" of the plan; its mapped bytes are the plan's input.
memory::Footprint footprint(const TextGcnOptions& options, const TextSizes& sizes,
                            bool has_validation);

/// Bytes by category, for people and for docs: {"graph, mapped", "weights", "gradients", "moments",
/// "best weights", "hidden states and their gradients", "total", "identity, naive", "messages,
/// naive"}. The naive ones exist nowhere and are no part of the total.
nlohmann::json bytes_by_category(const TextGcnOptions& options, const TextSizes& sizes,
                                 bool has_validation);

/// What this process has in memory now, files it maps included, and at most so far; 0 where /proc
/// does not say.
struct Resident {
  int64_t now = 0, peak = 0;
};
Resident resident_memory();

}  // namespace kdgat::textgcn
