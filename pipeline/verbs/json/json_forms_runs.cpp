// Forms of JSON of verbs that look at runs, and change what is said of them.
#include "pipeline/verbs/json/json_forms.h"

namespace kdgat {

namespace {

constexpr const char* kListKeys = R"(
runs[]  @run_record  the newest first
)";

constexpr const char* kShowKeys = R"(
@run_record
memory[]  @step_memory  of steps that left a memory.json
seeds?               object      of a run over seeds
seeds.id             string      of the run
seeds.folder         string      of the run
seeds.replicates[]   @replicate  one a seed
seeds.figures[]      @spread     over all seeds
)";

constexpr const char* kCompareKeys = R"(
runs[]                      string       ids, in the order of all lists of values
differences[]               object       options in which the runs differ
differences[].step          string       whose option it is
differences[].name          string       of the option
differences[].values[]      string       one a run; "" = it has no such option
figures[]                   object       numbers of the runs
figures[].step              string       whose figure it is
figures[].part              string       of the data; "" = the step as a whole
figures[].name              string       of the figure
figures[].values[]          number|null  one a run
figures[].groups[]?         object|null  one a group
figures[].groups[].n          integer      seeds that have it
figures[].groups[].mean       number|null  over these seeds
figures[].groups[].deviation  number|null  standard deviation
figures[].to_first[]?       object|null  difference to the first group, paired by seed
figures[].to_first[].n      integer      seeds that both have
figures[].to_first[].mean   number|null  of the differences
figures[].to_first[].low    number|null  of its 95 % interval
figures[].to_first[].high   number|null  of its 95 % interval
groups[]?                   object       runs that differ in the seed alone, where there are any
groups[].name               string       of the group
groups[].runs[]             string       ids
groups[].seeds[]            integer      of the same runs
)";

constexpr const char* kPivotKeys = R"(
value              string   the key that is tabulated
without_value      integer  runs that have none
cells[]            object   those that a run has a value for
cells[].row        object   by key of the rows
cells[].row.*      string   its value
cells[].column     object   by key of the columns
cells[].column.*   string   its value
cells[].mean       number|null  over the runs of the cell
cells[].n          integer  runs of the cell
cells[].runs[]     string   ids
)";

constexpr const char* kExportKeys = R"(
run        string       id
name       string       that a user gave; "" = none
tags[]     string       that a user gave
profile    string       its name
dataset    string       its data set
state      string       done, failed, interrupted, stopped or running
started    string       UTC, ISO 8601
seconds    number|null  wall clock, seconds
options    open         those in which runs differ, as STEP.OPTION
figures    object       as STEP.FIGURE or STEP.PART.FIGURE
figures.*  number|null  its value
)";

constexpr const char* kNotedKeys = R"(
folder   string  of the run
@labels
)";

constexpr const char* kRemovedKeys = R"(
dry_run        boolean  nothing was removed
runs[]         object   each that was removed, or would be
runs[].id      string   of the run
runs[].folder  string   where it stood
runs[].bytes   integer  on the disk, bytes
)";

constexpr const char* kReportKeys = R"(
file    string   that was written
bytes   integer  its size, bytes
runs[]  string   ids of the runs in it
)";

constexpr const char* kTopKeys = R"(
runs[]                       object       those at work
runs[].id                    string       of the run
runs[].name                  string       that a user gave; "" = none
runs[].folder                string       of the run
runs[].started               string       UTC, ISO 8601
runs[].device                string       cpu or cuda:N
runs[].threads               integer      of each process
runs[].owner                 string       the process that works on it
runs[].steps[]               object       those at work
runs[].steps[].step          string       its name
runs[].steps[].stage         string       its stage
runs[].steps[].phase         string       of its work; may be ""
runs[].steps[].unit          string       of done and total: epoch, bytes, ...
runs[].steps[].done          integer      units
runs[].steps[].total         integer      units; 0 = not known
runs[].steps[].metrics       open|null    as the stage tells them
runs[].steps[].seconds       number|null  since it began, seconds
runs[].steps[].seconds_left  number|null  seconds
runs[].steps[].memory_bytes  integer      of its process, bytes; 0 = not known
)";

constexpr const char* kSyncKeys = R"(
sent               integer  numbers, to MLflow
runs[]             object   each run
runs[].run         string   its folder
runs[].sent        integer  numbers, to MLflow
runs[].problems[]  string   what could not be written or sent
)";

}  // namespace

std::vector<JsonForm> json_forms_of_runs() {
  using Kind = JsonForm::Kind;
  return {
      {"kdgat.runs.list", 1, "kdgat runs list", "runs", kListKeys},
      {"kdgat.runs.show", 1, "kdgat runs show", "one run", kShowKeys},
      {"kdgat.runs.compare", 1, "kdgat runs compare", "differences and figures of runs",
       kCompareKeys},
      {"kdgat.runs.pivot", 1, "kdgat runs pivot", "a figure over options", kPivotKeys},
      {"kdgat.runs.export", 1, "kdgat runs export", "options and figures of each run", kExportKeys,
       Kind::kLines},
      {"kdgat.runs.note", 1, "kdgat runs note", "name, tags and notes of a run", kNotedKeys},
      {"kdgat.runs.rm", 1, "kdgat runs rm", "runs that were removed", kRemovedKeys},
      {"kdgat.report", 1, "kdgat report", "the file of a report", kReportKeys},
      {"kdgat.top", 1, "kdgat top", "runs at work", kTopKeys},
      {"kdgat.sync", 1, "kdgat sync", "records that were made up for", kSyncKeys},
  };
}

}  // namespace kdgat
