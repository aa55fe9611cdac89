// Keys that several forms of JSON have.
#include "pipeline/verbs/json/json_forms.h"

namespace kdgat {

namespace {

constexpr const char* kRunDataKeys = R"(
path      string  as it was named
folder    string  of the imported data
summary   string  in words
options   open    of the import
)";

constexpr const char* kRunGitKeys = R"(
folder   string   of the repository
commit   string   its hash
branch?  string   that was checked out
dirty?   boolean  with changes
)";

constexpr const char* kRequirementKeys = R"(
name      string       STEP.FIGURE or STEP.PART.FIGURE
relation  string       >=, >, <=, < or ==
wanted    number       what it is compared with
value     number|null  of the run; null = it has no such figure
met       boolean      whether it holds
)";

constexpr const char* kReplicateKeys = R"(
seed        integer  its seed
run         string   id of its run; "" = not begun
exit_code?  integer  once it has ended
seconds?    number   wall clock, seconds
error?      string   what went wrong
)";

constexpr const char* kSpreadKeys = R"(
step            string       whose figure it is
part            string       of the data; "" = the step as a whole
name            string       of the figure
n               integer      seeds that have it
mean            number|null  over these seeds
deviation       number|null  standard deviation; null of one seed
values[]        object       by seed
values[].seed   integer      its seed
values[].value  number|null  its figure
)";

constexpr const char* kRunRecordKeys = R"(
id            string         of the run
name          string         that a user gave; "" = none
tags[]        string         that a user gave
notes[]       @note          that a user wrote
folder        string         of the run
profile       string         its name
dataset       string         its data set
state         string         done, failed, interrupted, stopped or running
exit_code     integer|null   null = it has none yet
started       string         UTC, ISO 8601
finished      string         UTC, ISO 8601; "" = not yet
host          string         name of the machine
device        string         cpu or cuda:N
threads       integer        of each process
cpu           string         model of the processor; "" = not known
gpu           string         models of the cards; "" = none
kdgat         string         version of the program
libtorch      string         version of LibTorch; "" = none
git           @run_git|null  of the folder of the profile
command       string         as it was typed
data          @run_data|null what its steps read
requirements[]  @requirement  of --require, judged
bytes         integer        on the disk, bytes
steps[]          object       in the order of the plan
steps[].step     string       its name
steps[].stage    string       its stage
steps[].status   string       done, kept, failed, skipped, interrupted, running or pending
steps[].reason   string       why it ran
steps[].error    string       what went wrong
steps[].run      string       id of the run that made it
steps[].folder   string       where it stands
steps[].seconds  number|null  wall clock, seconds
steps[].peak_resident_bytes  number|null  of its process, bytes
figures[]        object       numbers by which runs are compared
figures[].step   string       whose figure it is
figures[].part   string       of the data; "" = the step as a whole
figures[].name   string       of the figure
figures[].value  number|null  null = not a finite number
)";

constexpr const char* kNoteKeys = R"(
time  string  UTC, ISO 8601
text  string  as it was written
)";

constexpr const char* kStepMemoryKeys = R"(
step           string       its name
planned        open|null    what the stage planned, bytes
actual         open|null    what was measured, bytes
error_percent  number|null  of the planned peak, in percent of the measured one
)";

constexpr const char* kSweepKeys = R"(
mode          string       grid, random, asha or the name of a published sweep
metric        string       by which trials are compared
goal          string       min or max
memory        integer      for all trials, bytes
buffer        integer      that stays free, bytes
context       integer      of the device, bytes
at_once       integer      trials that work at the same time; 0 = as memory allows
threads       integer      of each trial
cores         integer      of the machine
seconds       number       of the whole sweep, seconds
best          string|null  name of the trial that validation chose
devices[]          object   where trials work
devices[].device   string   cpu or cuda:N
devices[].room     integer  for trials, bytes
trials[]               object   in the order in which they were made
trials[].name          string   of its step
trials[].values        object   of the options that are tried
trials[].values.*      string   as it was tried
trials[].state         string   waiting, running, done, failed or stopped
trials[].planned       integer  peak that its stage plans, bytes
trials[].reserved      integer  for it, bytes
trials[].needed        integer  as measured, bytes; 0 = not measured
trials[].attempts      integer  how often it was begun
trials[].seconds       number   wall clock, seconds
trials[].cpu_seconds   number   of all its threads, seconds
trials[].metrics       open     of its best epoch, by names of the stage
trials[].value?        number   of the metric
trials[].epoch_of_best? integer the epoch of its metrics
trials[].stopped_at?   integer  the epoch at which it was left
trials[].error?        string   what went wrong
)";

constexpr const char* kSimulatedKeys = R"(
seconds        number   of the whole sweep, seconds
mean_admitted  number   trials at once, in the mean
most_admitted  integer  trials at once
peak_reserved  number   bytes
exceeded       integer  times that trials needed more than there is
)";

constexpr const char* kResourcesKeys = R"(
minutes       integer  of time
memory        integer  bytes
max_memory    integer  up to which a retry may ask, bytes
cpus          integer  cores
gpus          integer  cards
memory_limit  integer  of the stage, bytes; 0 = none
exclude       string   nodes that are left out
memory_from   string   where the memory comes from, in words
time_from     string   where the time comes from, in words
)";

constexpr const char* kLegacyKeys = R"(
hidden_dim      integer  width of the layers
num_layers      integer  layers
num_users       number   users
num_items       number   items
legacy_gb       number   by the published formula, GB
tensor_bytes    integer  that this program holds, bytes
mapped_bytes    integer  of graph and features, mapped once, bytes
items[]         object   what the tensors are
items[].name    string   in words
items[].bytes   integer  bytes
)";

}  // namespace

std::vector<JsonPart> json_parts_of_runs() {
  return {{"run_data", kRunDataKeys},
          {"run_git", kRunGitKeys},
          {"requirement", kRequirementKeys},
          {"replicate", kReplicateKeys},
          {"spread", kSpreadKeys},
          {"run_record", kRunRecordKeys},
          {"note", kNoteKeys},
          {"sweep", kSweepKeys},
          {"step_memory", kStepMemoryKeys},
          {"simulated", kSimulatedKeys},
          {"resources", kResourcesKeys},
          {"legacy", kLegacyKeys}};
}

}  // namespace kdgat
