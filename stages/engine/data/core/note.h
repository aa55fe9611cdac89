// Notes: what an import, a conversion or a reader says of its input, and what of it is not used.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "kdgat/error.h"

namespace kdgat::data {

/// A sentence about an input. One that says that something is not used says how many of what, too.
struct Note : Diagnostic {
  Note() = default;
  // NOLINTNEXTLINE(google-explicit-constructor): any diagnostic is a warning
  Note(Diagnostic warning) : Diagnostic(std::move(warning)) {}
  Note(std::string where, std::string message, std::string hint, std::string what_is_unused = "",
       int64_t how_many = 0, bool usual = false)
      : Diagnostic{std::move(where), std::move(message), std::move(hint)},
        unused(std::move(what_is_unused)),
        count(how_many),
        is_usual(usual) {}

  std::string unused;     ///< what is not used, in the singular: "column"; "" = a warning
  int64_t count = 0;      ///< of these
  bool is_usual = false;  ///< sound inputs have them, as error frames: no error with `strict`
};
using Notes = std::vector<Note>;

void to_json(nlohmann::json& out, const Note& note);
void from_json(const nlohmann::json& in, Note& note);

/// "1 row", "3 rows": of a word that takes an s.
std::string count_of(int64_t number, const std::string& what);

/// How many of what is not used: {"column": 3, "file": 1}.
nlohmann::json unused_in(const Notes& notes);

/// For a terminal: several notes of what is not used become one line, which counts them.
std::vector<Diagnostic> in_short(const Notes& notes);

/// Throws Error(kData) if something is not used that an input does not usually have.
void require_all_used(const Notes& notes);

/// Without their counts.
inline std::vector<Diagnostic> as_diagnostics(const Notes& notes) {
  return {notes.begin(), notes.end()};
}

}  // namespace kdgat::data
