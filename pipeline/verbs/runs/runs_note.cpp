// kdgat runs note: a name, tags and notes of a run that is there, whether it works or not.
#include <ostream>

#include "pipeline/cli/command_line.h"
#include "pipeline/run/find_model.h"
#include "pipeline/run/plan.h"
#include "pipeline/run/run_labels.h"
#include "pipeline/show/text.h"
#include "pipeline/verbs/json/json_forms.h"
#include "pipeline/verbs/runs/runs_actions.h"

namespace kdgat {

int note_run(Context& context, const std::vector<std::string>& words) {
  std::string run, root = "runs";
  std::vector<std::string> text;
  LabelChange change;
  CommandLine line(context, "kdgat runs note");
  line.word(run, Offer::kRuns);
  line.words([&](const std::string& word) { text.push_back(word); });
  line.value("--root", root, Offer::kFiles);
  line.value("--name", [&](const std::string& name) { change.name = name; });
  line.value("--tag", [&](const std::string& tag) { change.tags.push_back(tag); });
  line.value("--untag", [&](const std::string& tag) { change.untag.push_back(tag); });
  line.parse(words);
  change.note = joined(text, " ");
  if (run.empty()) {
    throw Error(ExitCode::kUsage, "kdgat runs note needs a run",
                "an id, a name or a folder; kdgat runs list shows them");
  }
  const std::filesystem::path folder = find_run(run, root);
  const RunLabels labels = change.is_empty() ? read_labels(folder) : change_labels(folder, change);
  if (context.json) {
    auto answer = record::write<nlohmann::ordered_json>(labels);
    answer["folder"] = folder.string();
    print_json(context, "kdgat.runs.note", answer);
    return 0;
  }
  const std::string id = std::filesystem::canonical(folder).filename().string();
  context.out << "run " << short_run(id) << (labels.name.empty() ? "" : ", " + labels.name)
              << (labels.tags.empty() ? "" : ", tags " + joined(labels.tags, ", ")) << '\n';
  for (const RunNote& note : labels.notes) {
    context.out << "  " << format_when(note.time) << "  " << one_line(note.text) << '\n';
  }
  return 0;
}

}  // namespace kdgat
