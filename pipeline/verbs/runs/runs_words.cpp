#include "pipeline/verbs/runs/runs_words.h"

#include <ostream>

#include "kdgat/text.h"
#include "pipeline/show/text.h"

namespace kdgat {

void RunWords::declare(CommandLine& line) {
  line.value("--root", root, Offer::kFiles);
  line.value("--dataset", filter.dataset);
  line.value("--name", filter.name);
  line.value("--tag", [this](const std::string& tag) { filter.tags.push_back(tag); });
  line.value("--where", [this, &line](const std::string& text) {
    std::vector<Diagnostic> problems;
    if (auto one = read_condition(text, line.place(), problems)) {
      filter.conditions.push_back(std::move(*one));
    }
    for (const Diagnostic& problem : problems) line.problem(problem.message, problem.hint);
  });
}

std::string RunWords::place() const {
  return root + (filter.dataset.empty() ? "" : "/" + filter.dataset);
}

void tell_no_runs(Context& context, const RunWords& words, std::size_t all) {
  const bool has_others = all > 0 && (!words.filter.name.empty() || !words.filter.tags.empty() ||
                                      !words.filter.conditions.empty());
  context.err << (has_others ? "no such runs in " : "no runs in ") << one_line(words.place());
  if (has_others) {
    context.err << ", among " << grouped(static_cast<int64_t>(all)) << " in "
                << one_line(words.root);
  }
  context.err << '\n';
}

}  // namespace kdgat
