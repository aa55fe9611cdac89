#include "fields/molecules/model/irreps.h"

#include <algorithm>
#include <charconv>
#include <string_view>

#include "kdgat/error.h"

namespace kdgat::molecules {
namespace {

constexpr std::array<std::string_view, 3> kNames = {"0e", "1o", "2e"};
constexpr int64_t kMost = 1024;

}  // namespace

Irreps Irreps::parse(const std::string& text) {
  const auto fail = [&](const std::string& what) {
    throw Error(ExitCode::kUsage, "hidden_irreps: '" + text + "': " + what,
                "as \"32x0e + 16x1o + 8x2e\": any numbers of these three");
  };
  std::string words;
  std::copy_if(text.begin(), text.end(), std::back_inserter(words),
               [](char c) { return c != ' ' && c != '\t'; });
  Irreps out{{0, 0, 0}};
  std::array<bool, 3> seen{};
  for (std::size_t at = 0; at <= words.size();) {
    const std::size_t end = std::min(words.find('+', at), words.size());
    const std::string_view word = std::string_view(words).substr(at, end - at);
    at = end + 1;
    int64_t count = 0;
    const auto [rest, error] = std::from_chars(word.data(), word.data() + word.size(), count);
    const auto used = static_cast<std::size_t>(rest - word.data());
    if (error != std::errc() || used >= word.size() || word[used] != 'x')
      fail("'" + std::string(word) + "'");
    const auto* name = std::find(kNames.begin(), kNames.end(), word.substr(used + 1));
    if (name == kNames.end())
      fail("'" + std::string(word.substr(used + 1)) + "' is not one of 0e, 1o, 2e");
    const auto l = static_cast<std::size_t>(name - kNames.begin());
    if (seen[l]) fail(std::string(*name) + " stands twice");
    if (count < 0 || count > kMost)
      fail(std::to_string(count) + " is not from 0 to " + std::to_string(kMost));
    seen[l] = true;
    out.mul[l] = count;
  }
  if (out.mul[0] == 0) fail("no scalars (0e)");
  return out;
}

std::string Irreps::text() const {
  std::string out;
  for (std::size_t l = 0; l < kNames.size(); ++l) {
    if (mul[l] == 0) continue;
    out += (out.empty() ? "" : "+") + std::to_string(mul[l]) + "x" + std::string(kNames[l]);
  }
  return out;
}

}  // namespace kdgat::molecules
