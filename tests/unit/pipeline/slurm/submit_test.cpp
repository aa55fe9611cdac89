// `kdgat submit`, `jobs` and `cancel` as a person types them, with the example plugin and with
// sbatch, scontrol and scancel that are only pretended: jobs run as soon as they are submitted.
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "kdgat/atomic_file.h"
#include "support/programs/soak.h"
#include "support/runs/fake_cluster.h"

using namespace kdgat;
using namespace kdgat::test;
using Catch::Contains;
using nlohmann::json;
namespace fs = std::filesystem;

namespace {

std::string status_of(const json& run, const std::string& step) {
  for (const json& state : run.at("steps")) {
    if (state.at("step") == step) return state.at("status");
  }
  return "";
}

}  // namespace

TEST_CASE("kdgat submit shows its scripts where there is no SLURM", "[slurm]") {
  const ScratchFolder scratch;
  const CommandResult shown = run_kdgat("submit example steps=2 --dry-run", scratch.path());
  CHECK(shown.exit_code == 0);
  CHECK_THAT(shown.out, Contains("#SBATCH --requeue") && Contains("sbatch --parsable"));
  CHECK_FALSE(fs::exists(scratch / "runs/default"));
  const CommandResult json_form = run_kdgat(
      "submit example steps=2 -n --json --array seeds=1..3 --slurm time=2h", scratch.path());
  CHECK(json_form.exit_code == 0);
  const json steps = json::parse(json_form.out).at("steps");
  REQUIRE(steps.size() == 1);
  CHECK(steps[0].at("resources").at("minutes") == 120);
  CHECK(steps[0].at("sbatch")[2] == "--array=0-2");
}

TEST_CASE("hostile names and secrets pass through submit without effect", "[slurm][soak]") {
  const ScratchFolder scratch;
  for (const char* part : {"names", "secrets"}) {
    const CommandResult result =
        run_shell("PYTHONPATH='" + fs::absolute("scripts").string() + "' python3 -B -c '" +
                      "import json, pathlib, types, sys\nfrom soaks import " + part + " as part\n" +
                      "options = types.SimpleNamespace(kdgat=sys.argv[1], "
                      "scratch=pathlib.Path(sys.argv[2]).resolve(), "
                      "names=" +
                      std::to_string(soak(4)) + ")\nprint(json.dumps(part.run(options)))' " +
                      kdgat_word() + " .",
                  scratch.path());
    INFO(part << "\n" << result.err);
    REQUIRE(result.exit_code == 0);
    const json rows = json::parse(result.out);
    CHECK(rows.size() >= 4);
    for (const json& row : rows) {
      INFO(row.dump());
      CHECK(row.at("good") == true);
    }
  }
}

TEST_CASE("kdgat submit refuses what it does not know", "[slurm]") {
  const Cluster cluster;
  const auto refused = [&](const std::string& words) {
    const CommandResult result = cluster.kdgat("submit p.yaml -n " + words);
    CHECK(result.exit_code == 2);
    return result.err;
  };
  CHECK_THAT(refused("--profile slrm"), Contains("did you mean slurm?"));
  CHECK_THAT(refused("--slurm tme=2h"), Contains("did you mean time?"));
  CHECK_THAT(refused("--slurm time"), Contains("key=value"));
  CHECK_THAT(refused("--slurm frist.time=1h"), Contains("did you mean first?"));
  CHECK_THAT(refused("--array seeds=5..1"), Contains("\"5..1\" ends before it begins"));
  CHECK_THAT(refused("--array seeds=1,x"), Contains("neither a seed nor a range of seeds"));
  CHECK_THAT(refused("--array lr=1..2"), Contains("array is one of seeds"));
  CHECK_THAT(refused("stps=3"), Contains("did you mean steps?"));
  CHECK(cluster.calls().empty());
}

