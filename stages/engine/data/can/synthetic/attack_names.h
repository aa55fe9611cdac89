// The names of the kinds of attacks, for options; the kinds themselves: attack_kinds.h.
#pragma once

#include <string>
#include <vector>

namespace kdgat::data {

/// Those that are written into recorded traffic, all of them.
std::vector<std::string> all_attacks();
/// Those of them that nearly any log can take: written, and learned from, where none is named.
std::vector<std::string> usual_attacks();
/// Those that made-up traffic has.
std::vector<std::string> synth_attacks();
/// "dos, fuzzing and spoofing": those of which rate= says how often.
std::string rated_attacks();
/// What each of all does: "dos: ...; fuzzing: ...".
std::string attacks_help();

}  // namespace kdgat::data
