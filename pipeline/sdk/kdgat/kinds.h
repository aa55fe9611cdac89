// The kinds of what steps hand to one another: an output of a kind is what an input of that kind
// takes. A stage from outside may have kinds of its own, for its own steps.
// And the file that a model is in.
#pragma once

#include <array>
#include <string_view>

namespace kdgat::kind {

inline constexpr const char* kGraphs = "graphs";         ///< the folder of a data set
inline constexpr const char* kModel = "model";           ///< a detector that scores windows of logs
inline constexpr const char* kMetrics = "metrics";       ///< what came of an evaluation
inline constexpr const char* kData = "data";             ///< anything else
inline constexpr const char* kLog = "log";               ///< a log, or a folder of logs
inline constexpr const char* kBus = "bus";               ///< live traffic, or a log in its place
inline constexpr const char* kBenignLog = "benign_log";  ///< the same, to learn what is usual from
inline constexpr const char* kCheckLog = "check_log";    ///< logs that an export is checked on
inline constexpr const char* kMolecules = "molecules";   ///< files of molecules
inline constexpr const char* kAutoencoder = "autoencoder";
inline constexpr const char* kClassifier = "classifier";
inline constexpr const char* kEncoder = "encoder";           ///< of graphs in space
inline constexpr const char* kGraphModel = "graph_model";    ///< an encoder with a head
inline constexpr const char* kTextModel = "text_model";      ///< of one corpus
inline constexpr const char* kRecommender = "recommender";   ///< of one set of ratings
inline constexpr const char* kPocketModel = "pocket_model";  ///< of molecules, with its catalogue
inline constexpr const char* kDifficulty = "difficulty";     ///< of training windows

inline constexpr std::array<std::string_view, 17> kAll = {
    kGraphs,     kModel,     kMetrics,     kData,        kLog,        kBus,
    kBenignLog,  kCheckLog,  kMolecules,   kAutoencoder, kClassifier, kEncoder,
    kGraphModel, kTextModel, kRecommender, kPocketModel, kDifficulty};

}  // namespace kdgat::kind

namespace kdgat {

/// What the file of a model is called where a stage does not name it itself.
inline constexpr const char* kModelFile = "model.safetensors";

}  // namespace kdgat
