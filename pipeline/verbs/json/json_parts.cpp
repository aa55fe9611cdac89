// Keys that several forms of JSON have.
#include "pipeline/memory/legacy_table.h"
#include "pipeline/memory/memory_report.h"
#include "pipeline/run/replicates.h"
#include "pipeline/run/requirements.h"
#include "pipeline/run/run_record.h"
#include "pipeline/slurm/job_script.h"
#include "pipeline/tune/replicate_table.h"
#include "pipeline/tune/saved_sweep.h"
#include "pipeline/verbs/json/json_forms.h"
#include "pipeline/verbs/runs/runs_actions.h"

namespace kdgat {

std::vector<JsonPart> json_parts_of_runs() {
  return {{"run_data", record::keys_text<RunData>()},
          {"run_git", record::keys_text<RunGit>()},
          {"requirement", record::keys_text<JudgedRequirement>()},
          {"replicate", record::keys_text<Replicate>()},
          {"spread", record::keys_text<FigureOfSeeds>()},
          {"run_record", run_json_keys()},
          {"labels", record::keys_text<RunLabels>()},
          {"note", record::keys_text<RunNote>()},
          {"sweep", record::keys_text<SavedSweep>()},
          {"step_memory", record::keys_text<MemoryError>()},
          {"resources", record::keys_text<JobResources>()},
          {"legacy", record::keys_text<LegacyComparison>()}};
}

}  // namespace kdgat