TEST_CASE("kdgat submit hands over every step, and the jobs work in one run", "[slurm]") {
  const Cluster cluster;
  const CommandResult submitted = cluster.kdgat("submit p.yaml");
  INFO(submitted.err);
  REQUIRE(submitted.exit_code == 0);
  CHECK_THAT(cluster.calls(), Contains("--dependency=afterok:101 --kill-on-invalid-dep=yes"));
  CHECK_THAT(submitted.out, Contains(cluster.run().filename().string()));
  const json run = cluster.run_json();
  CHECK(status_of(run, "first") == "done");
  CHECK(status_of(run, "second") == "done");
  CHECK(run.at("exit_code") == 0);
  const json jobs = cluster.answer("jobs " + cluster.run().string()).at("jobs");
  REQUIRE(jobs.size() == 2);
  CHECK(jobs[0].at("state") == "done");
  CHECK(jobs[1].at("job") == "102");
  CHECK_THAT(cluster.kdgat("submit p.yaml").err, Contains("nothing to submit"));
  CHECK_THAT(cluster.kdgat("run p.yaml").err, Contains("everything is up to date"));
}

TEST_CASE("a job whose figure is not as required ends with 11", "[slurm][require]") {
  const Cluster cluster;
  cluster.set("hold");
  REQUIRE(cluster.kdgat("submit p.yaml --require 'first.count>=9' --require 'second.count==2'")
              .exit_code == 0);
  const std::string run = cluster.run().string();
  const CommandResult first = cluster.kdgat("job '" + run + "' first");
  CHECK(first.exit_code == 11);
  CHECK_THAT(first.err, Contains("first.count is 3, required >= 9") && !Contains("second.count"));
  CHECK(cluster.kdgat("job '" + run + "' first").exit_code == 11);  // queued again: the same
  cluster.set("state-101", "FAILED ExitCode=11:0");
  cluster.set("state-102", "CANCELLED Reason=DependencyNeverSatisfied");
  const json jobs = cluster.answer("jobs " + run).at("jobs");
  CHECK(jobs[0].at("failure") == "not as required");
  CHECK(jobs[1].at("failure") == "needs a failed step");
  const json again = cluster.answer("jobs " + run + " --retry", 1).at("submitted");
  CHECK(again[0].at("job") == "");
  CHECK(again[1].at("job") == "");
  CHECK(cluster.kdgat("job '" + run + "' second").exit_code == 0);
  const json noted = cluster.run_json().at("requirements");
  REQUIRE(noted.size() == 2);
  CHECK(noted[0].at("met") == false);
  CHECK(noted[1].at("met") == true);
  // Now all is there: nothing to submit, and not as required.
  const CommandResult kept = cluster.kdgat("submit p.yaml --require 'first.count>=9'");
  CHECK(kept.exit_code == 11);
  CHECK_THAT(kept.err, Contains("first.count is 3, required >= 9"));
  CHECK(cluster.kdgat("submit p.yaml --require 'frist.count>=9'").exit_code == 2);
  CHECK(cluster.kdgat("submit p.yaml second.steps=4 --require 'first.count>=9'").exit_code == 11);
}

TEST_CASE("the last job judges what no step answered", "[slurm][require]") {
  const Cluster cluster;
  cluster.set("hold");
  REQUIRE(cluster.kdgat("submit p.yaml --require 'first.epochs>=1'").exit_code == 0);
  const std::string run = cluster.run().string();
  CHECK(cluster.kdgat("job '" + run + "' first").exit_code == 0);
  const CommandResult last = cluster.kdgat("job '" + run + "' second");
  CHECK(last.exit_code == 11);
  CHECK_THAT(last.err,
             Contains("first.epochs is not among the figures of this run (first: count)"));
}

