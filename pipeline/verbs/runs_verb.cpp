// kdgat runs list|show|compare|pivot|export|note|rm: the runs there are, what one did, how several
// differ, what its user says of one, and their removal.
#include "pipeline/cli/command_line.h"
#include "pipeline/verbs/runs/runs_actions.h"

namespace kdgat {
namespace {

constexpr const char* kRunsHelp = R"(List, show, compare, tabulate, name and remove runs.

  kdgat runs list                                   newest first: state, steps, figures, size
  kdgat runs list --dataset hcrl_sa --root /scratch/runs --json
  kdgat runs list --tag paper --where "classifier.lr<0.01" --where "f1>=0.9"
  kdgat runs show 01JD                              steps and why they ran, figures, memory, files
  kdgat runs compare 01JD…K7 01JD…B2                options that differ, figures side by side
  kdgat runs compare 01JD…K7 01JD…B2 --format md    of runs over seeds: mean, sd, difference
  kdgat runs pivot rows=classifier.lr cols=seed value=classifier.val_loss --format latex
  kdgat runs export --dataset hcrl_sa > runs.csv    a row a run: options that differ, figures
  kdgat runs note 01JD "seed was wrong" --tag void   a note and a tag; --name NAME, --untag TAG
  kdgat runs rm 01JD…B2 --dry-run                   what would go
  kdgat runs rm 01JDAB --yes                        by the beginning of its id, unasked

usage: kdgat runs list [WHICH] [--root DIR] [--json]
       kdgat runs show RUN [--root DIR] [--json]
       kdgat runs compare RUN [RUN...] [--by-run] [--format text|csv|md|latex] [-v] [--json]
       kdgat runs pivot [rows=KEY,..] [cols=KEY,..] value=KEY [WHICH] [--format text|csv|md|latex]
       kdgat runs export [WHICH] [--format csv|jsonl]
       kdgat runs note RUN [TEXT] [--name NAME] [--tag TAG] [--untag TAG] [--root DIR] [--json]
       kdgat runs rm RUN [RUN...] [-n] [-y] [-f] [--root DIR] [--json]

RUN is an id, its beginning, its short form, a name or a folder. Where it could mean several they
are listed and none is taken.

  --root DIR           folder that holds all runs (default runs)

WHICH, each of which leaves runs out:
  --dataset NAME       only the runs of this data set
  --name NAME          only those of this name
  --tag TAG            only those with this tag; may be said again
  --where CONDITION    KEY, one of >= <= == != > < and a value; may be said again

A KEY is an option ("classifier.lr", "data.window", "seed"), a figure ("classifier.val_loss",
"classifier.test_01.f1") or one of run, name, tag, profile, dataset, state, host, device, cpu, gpu,
kdgat, libtorch, started, threads, seconds. The end of a key will do where no other ends so. A cell
of a pivot is the mean of the results in it, with their number; a step that a run kept of another is
one result, not two. A run that lacks the value is left out.

  --name NAME          note: call the run so, in place of its name
  --tag, --untag TAG   note: add a tag, or take one away; may be said again
  -n, --dry-run        say what would be removed; change nothing
  -y, --yes            do not ask
  -f, --force          remove also runs whose steps other runs kept
  -v                   compare also figures that are the same
  --by-run             compare each run, also those that differ in the seed alone
  --format FORM        text, csv, md or latex (compare: figures alone, but for text)

Runs that are the same but for the seed (kdgat run --seeds, or several groups of runs named) are
compared as one: mean ± standard deviation over n seeds, and against the first the difference
paired by seed, with its 95 % interval by Student's t. Only validation data mark a best one.

A run is removed by its folder, its whole id or at least six characters of it that begin no other.
By a part of its id it is asked about, and where nobody can answer only removed with --yes. A run
that a process works on is never removed, nor anything outside of the root; imported data stay.
Either all named runs are removed, or none.
)";

int runs_verb(Context& context, const std::vector<std::string>& arguments) {
  const Command command = read_action(context, "runs", arguments,
                                      {"list", "show", "compare", "pivot", "export", "note", "rm"});
  if (command.name == "show") return show_run(context, command.words);
  if (command.name == "compare") return compare_runs(context, command.words);
  if (command.name == "rm") return remove_runs(context, command.words);
  if (command.name == "pivot") return pivot_runs(context, command.words);
  if (command.name == "export") return export_runs(context, command.words);
  if (command.name == "note") return note_run(context, command.words);
  return print_runs(context, command.words);
}

}  // namespace

Verb make_runs_verb() {
  return {"runs", "list, show, compare, tabulate, name and remove runs", Needs::kCatalog, runs_verb,
          help_text(kRunsHelp)};
}

}  // namespace kdgat
