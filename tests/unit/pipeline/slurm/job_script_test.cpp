// Site profiles, what a job asks for, and the batch script, run by bash with a kdgat and a scontrol
// that are only pretended.
#include "pipeline/slurm/job_script.h"

#include <catch2/catch.hpp>

#include "kdgat/atomic_file.h"
#include "pipeline/execute/frozen_run.h"
#include "pipeline/run/artifacts.h"
#include "pipeline/system/program.h"
#include "support/programs/command.h"

using namespace kdgat;
using namespace kdgat::test;
using Catch::Contains;
using nlohmann::json;
namespace fs = std::filesystem;

namespace {

constexpr uint64_t kMiB = uint64_t{1} << 20, kGibibyte = uint64_t{1} << 30;

/// A file of a site profile, read.
struct Site {
  SiteProfile read(const std::string& text,
                   const std::vector<ProfileRequest::Override>& overrides = {}) const {
    write_file(scratch / "site.yaml", text);
    return SiteProfile::read((scratch / "site.yaml").string(), {"profiles/slurm"}, overrides);
  }
  /// What is said of a bad one.
  std::string problem(const std::string& text,
                      const std::vector<ProfileRequest::Override>& overrides = {}) const {
    try {
      read(text, overrides);
    } catch (const Error& e) {
      CHECK(e.code() == ExitCode::kUsage);
      return e.what();
    }
    return "";
  }
  ScratchFolder scratch;
};

json planned(uint64_t predicted, uint64_t context) {
  return {{"predicted", predicted},
          {"table", {{"context", context}}},
          {"bounds", {{"graphs", 64}, {"nodes", 9000}, {"edges", 20000}}},
          {"min_packs", 10}};
}

JobScript script_for(const fs::path& folder) {
  JobScript script;
  script.step = "classifier teacher";
  script.command = "kdgat submit 'my profile.yaml'\nrm -rf nothing";
  script.executable = folder / "kdgat";
  script.output_folder = folder;
  script.tasks = {{42, folder / "run"}};
  script.resources = resources_for(script.site, {planned(kGibibyte, kGibibyte), 0, 0, 1, ""});
  return script;
}

/// The script in a folder with programs to find: a kdgat that ends with $CODE or waits for a
/// signal, and a scontrol.
struct Batch {
  explicit Batch(int requeues = 20, bool has_scontrol = true, int scontrol_code = 0,
                 const std::vector<std::string>& before = {}) {
    program("kdgat",
            "trap 'echo usr1 >> seen; exit 85' USR1\n"
            "trap 'echo term >> seen; exit 143' TERM\n"
            "printf '%s\\n' \"$@\" > arguments\n"
            "[ -z \"$CODE\" ] || exit \"$CODE\"\n"
            "touch ready\n"
            "for ((i = 0; i < 100000; ++i)); do sleep 0.02; done\n");  // longer than any test waits
    if (has_scontrol) {
      program("scontrol", "echo \"$@\" >> asked\nexit " + std::to_string(scontrol_code) + "\n");
    }
    for (const char* tool : {"sleep", "touch"}) {
      fs::create_symlink(fs::path("/usr/bin") / tool, scratch / tool);
    }
    JobScript script = script_for(scratch.path());
    script.site.requeues = requeues;
    script.site.before = before;
    script.site.environment = {"GREETING=it's here"};
    write_file(scratch / "job.sh", script.text());
  }
  void program(const std::string& name, const std::string& body) const {
    write_file(scratch / name, "#!/bin/bash\n" + body);
    fs::permissions(scratch / name, fs::perms::owner_all);
  }
  /// `variables` before, `then` while it runs in the background as $job.
  CommandResult run(const std::string& variables, const std::string& then = "") const {
    return run_shell("export PATH='" + scratch.path().string() + "' SLURM_JOB_ID=77 " + variables +
                         "\n/bin/bash job.sh &\njob=$!\n" + then + "\nwait $job",
                     scratch.path());
  }
  std::string text(const std::string& file) const { return read_text(scratch / file); }

  ScratchFolder scratch;
};

// The limit only ends a hang.
const std::string kWhenReady =
    "for ((i = 0; i < 15000; ++i)); do [ -e ready ] && break; sleep 0.02; done\n";

}  // namespace