TEST_CASE("jobs run what was frozen, whatever has changed since", "[slurm]") {
  const Cluster cluster;
  cluster.set("hold");
  REQUIRE(cluster.kdgat("submit p.yaml").exit_code == 0);
  write_file(cluster.scratch / "p.yaml", "not: [a profile\n");
  const std::string run = "'" + cluster.run().string() + "'";
  const CommandResult first = cluster.kdgat("job " + run + " first");
  INFO(first.err);
  CHECK(first.exit_code == 0);
  const json config = json::parse(read_text(cluster.run() / "first/config.json"));
  CHECK(config.at("options").at("steps") == 3);
  // A second time there is nothing to do; what needs more than is there says so.
  CHECK_THAT(cluster.kdgat("job " + run + " first").err, Contains("done already"));
  fs::remove(cluster.run() / "first/step.json");
  const CommandResult second = cluster.kdgat("job " + run + " second");
  CHECK(second.exit_code == 3);
  CHECK_THAT(second.err, Contains("needs first, which is not done"));
  CHECK(cluster.kdgat("job " + run + " third").exit_code == 2);
  CHECK(cluster.kdgat("job runs first").exit_code == 3);
}

TEST_CASE("a submitted run says where it runs as soon as a job knows", "[slurm]") {
  const Cluster cluster;
  cluster.set("hold");
  cluster.answer("submit p.yaml");
  const json before = cluster.run_json();
  CHECK(before.at("device") == "cpu");
  CHECK(before.at("versions").at("stages").contains("example"));
  CHECK_FALSE(before.contains("machine"));
  CHECK_FALSE(before.contains("threads"));
  CHECK(cluster.kdgat("job " + cluster.run().string() + " first").exit_code == 0);
  const json after = cluster.run_json();
  CHECK(after.at("machine").at("cores") > 0);
  CHECK(after.at("threads") > 0);
}

TEST_CASE("an array of seeds has a run each", "[slurm]") {
  const Cluster cluster;
  const json submitted = cluster.answer("submit p.yaml --array seeds=1..2");
  REQUIRE(submitted.at("runs").size() == 2);
  CHECK_THAT(cluster.calls(), Contains("--array=0-1") && Contains("--dependency=aftercorr:101"));
  for (const json& run : submitted.at("runs")) {
    const fs::path folder = run.at("folder").get<std::string>();
    const json record = json::parse(read_text(folder / "run.json"));
    CHECK(record.at("exit_code") == 0);
    CHECK(record.at("seed") == run.at("seed"));
    CHECK(json::parse(read_text(folder / "first/config.json")).at("seed") == run.at("seed"));
    CHECK(cluster.answer("jobs " + folder.string()).at("jobs").size() == 4);
    CHECK(cluster.answer("jobs " + folder.string() + " --seed 2").at("jobs").size() == 2);
  }
  const fs::path first = submitted.at("runs")[0].at("folder").get<std::string>();
  CHECK(cluster.kdgat("jobs " + first.string() + " --seed 9").exit_code == 2);
}

TEST_CASE("seeds may be any numbers, as many as an array of the cluster holds", "[slurm]") {
  const Cluster cluster;
  cluster.set("config", "MaxArraySize            = 3\nMaxJobCount = 10000\n");
  const json submitted = cluster.answer("submit p.yaml --array seeds=42,20240101");
  CHECK_THAT(cluster.calls(), Contains("--array=0-1"));
  for (const json& run : submitted.at("runs")) {
    const fs::path folder = run.at("folder").get<std::string>();
    CHECK(json::parse(read_text(folder / "first/config.json")).at("seed") == run.at("seed"));
  }
  const CommandResult many = cluster.kdgat("submit p.yaml --array seeds=1..4");
  CHECK(many.exit_code == 2);
  CHECK_THAT(many.err, Contains("4 seeds are more than an array of this cluster holds, 3"));
}

