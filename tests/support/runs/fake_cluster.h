// A folder with a profile of two steps of the example plugin, and with sbatch, scontrol and scancel
// that are only pretended: jobs run as soon as they are submitted.
#pragma once

#include <catch2/catch.hpp>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "support/can/log_text.h"
#include "support/runs/runs.h"

namespace kdgat::test {

inline constexpr const char* kFakeSbatch = R"(#!/bin/bash
[ "$1" = --version ] && exit 0
echo "sbatch $*" >> "$FAKE/calls"
script=${!#}
name=$(basename "$script" .sh)
if [ -e "$FAKE/refuse-$name" ]; then
  echo "sbatch: error: invalid partition specified: gpu" >&2
  exit 1
fi
number=$(($(cat "$FAKE/number" 2> /dev/null || echo 100) + 1))
echo $number > "$FAKE/number"
echo $number
[ -e "$FAKE/hold" ] && exit 0
export SLURM_JOB_ID=$number SLURM_ARRAY_JOB_ID=$number
folder=$(dirname "$script")
case "$*" in
  *--array=0-1*)
    for task in 0 1; do
      SLURM_ARRAY_TASK_ID=$task bash "$script" > "$folder/$name-${number}_$task.out" 2>&1
    done ;;
  *) bash "$script" > "$folder/$name-$number.out" 2>&1 ;;
esac
exit 0
)";

/// A folder with a profile of two steps, and a cluster in the PATH.
struct Cluster {
  Cluster() {
    program("sbatch", kFakeSbatch);
    program("scancel", "#!/bin/bash\necho \"scancel $*\" >> \"$FAKE/calls\"\n");
    program("scontrol",
            "#!/bin/bash\n[ \"$*\" = \"show config\" ] && { cat \"$FAKE/config\"; exit; }\n"
            "id=${!#}\n[ -e \"$FAKE/state-$id\" ] || exit 1\n"
            "echo \"JobId=$id JobState=$(cat \"$FAKE/state-$id\") Restarts=0 RunTime=00:01:00 "
            "NodeList=n1 MinMemoryNode=1G\"\n");
    for (const char* name : {"sacct", "squeue"}) program(name, "#!/bin/bash\nexit 1\n");
    write_text(scratch / "p.yaml",
               "stages:\n  first: {stage: example, steps: 3}\n"
               "  second: {stage: example, steps: 2, needs: first}\n");
  }
  void program(const std::string& name, const std::string& text) const {
    std::filesystem::create_directories(scratch / "bin");
    write_text(scratch / "bin" / name, text);
    std::filesystem::permissions(scratch / "bin" / name, std::filesystem::perms::owner_all);
  }
  CommandResult kdgat(const std::string& words) const {
    return run_shell("export FAKE='" + scratch.path().string() + "' PATH=\"$PWD/bin:$PATH\"\n" +
                         kdgat_word() + " " + words,
                     scratch.path());
  }
  nlohmann::json answer(const std::string& words, int code = 0) const {
    const CommandResult result = kdgat(words + " --json");
    INFO(words << "\n" << result.out << result.err);
    REQUIRE(result.exit_code == code);
    return nlohmann::json::parse(result.out);
  }
  std::filesystem::path run() const { return newest_run(scratch / "runs/default"); }
  nlohmann::json run_json() const { return nlohmann::json::parse(read_text(run() / "run.json")); }
  std::string calls() const { return read_text(scratch / "calls"); }
  void set(const std::string& file, const std::string& text = "") const {
    write_text(scratch / file, text);
  }

  ScratchFolder scratch;
};

}  // namespace kdgat::test