TEST_CASE("times are read as people and SLURM write them", "[slurm]") {
  const std::pair<const char*, int64_t> good[] = {
      {"90", 90},     {"45s", 1},        {"90min", 90}, {"6h", 360},   {"1.5h", 90},
      {"2d", 2880},   {"1:30:00", 90},   {"30:00", 30}, {"30:01", 31}, {"2-00:00:00", 2880},
      {"1-12", 2160}, {"1-12:30", 2190}, {"1.1h", 66},  {"0.55h", 33}, {"6 h", 360},
  };
  for (const auto& [text, minutes] : good) {
    INFO(text);
    CHECK(parse_minutes(text) == minutes);
  }
  for (const char* bad : {"", "h", "0", "-5", "6 hours", "1:2:3:4", "1:", "1e99d", "0:00",
                          "1:-30:00", "1-+2", "99999999999:00", "9999999-00", "1: 30"}) {
    INFO(bad);
    CHECK_THROWS_AS(parse_minutes(bad), Error);
  }
  CHECK(slurm_time(90) == "01:30:00");
  CHECK(slurm_time(2 * 1440 + 61) == "2-01:01:00");
  CHECK(parse_minutes(slurm_time(2 * 1440 + 61)) == 2 * 1440 + 61);
}

TEST_CASE("a site profile layers, and has keys for a stage or a step", "[slurm]") {
  const Site site;
  const SiteProfile read = site.read(
      "preset: v100\naccount: A1\ntime: 3h\nstages:\n  classifier: {mem: 8GiB}\n"
      "  classifier teacher: {mem: 16GiB, time: 5h}\n",
      {{"partition", "gpu", "command line"}, {"evaluate.time", "30min", "command line"}});
  const SiteOptions teacher = read.of_step("classifier teacher", "classifier");
  CHECK(teacher.account == "A1");
  CHECK(teacher.partition == "gpu");
  CHECK(teacher.mem == "16GiB");
  CHECK(teacher.time == "5h");
  CHECK(teacher.gpus == 1);
  CHECK(teacher.cpus_per_task == 16);
  CHECK(read.of_step("classifier student", "classifier").mem == "8GiB");
  CHECK(read.of_step("classifier student", "classifier").time == "3h");
  CHECK(read.of_step("evaluate", "evaluate").time == "30min");
  CHECK(read.of_step("evaluate", "evaluate").cpus_per_task == 8);
  CHECK(read.unknown_steps({"classifier teacher"}, {"classifier", "evaluate"}).empty());
  CHECK(read.unknown_steps({"other"}, {"classifier"}).size() == 2);
}

TEST_CASE("every key of a site profile is optional", "[slurm]") {
  const SiteOptions options = Site().read("").of_step("a", "a");
  CHECK(options.time == "4h");
  CHECK(options.mem.empty());
  CHECK(options.gpus == 0);
}

TEST_CASE("a mistake in a site profile is told with its line and the nearest key", "[slurm]") {
  const Site site;
  CHECK_THAT(site.problem("account: A1\nparition: gpu\n"),
             Contains("site.yaml:2: unknown key parition") && Contains("did you mean partition?"));
  CHECK_THAT(site.problem("time: soon\n"), Contains("site.yaml:1: time: \"soon\" is not a time"));
  CHECK_THAT(site.problem("stages:\n  evaluate: {gpus: many}\n"), Contains("site.yaml:2: gpus"));
  CHECK_THAT(site.problem("mem: 4 parsecs\n"), Contains("mem: "));
  CHECK_THAT(site.problem("card: v1000\n"), Contains("card: "));
  CHECK_THAT(site.problem("environment: [A]\n"), Contains("NAME=VALUE"));
  CHECK_THAT(site.problem("sbatch: [--time=5]\n"), Contains("use the key time"));
  CHECK_THAT(site.problem("", {{"tme", "1h", "command line, argument 4"}}),
             Contains("command line, argument 4") && Contains("did you mean time?"));
  CHECK_THAT(site.problem("time: soon\nmem: much\n"), Contains("time") && Contains("mem"));
  CHECK_THROWS_WITH(SiteProfile::read("slrm", {"profiles/slurm"}, {}),
                    Contains("did you mean slurm?"));
}

TEST_CASE("sizes without a unit are MiB, and units are binary, as SLURM has them", "[slurm]") {
  CHECK(parse_job_memory("16000") == 16000 * kMiB);
  CHECK(parse_job_memory("0") == 0);
  for (const char* text : {"2G", "2g", "2GB", "2GiB", "2048", "2048M", "2097152K"}) {
    CHECK(parse_job_memory(text) == 2048 * kMiB);
  }
  CHECK(parse_job_memory("1T") == 1024 * 1024 * kMiB);
  CHECK_THROWS_AS(parse_job_memory("4 parsecs"), Error);
  SiteOptions site;
  site.mem = "0";
  const JobResources whole = resources_for(site, {});
  CHECK(whole.memory == 0);
  CHECK(whole.memory_text() == "all of a node");
}

