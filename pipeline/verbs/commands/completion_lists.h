// What can be typed: runs, presets, and the values of options, each with a few words of what it is.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "pipeline/plugin/plugin_catalog.h"
#include "pipeline/plugin/schema.h"

namespace kdgat {

struct Candidate {
  std::string word, about;
};

/// Names and ids of the runs below `root`, the newest first.
std::vector<Candidate> run_candidates(const std::filesystem::path& root);
/// The presets of `folders`, each with the first line of its file.
std::vector<Candidate> preset_candidates(const std::vector<std::filesystem::path>& folders);
/// What an option may be where that is a list: `option` as it is typed, "--lr-sched", "loss" or
/// "classifier.loss". A flag that is true or false needs no value and has none here.
std::vector<Candidate> value_candidates(const std::string& option, const PluginCatalog& catalog);
/// The same for an option of this schema.
std::vector<Candidate> values_of(const OptionSchema& option, bool is_flag);
/// The beginning of a description, short enough for a list.
std::string first_sentence(const std::string& text);

/// A line each, a tab between a word and what it is.
std::string candidates_text(const std::vector<Candidate>& candidates);

}  // namespace kdgat
