// Forms of JSON of verbs that plan and do the work of runs.
#include "pipeline/memory/legacy_table.h"
#include "pipeline/tune/sweep_table.h"
#include "pipeline/verbs/json/json_forms.h"

namespace kdgat {

namespace {

constexpr const char* kRunKeys = R"(
id           string|null  of the run; null where nothing was to be done
folder?      string       of the run; none where nothing was to be done
exit_code    integer      see kdgat help exit-codes
profile?     string       its name
plan?        string       fingerprint of all steps
command?     string       as it was typed
host?        string       name of the machine
kdgat?       string       version of the program
device?      string       cpu or cuda:N
threads?     integer      of each process
seed?        integer      of the run
started?     string       UTC, ISO 8601
finished?    string       UTC, ISO 8601
bytes?       integer      on the disk, bytes
headline?    string       its figures in one line
replicate_of?  string     the run over seeds that it belongs to
submitted?   boolean      by kdgat submit
data?        @run_data    what its steps read
machine?     object       where it worked
machine.cores         integer  processors
machine.memory_bytes  integer  of the machine, bytes
machine.cpu?          string   model of the processor
machine.gpu?          string   models of the cards
versions?             object   of what it was made with
versions.kdgat        string   of the program
versions.stages       object   of each stage
versions.stages.*     integer  version of the stage
versions.libtorch?    string   of LibTorch
git?                  @run_git      of the folder of the profile
records?              object   where its numbers go
records.csv           boolean  to metrics.csv
records.tensorboard   boolean  to files of TensorBoard
records.mlflow_uri    string   to MLflow, without password; "" = not
records.experiment    string   of MLflow
records.sends_credentials? boolean  whether MLflow is sent those of the environment
records.cpu_seconds?  number   what the records took, seconds
requirements[]?       @requirement  of --require, judged
steps[]               object   in the order of the plan
steps[].step          string   its name
steps[].stage         string   its stage
steps[].status        string   done, kept, failed, skipped, interrupted, running or pending
steps[].result        open     what the stage says: metrics, figures, tables, facts, memory
steps[].reason?       string   why it ran
steps[].fingerprint?  string   of its options and inputs
steps[].seconds?      number   wall clock, seconds
steps[].peak_resident_bytes?  integer  of its process, bytes
steps[].error?        string   what went wrong
steps[].exit_code?    integer  of a step that failed
steps[].run?          string   of a kept step: the run that made it
steps[].folder?       string   of a kept step: where it stands
steps[].slurm?        open     the job that did it
)";

constexpr const char* kRunPlanKeys = R"(
device         string       cpu or cuda:N
threads        integer      of each process
fingerprint    string       of the whole plan
data           object|null  null where no step reads any, or they are not imported yet
data.folder    string       of the imported data
data.summary   string       in words
warnings[]     string       what may be wrong with the plan
steps[]        object       in the order of the plan
steps[].step   string       its name
steps[].stage  string       its stage
steps[].action       string    run or keep
steps[].reason       string    why
steps[].needs[]      string    steps that it reads from
steps[].fingerprint  string    of its options and inputs
steps[].folder?      string    of a step that is kept
steps[].facts?       open      with -v: what its stage plans
)";

constexpr const char* kSeedsPlanKeys = R"(
at_once              integer  runs that work at the same time
threads              integer  of each
replicates[]         object   one a seed
replicates[].seed    integer  its seed
replicates[].steps[]              object  in the order of the plan
replicates[].steps[].step         string  its name
replicates[].steps[].action       string  run or keep
replicates[].steps[].reason       string  why
replicates[].steps[].fingerprint  string  of its options and inputs
)";

constexpr const char* kSeedsKeys = R"(
id            string      of the run over seeds
folder        string      of the run over seeds
exit_code     integer     see kdgat help exit-codes
replicates[]  @replicate  one a seed
figures[]     @spread     over all seeds
)";

constexpr const char* kPlanKeys = R"(
device            string       cpu or cuda:N
memory            object       what is planned for
memory.limit      integer      bytes; 0 = none is set
memory.available  integer      bytes; 0 = what the machine has
memory.context    integer      of the device, before any tensor, bytes
memory.device     string       a card by its name; "" = the machine
memory.total      integer      of the device, bytes; 0 = of the machine
memory.measure    boolean      a few batches are run
memory.own        boolean      no other process uses the device
data              string|null  in words
exit_code         integer      of the first step that does not fit, or cannot be planned
steps[]           object       those that were asked
steps[].step      string       its name
steps[].stage     string       its stage
steps[].action    string       run or keep
steps[].memory    open|null    what its stage plans, as memory.json of a run; null = nothing
steps[].exit_code?   integer   where it cannot be planned
steps[].problems[]?  string    the same, in words
)";

