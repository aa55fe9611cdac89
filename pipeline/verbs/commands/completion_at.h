// What a shell offers for the word at the cursor: from the forms that verbs declare, so that a flag
// is completed as soon as it is declared.
#pragma once

#include <string>
#include <vector>

#include "pipeline/cli/cli.h"
#include "pipeline/verbs/commands/completion_lists.h"

namespace kdgat {

struct Completion {
  std::vector<Candidate> candidates;  ///< whole words; those ended by '=' go on
  bool has_files = false;             ///< names of files are offered as well
};

/// `words` come after the name of the program; the last one is being typed and may be empty. bash
/// hands "key=value" over as three words. Candidates are not filtered by what is typed: how that is
/// quoted only the shell knows.
Completion completion_at(const std::vector<Verb>& verbs, const Context& context,
                         const std::vector<std::string>& words);

/// A line for each candidate, as candidates_text(); at the end one with a tab alone if files are
/// offered.
std::string completion_text(const Completion& completion);

}  // namespace kdgat
