// Rows of a table that each have a name, and mostly a help: choices of an option, what --help says
// of them, and which row a choice is.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "kdgat/error.h"

namespace kdgat {

/// The names of the rows that are such, or of all.
template <class Rows, class Are>
std::vector<std::string> row_names(const Rows& rows, Are are) {
  std::vector<std::string> out;
  for (const auto& row : rows) {
    if (are(row)) out.push_back(row.name);
  }
  return out;
}
template <class Rows>
std::vector<std::string> row_names(const Rows& rows) {
  return row_names(rows, [](const auto&) { return true; });
}

/// "a, b and c"
inline std::string in_words(const std::vector<std::string>& words, const std::string& last) {
  std::string out;
  for (std::size_t i = 0; i < words.size(); ++i) {
    out += (i == 0 ? "" : i + 1 < words.size() ? ", " : " " + last + " ") + words[i];
  }
  return out;
}

/// "a: what a does; b: what b does"
template <class Rows>
std::string rows_help(const Rows& rows) {
  std::string out;
  for (const auto& row : rows) {
    out.append(out.empty() ? "" : "; ").append(row.name).append(": ").append(row.help);
  }
  return out;
}

/// Throws Error(kUsage) for an unknown name: "unknown loss x".
template <class Rows>
const auto& row_named(const Rows& rows, const std::string& what, const std::string& name) {
  for (const auto& row : rows) {
    if (name == row.name) return row;
  }
  throw Error(ExitCode::kUsage, "unknown " + what + " " + name,
              "known: " + in_words(row_names(rows), "and"));
}

}  // namespace kdgat