TEST_CASE("memory of a job is what SLURM takes it for", "[slurm]") {
  const ScratchFolder scratch;
  const auto script = [&](const std::string& mem) {
    const CommandResult shown =
        run_kdgat("submit example steps=2 --dry-run --slurm mem=" + mem, scratch.path());
    INFO(shown.err);
    CHECK(shown.exit_code == 0);
    return shown.out;
  };
  CHECK_THAT(script("16000"), Contains("#SBATCH --mem=16000M\n"));
  CHECK_THAT(script("0"), Contains("#SBATCH --mem=0\n") && Contains("all of the node"));
  CHECK_THAT(script("4G"), Contains("#SBATCH --mem=4096M\n"));
}

TEST_CASE("half a submission is taken back", "[slurm]") {
  const Cluster cluster;
  cluster.set("hold");
  cluster.set("refuse-second");
  const CommandResult result = cluster.kdgat("submit p.yaml");
  CHECK(result.exit_code == 2);
  CHECK_THAT(result.err, Contains("second: sbatch did not take the job") &&
                             Contains("invalid partition") && Contains("cancelled") &&
                             Contains("101"));
  CHECK_THAT(cluster.calls(), Contains("scancel 101"));
  CHECK(cluster.run_json().at("exit_code") == 2);
}

TEST_CASE("kdgat cancel ends what waits or runs and says so", "[slurm]") {
  const Cluster cluster;
  cluster.set("hold");
  REQUIRE(cluster.kdgat("submit p.yaml").exit_code == 0);
  cluster.set("state-101", "RUNNING");
  cluster.set("state-102", "PENDING Reason=Dependency");
  const std::string run = cluster.run().string();
  const json jobs = cluster.answer("jobs " + run).at("jobs");
  CHECK(jobs[0].at("state") == "RUNNING");
  CHECK(jobs[1].at("reason") == "Dependency");
  const CommandResult cancelled = cluster.kdgat("cancel " + run);
  CHECK(cancelled.exit_code == 0);
  CHECK_THAT(cancelled.out, Contains("cancelled job 101  first  was RUNNING") &&
                                Contains("cancelled job 102  second  was PENDING"));
  CHECK_THAT(cluster.calls(), Contains("scancel 101 102"));
  // SLURM may forget the jobs; the run does not.
  fs::remove(cluster.scratch / "state-101");
  fs::remove(cluster.scratch / "state-102");
  CHECK(cluster.answer("jobs " + run).at("jobs")[0].at("failure") == "cancelled");
  CHECK_THAT(cluster.kdgat("cancel " + run).out, Contains("nothing to cancel"));
}

TEST_CASE("no text of submission.json becomes an option of a program", "[slurm]") {
  const Cluster cluster;
  cluster.set("hold");
  REQUIRE(cluster.kdgat("submit p.yaml").exit_code == 0);
  const fs::path run = cluster.run();
  const json sound = json::parse(read_text(run / "submission.json"));
  // Schedulers that know every job by whatever name.
  for (const char* name : {"sacct", "scontrol", "squeue", "scancel"}) {
    cluster.program(name, "#!/bin/bash\necho \"" + std::string(name) +
                              " $*\" >> \"$FAKE/calls\"\necho \"JobId=${!#} JobState=PENDING\"\n");
  }
  const auto refused = [&](const char* place, const json& value) {
    json document = sound;
    document[json::json_pointer(place)] = value;
    write_text(run / "submission.json", document.dump());
    for (const std::string verb : {"cancel ", "jobs ", "jobs --retry "}) {
      const CommandResult result = cluster.kdgat(verb + run.string());
      INFO(verb << place << value << "\n" << result.err);
      CHECK(result.exit_code == 3);
      CHECK_THAT(result.err, Contains("submission.json: ") && Contains(" is not the "));
    }
  };
  const std::string before = cluster.calls();
  for (const char* job : {"--user=ann", "-u", "", "101 102", "101,102", "101_2", "1\n2"}) {
    refused("/steps/0/attempts/0/job", job);
  }
  refused("/steps/0/attempts/0/task", -1);
  refused("/steps/0/step", "../../first");
  refused("/steps/0/step", "");
  CHECK(cluster.calls() == before);
  write_text(run / "submission.json", sound.dump());
  CHECK(cluster.kdgat("cancel " + run.string()).exit_code == 0);
  CHECK_THAT(cluster.calls(), Contains("scancel 101 102"));
}

