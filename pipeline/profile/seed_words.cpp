#include "pipeline/profile/seed_words.h"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <optional>
#include <string_view>

#include "kdgat/error.h"

namespace kdgat {
namespace {

constexpr std::size_t kMostSeeds = 1000;

std::optional<int64_t> whole_seed(std::string_view text) {
  int64_t out = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  if (error != std::errc() || end != text.data() + text.size() || out < 0) return std::nullopt;
  return out;
}

[[noreturn]] void refuse_seeds(const std::string& word, const std::string& why) {
  throw Error(ExitCode::kUsage, '"' + word + "\" " + why,
              "a range or a list of whole numbers: 1..5, or 1,2,7");
}

}  // namespace

std::vector<int64_t> read_seeds(const std::vector<std::string>& words) {
  std::vector<int64_t> out;
  const auto add = [&](int64_t seed) {
    if (std::find(out.begin(), out.end(), seed) == out.end()) out.push_back(seed);
  };
  for (const std::string& word : words) {
    const std::size_t dots = word.find("..");
    const auto first = whole_seed(std::string_view(word).substr(0, dots));
    const auto last =
        dots == std::string::npos ? first : whole_seed(std::string_view(word).substr(dots + 2));
    if (!first || !last) refuse_seeds(word, "is neither a seed nor a range of seeds");
    if (*last < *first) refuse_seeds(word, "ends before it begins");
    if (static_cast<uint64_t>(*last - *first) >= kMostSeeds || out.size() > kMostSeeds) {
      refuse_seeds(word, "is more than " + std::to_string(kMostSeeds) + " seeds");
    }
    for (int64_t seed = *first; seed < *last; ++seed) add(seed);
    add(*last);
  }
  return out;
}

}  // namespace kdgat
