#include "pipeline/profile/version_requirement.h"

#include <array>
#include <optional>
#include <sstream>

namespace kdgat {
namespace {

using Version = std::array<int64_t, 3>;

std::string trimmed(const std::string& text) {
  const std::size_t begin = text.find_first_not_of(' ');
  if (begin == std::string::npos) return "";
  return text.substr(begin, text.find_last_not_of(' ') + 1 - begin);
}

std::optional<Version> parse_version(const std::string& text) {
  Version out{};
  std::istringstream numbers(text);
  std::string number;
  for (std::size_t i = 0; std::getline(numbers, number, '.'); ++i) {
    constexpr std::size_t kMostDigits = 9;
    if (i == out.size() || number.empty() || number.size() > kMostDigits ||
        number.find_first_not_of("0123456789") != std::string::npos) {
      return std::nullopt;
    }
    out[i] = std::stoll(number);
  }
  if (text.empty() || text.back() == '.') return std::nullopt;
  return out;
}

bool holds(const std::string& comparison, const Version& version, const Version& bound) {
  if (comparison == ">=") return version >= bound;
  if (comparison == "<=") return version <= bound;
  if (comparison == ">") return version > bound;
  if (comparison == "<") return version < bound;
  return version == bound;
}

}  // namespace

std::string problem_of_version(const std::string& requirement, const std::string& version) {
  const std::optional<Version> own = parse_version(version);
  std::istringstream parts(requirement);
  for (std::string part; own && std::getline(parts, part, ',');) {
    part = trimmed(part);
    const std::size_t sign = part.find_first_not_of("<>=");
    const std::string comparison = sign == 0 ? ">=" : part.substr(0, sign);
    const std::string number = sign == std::string::npos ? "" : trimmed(part.substr(sign));
    const bool is_known = comparison == ">=" || comparison == "<=" || comparison == ">" ||
                          comparison == "<" || comparison == "==";
    const std::optional<Version> bound = parse_version(number);
    if (!is_known || !bound) return "\"" + part + "\" is no requirement like >=0.1 or <1";
    if (!holds(comparison, *own, *bound)) {
      return std::string("the profile asks for kdgat ")
          .append(requirement)
          .append(", this is ")
          .append(version);
    }
  }
  return "";
}

}  // namespace kdgat