TEST_CASE("kdgat jobs --retry submits failed steps again with what helps", "[slurm]") {
  const Cluster cluster;
  cluster.set("hold");
  REQUIRE(cluster.kdgat("submit p.yaml --slurm mem=1GiB --slurm max_mem=3GiB").exit_code == 0);
  cluster.set("state-101", "OUT_OF_MEMORY ExitCode=0:0");
  cluster.set("state-102", "CANCELLED Reason=DependencyNeverSatisfied");
  const std::string run = cluster.run().string();
  json jobs = cluster.answer("jobs " + run).at("jobs");
  CHECK(jobs[0].at("failure") == "host out of memory");
  CHECK(jobs[0].at("remedy") == "more memory");
  CHECK(jobs[1].at("failure") == "needs a failed step");
  const json again = cluster.answer("jobs " + run + " --retry").at("submitted");
  REQUIRE(again.size() == 2);
  CHECK(again[0].at("job") == "103");
  CHECK_THAT(cluster.calls(), Contains("--dependency=afterok:103"));
  CHECK_THAT(read_text(cluster.run() / "slurm/first-2.sh"), Contains("#SBATCH --mem=2048M"));
  const json noted = json::parse(read_text(cluster.run() / "submission.json"));
  CHECK(noted.at("steps")[0].at("attempts").size() == 2);
  CHECK_THAT(noted.at("steps")[0].at("attempts")[1].at("because").get<std::string>(),
             Contains("more memory"));

  cluster.set("state-103", "RUNNING");
  cluster.set("state-104", "PENDING Reason=Dependency");
  CHECK(cluster.answer("jobs " + run + " --retry").at("submitted").empty());

  cluster.set("state-103", "OUT_OF_MEMORY ExitCode=0:125");
  cluster.set("state-104", "CANCELLED Reason=DependencyNeverSatisfied");
  CHECK(cluster.answer("jobs " + run + " --retry").at("submitted")[0].at("job") == "105");
  CHECK_THAT(read_text(cluster.run() / "slurm/first-3.sh"), Contains("#SBATCH --mem=3072M"));
  cluster.set("state-105", "OUT_OF_MEMORY ExitCode=0:125");
  cluster.set("state-106", "CANCELLED Reason=DependencyNeverSatisfied");
  const json enough = cluster.answer("jobs " + run + " --retry", 1).at("submitted");
  CHECK(enough[0].at("job") == "");
  CHECK_THAT(enough[0].at("because").get<std::string>(), Contains("max_mem"));
  CHECK_THAT(enough[1].at("because").get<std::string>(), Contains("needs first"));
}

TEST_CASE("runs without jobs have none to show", "[slurm]") {
  const Cluster cluster;
  REQUIRE(cluster.kdgat("run p.yaml").exit_code == 0);
  const CommandResult shown = cluster.kdgat("jobs " + cluster.run().string());
  CHECK(shown.exit_code == 3);
  CHECK_THAT(shown.err, Contains("was not submitted"));
  CHECK(cluster.kdgat("jobs").exit_code == 2);
  CHECK(cluster.kdgat("cancel nothing").exit_code == 3);
  CHECK_THAT(cluster.kdgat("submit p.yaml first").err, Contains("nothing to submit"));
}

TEST_CASE("where there is no sbatch, kdgat submit says so before it begins", "[slurm]") {
  const ScratchFolder scratch;
  const CommandResult result =
      run_shell("PATH= " + kdgat_word() + " submit example steps=2", scratch.path());
  CHECK(result.exit_code == 2);
  CHECK_THAT(result.err, Contains("no sbatch") && Contains("--dry-run"));
  CHECK_FALSE(fs::exists(scratch / "runs"));
}
