#include "pipeline/verbs/commands/submit_flags.h"

#include <algorithm>

#include "pipeline/profile/seed_words.h"
#include "pipeline/show/text.h"

namespace kdgat {

RunFlags SubmitFlags::declare() {
  RunFlags flags;
  flags.called = "kdgat submit";
  flags.runs_elsewhere = true;
  flags.declare = [this](CommandLine& line, RunOptions&) {
    memory.declare(line);
    line.value("--profile", site, {Offer::kSites, Offer::kFiles});
    line.value("--slurm", [this, &line](const std::string& word) {
      const std::size_t equal = word.find('=');
      if (equal == std::string::npos || equal == 0) {
        return line.problem("--slurm takes key=value, not " + word,
                            "e.g. --slurm time=2h; see kdgat submit --help");
      }
      overrides.push_back({word.substr(0, equal), word.substr(equal + 1), line.place()});
    });
    line.value("--array", [this, &line](const std::string& word) { read_seeds(line, word); });
  };
  return flags;
}

void SubmitFlags::read_seeds(CommandLine& line, const std::string& word) {
  constexpr const char* kHint = "--array seeds=1..5 or seeds=1,2,7";
  const std::string begin = "seeds=";
  if (word.rfind(begin, 0) != 0)
    return line.problem("an array is one of seeds, not " + word, kHint);
  try {
    seeds = kdgat::read_seeds(parts_of(word.substr(begin.size()), ','));
  } catch (const Error& error) {
    return line.problem("--array: " + error.diagnostics().front().message, kHint);
  }
  std::sort(seeds.begin(), seeds.end());
  if (seeds.empty()) line.problem("--array names no seed", kHint);
}

}  // namespace kdgat