TEST_CASE("memory is the planned peak with its margin, unless the site says", "[slurm]") {
  SiteOptions site;
  const StepNeeds needs{planned(3 * kGibibyte, kGibibyte), 200 * kMiB, 0, 1, ""};
  const JobResources planned_memory = resources_for(site, needs);
  CHECK(planned_memory.memory >= 5 * kGibibyte + 712 * kMiB);
  CHECK(planned_memory.memory < 5 * kGibibyte + 712 * kMiB + 64 * kMiB);
  CHECK(planned_memory.max_memory == 4 * planned_memory.memory);
  // A stage may hold what was planned, with the margin, of such a job.
  CHECK(stage_limit(planned_memory.memory, needs.data_bytes) >= 5 * kGibibyte);
  CHECK(stage_limit(kGibibyte, 2 * kGibibyte) == kGibibyte / 2);
  site.mem = "2GiB";
  site.max_mem = "3GiB";
  CHECK(resources_for(site, needs).memory == 2 * kGibibyte);
  CHECK(resources_for(site, needs).max_memory == 3 * kGibibyte);
  CHECK(resources_for(SiteOptions{}, {json(), 0, 0, 1, ""}).memory > 2 * kGibibyte);
}

TEST_CASE("time is the site's, and less for a step that ran before", "[slurm]") {
  const SiteOptions site;
  CHECK(resources_for(site, {json(), 0, 0, 1, ""}).minutes == 240);
  const JobResources known = resources_for(site, {json(), 0, 600, 2, "01M7…B7"});
  CHECK(known.minutes == 10 + 60 + 5);
  CHECK_THAT(known.time_from, Contains("01M7…B7"));
  CHECK(resources_for(site, {json(), 0, 1e6, 1, "x"}).minutes == 240);
}

TEST_CASE("the script says everything to sbatch itself", "[slurm]") {
  const ScratchFolder scratch;
  JobScript script = script_for(scratch.path());
  script.site.account = "A1";
  script.site.modules = {"cuda/12.4"};
  script.site.container = "apptainer exec --nv kdgat.sif";
  script.resources.gpus = 2;
  script.site.gpu_type = "v100";
  script.resources.memory_limit = 8 * kGibibyte;
  const std::string text = script.text();
  for (const char* line :
       {"#!/bin/bash\n", "\n#SBATCH --job-name=kdgat-classifier_teacher\n",
        "\n#SBATCH --open-mode=append\n", "\n#SBATCH --requeue\n", "\n#SBATCH --time=04:00:00\n",
        "\n#SBATCH --signal=B:USR1@300\n", "\n#SBATCH --account=A1\n",
        "\n#SBATCH --gpus-per-node=v100:2\n", "\nmodule load cuda/12.4\n",
        "classifier_teacher-%j.out", "kdgat=(apptainer exec --nv kdgat.sif ",
        "'classifier teacher' --memory-limit 8GiB", "\n#   rm -rf nothing\n"}) {
    CHECK_THAT(text, Contains(line));
  }
  CHECK_THAT(text, !Contains("--dependency") && !Contains("--array"));
  const std::vector<std::string> words = sbatch_words("a.sh", script.tasks, {"12", "13"});
  CHECK(shell_line(words) ==
        "sbatch --parsable --dependency=afterok:12:13 --kill-on-invalid-dep=yes a.sh");
}

