// What a model file says beside its weights: the frozen configuration and more, in the metadata of
// a safetensors file.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "engine/file/safetensors.h"

namespace kdgat::model {

/// What a model file says beside its weights. `config` rebuilds the module; `data` names the graphs
/// it was made for (train::layout_of: feature names, vocabulary, windows), so that it can score raw
/// logs; `decision` {"threshold", "from"}: scores above it are attacks. All but `name` are objects.
struct ModelHeader {
  std::string name;  ///< "vgae", "gat", ...
  nlohmann::json config;
  nlohmann::json data;
  nlohmann::json decision;
  std::string scored_by{};  ///< the stage that scores with it; "" = score, that of windows of logs
};

/// Refuses, with Error(kData), to build what the file cannot hold: a model of at least so many
/// numbers and tensors. A configuration is a few words, whatever memory and time the model that it
/// describes would take.
void require_room(const file::SafetensorsFile& file, double numbers, double tensors);

/// Error(kData) if "model" or "config" is missing or malformed; "data" and "decision" may be empty.
ModelHeader load_header(const file::SafetensorsFile& file);

/// Scores above the threshold are attacks; `from` is "fixed" or "val".
struct Decision {
  double threshold = 0;
  std::string from;
};

/// What the header says; a classifier without any decides at 0.5. None if it was trained without
/// validation scores.
std::optional<Decision> decision_of(const ModelHeader& header);

/// Numbers that are trained, by what the file says or by its tensors.
int64_t parameters_of(const file::SafetensorsFile& file);

/// How the graphs a model was made for differ from others, by feature names and vocabulary: "" or
/// for people, "other vocabulary: 2048 ids, here 30". Both as train::layout_of gives them.
std::string layout_difference(const nlohmann::json& of_model, const nlohmann::json& here);

}  // namespace kdgat::model
