// What `kdgat run` would refuse, `kdgat run -n` refuses, and neither leaves anything.
#include <catch2/catch.hpp>
#include <fstream>

#include "kdgat/atomic_file.h"
#include "support/runs/probe_plugin.h"

using namespace kdgat;
using namespace kdgat::test;
using Catch::Contains;
namespace fs = std::filesystem;

namespace {

std::size_t files_in(const fs::path& folder) {
  return static_cast<std::size_t>(
      std::distance(fs::recursive_directory_iterator(folder), fs::recursive_directory_iterator()));
}

/// What both say of a command that is refused with this code.
std::string refused(const std::string& words, int code, const fs::path& folder,
                    const std::string& before = "") {
  const std::string kdgat = "'" + fs::absolute(kdgat_binary()).string() + "' ";
  const std::size_t files = files_in(folder);
  const CommandResult dry = run_shell(before + " " + kdgat + words + " --dry-run", folder);
  CHECK(files_in(folder) == files);
  const CommandResult real = run_shell(before + " " + kdgat + words, folder);
  INFO(words << "\n" << dry.err << real.err);
  CHECK(dry.exit_code == code);
  CHECK(real.exit_code == code);
  CHECK(files_in(folder) == files);
  return dry.err;
}

}  // namespace

TEST_CASE("a dry run refuses what a run would refuse", "[run]") {
  const ScratchFolder scratch;
  write_file(scratch / "a_file", "not a folder");
  const std::string example = "run example steps=2 ";
  const auto said = [&](const std::string& words, int code, const std::string& before = "") {
    return refused(example + words, code, scratch.path(), before);
  };
  CHECK_THAT(said("dataset=", 2), Contains("names no data set"));
  CHECK_THAT(said("dataset=a/b", 2), Contains("cannot name a folder"));
  CHECK_THAT(said("dataset=$'a\\nb'", 2), Contains("control character"));
  CHECK_THAT(said("root=$'a\\e[2J'", 2), Contains("control character"));
  CHECK_THAT(said("dataset=" + std::string(300, 'x'), 2), Contains("a name of 300 bytes"));
  CHECK_THAT(said("root=a/" + std::string(300, 'x'), 2), Contains("a name of 300 bytes"));
  CHECK_THAT(said("--nproc 2 --in-process", 2), Contains("one process"));
  CHECK_THAT(said("--nproc 2", 2, "RANK=0 WORLD_SIZE=2 MASTER_ADDR=localhost MASTER_PORT=1"),
             Contains("more processes"));
  CHECK_THAT(said("--mlflow-uri sqlite:///a.db", 2), Contains("cannot be written to"));
  CHECK_THAT(said("", 2, "MLFLOW_TRACKING_URI=sqlite:///a.db"), Contains("cannot be written to"));
  CHECK_THAT(said("--root a_file", 3),
             Contains("cannot create folder") && Contains("Not a directory"));
}

TEST_CASE("a dry run refuses a plugin whose library was changed", "[run]") {
  const ScratchFolder scratch;
  const fs::path library = make_plugin(scratch.path());
  std::ofstream(library, std::ios::app) << 'x';
  CHECK_THAT(refused("run probe --plugin-dir .", 4, scratch.path()),
             Contains("describes another build"));
}

TEST_CASE("what cannot name a step is refused at once", "[run][profile]") {
  const ScratchFolder scratch;
  const std::pair<std::string, const char*> names[] = {
      {"lock", "has a meaning here"},
      {"slurm", "has a meaning here"},
      {"data", "has a meaning here"},
      {" ", "cannot name a step"},
      {"-n", "cannot name a step"},
      {"a ", "cannot name a step"},
      {"..", "cannot name a step"},
      {"a/b", "cannot name a step"},
      {"a\\nb", "cannot name a step"},
      {"$(touch effect)", "cannot name a step"},
      {"", "cannot name a step"},
      {std::string(101, 'x'), "it has 101 letters"},
      {std::string(300, 'x'), "300 letters"}};
  for (const auto& [name, why] : names) {
    INFO(name);
    write_file(scratch / "p.yaml", "stages:\n  \"" + name + "\": {stage: example, steps: 1}\n");
    CHECK_THAT(refused("run p.yaml", 2, scratch.path()), Contains("p.yaml:2") && Contains(why));
  }
  CHECK_FALSE(fs::exists(scratch / "effect"));
}