TEST_CASE("no name adds a line to a script", "[slurm]") {
  const ScratchFolder scratch;
  const std::string evil = "\ntouch '" + (scratch / "effect").string() + "'\n";
  JobScript script = script_for(scratch.path());
  script.command = "kdgat submit " + evil;
  script.executable = scratch.path() / ("kdgat" + evil);
  script.plugin_folders = {"plugins\n$(touch effect)\x1b[2J\xff"};
  script.tasks = {{1, scratch / ("run`touch effect`" + evil)}, {2, "/runs/it's $HOME"}};
  script.site.modules = {"cuda; touch effect", "gcc 12"};
  script.output_folder = scratch / "100%j of #it";
  const std::string text = script.text();
  CHECK_THAT(text, Contains("100%%j of #it/classifier_teacher-%A_%a.out\"\n") &&
                       Contains("\nmodule load 'cuda;' touch effect\n") &&
                       Contains("'plugins\\n$(touch effect)\\x1b[2J\\xff'"));
  CHECK(std::all_of(text.begin(), text.end(), [](char c) {
    return c == '\n' ||
           (static_cast<unsigned char>(c) >= ' ' && static_cast<unsigned char>(c) < 0x7F);
  }));
  write_file(scratch / "job.sh", text);
  const CommandResult result = run_shell(
      "bash -n job.sh && module() { :; } && export -f module && "
      "PATH=/usr/bin:/bin SLURM_ARRAY_TASK_ID=1 bash job.sh",
      scratch.path());
  INFO(result.err);
  CHECK(result.exit_code == 127);  // the program of that name is not there
  CHECK_FALSE(fs::exists(scratch / "effect"));
}

TEST_CASE("what sbatch cannot be told safely is refused", "[slurm]") {
  const ScratchFolder scratch;
  for (const char* folder : {"a\nb", "a\"b", "a\\b", "a\tb", "a\x7f"}) {
    JobScript script = script_for(scratch.path());
    script.output_folder = scratch / folder;
    INFO(folder);
    CHECK_THROWS_WITH(script.text(), Contains("--output of sbatch cannot hold"));
  }
  const Site site;
  CHECK_THAT(site.problem("account: \"a\\nrm\"\n"),
             Contains("account") && Contains("control character"));
  CHECK_THAT(site.problem("sbatch: [\"--x=1\\n#SBATCH --y\"]\n"), Contains("control character"));
  CHECK_THAT(site.problem("environment: [\"A;touch x=1\"]\n"), Contains("sets no variable"));
  CHECK(site.problem("before: [\"cd /tmp\\ndate\"]\n").empty());
}

TEST_CASE("a secret does not get into a script", "[slurm]") {
  const Site site;
  const std::string lines[] = {"environment: [MLFLOW_TRACKING_TOKEN=s3cret-x]",
                               "environment: [\"MLFLOW_TRACKING_URI=http://a:s3cret-x@h\"]",
                               "before: [export MLFLOW_TRACKING_PASSWORD=s3cret-x]",
                               "container: apptainer exec --env HF_TOKEN=s3cret-x it.sif",
                               "sbatch: [\"--export=ALL,HF_TOKEN=s3cret-x\"]"};
  for (const std::string& line : lines) {
    INFO(line);
    const std::string said = site.problem(line + "\n");
    CHECK_THAT(said, Contains("a secret in a batch script") && !Contains("s3cret-x"));
  }
  CHECK(site.problem("before: [\"export HF_TOKEN=$(cat ~/.token)\"]\n").empty());
}

TEST_CASE("an array has a task for each seed, in a run of its own", "[slurm]") {
  const ScratchFolder scratch;
  JobScript script = script_for(scratch.path());
  script.tasks = {{1, "/runs/a"}, {2, "/runs/b"}, {3, "/runs/c c"}, {20240, "/runs/d"}};
  CHECK(seed_list(script.tasks) == "1-3,20240");
  const std::string text = script.text();
  CHECK_THAT(text, Contains("[2]='/runs/c c'  # seed 3") && Contains("[3]=/runs/d  # seed 20240") &&
                       Contains("-%A_%a.out") &&
                       Contains("job=${SLURM_ARRAY_JOB_ID}_$SLURM_ARRAY_TASK_ID"));
  CHECK(shell_line(sbatch_words("a.sh", script.tasks, {"12"})) ==
        "sbatch --parsable --array=0-3 --dependency=aftercorr:12 --kill-on-invalid-dep=yes a.sh");
}

TEST_CASE("the script ends with kdgat's code and asks for nothing", "[slurm]") {
  for (const int code : {0, 1, 3, 5, 81, 82, 130, 143}) {
    const Batch batch;
    CHECK(batch.run("CODE=" + std::to_string(code)).exit_code == code);
    CHECK(batch.text("asked").empty());
    CHECK(batch.text("arguments") ==
          "job\n" + (batch.scratch / "run").string() + "\nclassifier teacher\n");
  }
}

