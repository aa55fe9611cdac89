#include "pipeline/verbs/commands/submit_flags.h"

#include <set>
#include <sstream>

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
  std::set<int64_t> found;
  std::istringstream parts(word.substr(begin.size()));
  for (std::string part; std::getline(parts, part, ',');) {
    const std::size_t dots = part.find("..");
    const std::string first = part.substr(0, dots);
    const std::string last = dots == std::string::npos ? first : part.substr(dots + 2);
    constexpr std::size_t kDigits = 9;
    const auto is_number = [](const std::string& text) {
      return !text.empty() && text.size() <= kDigits &&
             text.find_first_not_of("0123456789") == std::string::npos;
    };
    constexpr int64_t kMost = 1000;  // as many tasks as SLURM takes unless told otherwise
    if (!is_number(first) || !is_number(last) || std::stoll(last) < std::stoll(first)) {
      return line.problem("--array: \"" + part + "\" is not a seed or a range of seeds", kHint);
    }
    if (std::stoll(last) - std::stoll(first) >= kMost) {
      return line.problem("--array: " + part + " are too many seeds for one array", kHint);
    }
    for (int64_t seed = std::stoll(first); seed <= std::stoll(last); ++seed) found.insert(seed);
  }
  if (found.empty()) return line.problem("--array names no seed", kHint);
  seeds.assign(found.begin(), found.end());
}

}  // namespace kdgat