constexpr const char* kTuneKeys = R"(
@sweep
run        string   id of the run
folder     string   of the run
exit_code  integer  see kdgat help exit-codes
)";

constexpr const char* kSubmitKeys = R"(
runs[]            object      one a seed; none where nothing is to be done
runs[].seed       integer     its seed
runs[].folder     string      of the run
steps[]           object      each that was submitted
steps[].step      string      its name
steps[].job       string      number of the job
steps[].resources @resources  what SLURM was asked for
)";

constexpr const char* kSubmitPlanKeys = R"(
steps[]            object      each that would be submitted
steps[].step       string      its name
steps[].script     string      the batch script
steps[].sbatch[]   string      the command that would submit it, word by word
steps[].resources  @resources  what SLURM would be asked for
)";

constexpr const char* kJobsKeys = R"(
jobs[]              object   the last job of each step
jobs[].run          string   folder of its run
jobs[].seed         integer  of its run
jobs[].step         string   its step
jobs[].job          string   number of the job, with that of the task
jobs[].attempt      integer  how often the step was submitted
jobs[].state        string   done, gone, or as SLURM says
jobs[].from         string   journal, sacct, scontrol or squeue
jobs[].reason       string   why it waits, as SLURM says
jobs[].elapsed      string   as SLURM writes times
jobs[].restarts     integer  how often it was queued again
jobs[].memory_asked integer  bytes
jobs[].memory_used  integer  bytes; 0 = not known
jobs[].nodes        string   where it works
jobs[].output       string   file of its output
jobs[].failure      string   of what kind; "" = none
jobs[].because      string   what tells so
jobs[].remedy       string   what kdgat jobs --retry would change
)";

constexpr const char* kRetriedKeys = R"(
submitted[]          object  each step that failed
submitted[].run      string  folder of its run
submitted[].step     string  its name
submitted[].job      string  number of the new job; "" = refused
submitted[].because  string  what is changed, or why it is refused
)";

constexpr const char* kCancelledKeys = R"(
cancelled[]        object  each job that was ended
cancelled[].run    string  folder of its run
cancelled[].step   string  its step
cancelled[].job    string  number of the job
cancelled[].state  string  what it was, as SLURM says
)";

constexpr const char* kEstimateKeys = R"(
memory   open     what the stage plans, as memory.json of a run
graphs   open     the data that it was planned for, as facts of a store
legacy?  @legacy  beside the published formula
)";

constexpr const char* kMemoryReportKeys = R"(
run      string        id of the run
steps[]  @step_memory  those that left a memory.json
)";

}  // namespace

std::vector<JsonForm> json_forms_of_work() {
  return {
      {"kdgat.run", 1, "kdgat run", "what a run came to; kdgat fit prints it too", kRunKeys},
      {"kdgat.run.plan", 1, "kdgat plan --explain",
       "what a run would do; kdgat run --dry-run prints it too", kRunPlanKeys},
      {"kdgat.run.seeds", 1, "kdgat run --seeds", "what runs over seeds came to", kSeedsKeys},
      {"kdgat.run.seeds_plan", 1, "kdgat plan --seeds --explain",
       "what runs over seeds would do; kdgat run --dry-run prints it too", kSeedsPlanKeys},
      {"kdgat.plan", 1, "kdgat plan", "memory that steps need", kPlanKeys},
      {"kdgat.tune", 1, "kdgat tune", "what a sweep came to", kTuneKeys},
      {"kdgat.tune.plan", 1, "kdgat tune --dry-run", "what a sweep would try", "@sweep"},
      {"kdgat.tune.show", 1, "kdgat tune show", "an earlier sweep", "@sweep"},
      {"kdgat.tune.simulation", 1, "kdgat tune show --simulate", "a sweep on another device",
       record::keys_text<SweepSimulation>()},
      {"kdgat.submit", 1, "kdgat submit", "jobs that were submitted", kSubmitKeys},
      {"kdgat.submit.plan", 1, "kdgat submit --dry-run", "jobs that would be submitted",
       kSubmitPlanKeys},
      {"kdgat.jobs", 1, "kdgat jobs", "jobs of a submitted run", kJobsKeys},
      {"kdgat.jobs.retry", 1, "kdgat jobs --retry", "jobs that were submitted again", kRetriedKeys},
      {"kdgat.cancel", 1, "kdgat cancel", "jobs that were ended", kCancelledKeys},
      {"kdgat.memory.estimate", 1, "kdgat plan --estimate", "memory that a stage needs",
       kEstimateKeys},
      {"kdgat.memory.published", 1, "kdgat plan --legacy", "the published tables of estimates",
       "published[] object the published configurations\n" +
           record::keys_text<PublishedComparison>("published[].")},
      {"kdgat.memory.report", 1, "kdgat memory report", "memory planned and measured",
       kMemoryReportKeys},
  };
}

}  // namespace kdgat