TEST_CASE("the script requeues on 85, and never ends with 0 if it cannot", "[slurm]") {
  const Batch good;
  CHECK(good.run("CODE=85").exit_code == 85);
  CHECK(good.text("asked") == "requeue 77\n");

  const Batch missing(20, false);
  const CommandResult without = missing.run("CODE=85");
  CHECK(without.exit_code == 85);
  CHECK_THAT(without.err, Contains("no scontrol") && Contains("--retry"));

  const Batch failing(20, true, 1);
  const CommandResult refused = failing.run("CODE=85");
  CHECK(refused.exit_code == 85);
  CHECK_THAT(refused.err, Contains("scontrol requeue 77 failed"));

  const Batch tired(3);
  CHECK(tired.run("CODE=85 SLURM_RESTART_COUNT=2").exit_code == 85);
  CHECK(tired.text("asked") == "requeue 77\n");
  const CommandResult enough = tired.run("CODE=85 SLURM_RESTART_COUNT=3");
  CHECK(enough.exit_code == 85);
  CHECK_THAT(enough.err, Contains("restarted 3 times"));
  CHECK(tired.text("asked") == "requeue 77\n");
}

TEST_CASE("the script passes signals on and waits for kdgat", "[slurm]") {
  const Batch told;
  CHECK(told.run("CODE=", kWhenReady + "kill -USR1 $job").exit_code == 85);
  CHECK(told.text("seen") == "usr1\n");
  CHECK(told.text("asked") == "requeue 77\n");

  const Batch ended;
  CHECK(ended.run("CODE=", kWhenReady + "kill -TERM $job").exit_code == 143);
  CHECK(ended.text("seen") == "term\n");
  CHECK(ended.text("asked").empty());

  // While modules are loaded there is no kdgat yet.
  const Batch early(20, true, 0, {"kill -USR1 $$"});
  CHECK(early.run("CODE=").exit_code == 85);
  CHECK(early.text("seen") == "usr1\n");
}

TEST_CASE("a frozen run is read as it was written", "[slurm]") {
  const FrozenPacks packs = *packs_of(planned(1, 2));
  CHECK(packs.graphs == 64);
  CHECK(packs.edges == 20000);
  CHECK(packs.min_packs == 10);
  CHECK_FALSE(packs_of(json()));
  CHECK_FALSE(packs_of(json::object()));

  FrozenRun run;
  run.profile = "my";
  run.seed = 3;
  run.memory_limit = kGibibyte;
  run.data = PreparedData{"/data", "3f9c", {{"graphs", 7}}, "7 windows", {}, false};
  for (const char* name : {"a", "b"}) {
    PlannedStep step;
    step.spec.name = name;
    step.spec.stage = "trainer";
    step.spec.options.values = {{"lr", 0.1}};
    step.spec.options.origin = {{"lr", "p.yaml:3"}};
    step.fingerprint = std::string("hash of ") + name;
    step.ingredients = {{"version", 2}};
    run.device[name] = "cpu";
    run.plan.steps.push_back(step);
  }
  run.plan.steps[1].needs = {"data", "a"};
  run.plan.steps[1].inputs = {{"model", {"a"}}};
  run.packs["b"] = packs;
  const json written = run.to_json();
  CHECK(FrozenRun::from_json(written, "f").to_json() == written);
  json other = written;
  other["version"] = 99;
  CHECK_THROWS_WITH(FrozenRun::from_json(other, "f"), Contains("version 99"));
  CHECK_THROWS_WITH(FrozenRun::from_json(json(), "f"), Contains("not what kdgat submit wrote"));

  const ScratchFolder scratch;
  CHECK_THROWS_WITH(plan_of_step(run, scratch.path(), "c"), Contains("there are a, b"));
  CHECK_THROWS_WITH(plan_of_step(run, scratch.path(), "b"), Contains("needs a, which is not done"));
  CHECK(plan_of_step(run, scratch.path(), "a").steps.size() == 1);
  // A need that another run had made before stands in for this run's.
  StepFolder folder(scratch / "old", json::object());
  folder.finish(run.plan.steps[0], "hash", {{"facts", {{"width", 4}}}});
  PastStep kept;
  kept.run = "01OLD";
  kept.folder = scratch / "old";
  run.plan.steps[0].kept = kept;
  const Plan plan = plan_of_step(run, scratch.path(), "b");
  REQUIRE(plan.steps.size() == 2);
  CHECK(plan.steps[0].action == Action::kKeep);
  CHECK(plan.steps[0].kept->facts.at("width") == 4);
  run.plan.steps[0].fingerprint = "another";
  CHECK_THROWS_AS(plan_of_step(run, scratch.path(), "b"), Error);
}
