// Programs that the current folder names: its repository, its modules, its PATH. None is started.
#include <catch2/catch.hpp>

#include "support/programs/cli.h"
#include "support/runs/fake_cluster.h"
#include "support/runs/git_repository.h"

namespace {

/// What the newest run below a folder says of git.
json git_of(const fs::path& runs) {
  return json::parse(read_text(newest_run(runs) / "run.json")).at("git");
}

}  // namespace

TEST_CASE("a run starts no program that its folder's repository names", "[cli][git]") {
  const Cluster cluster;
  cluster.set("hold");
  const fs::path tree = cluster.scratch / "tree";
  const auto repository = GitRepository::make(tree);
  if (!repository) return;
  kdgat::test::write_text(tree / "p.yaml", "stages: {one: {stage: example, steps: 1}}\n");
  repository->shell("git add p.yaml && git commit -qm profile");
  repository->make_hostile();
  // Every file has another stamp than the index: git would ask the filter for each.
  repository->shell("touch -d '2001-01-01' a p.yaml .gitattributes .gitmodules");
  const auto typed = [&](const std::string& words) {
    const CommandResult result = cluster.kdgat(words + " --root runs");
    INFO(words << "\n" << result.err);
    REQUIRE(result.exit_code == 0);
    CHECK(repository->effects().empty());
  };
  for (const bool is_dirty : {false, true}) {
    if (is_dirty) kdgat::test::write_text(tree / "a", "two\n");
    typed("submit tree/p.yaml");
    fs::remove_all(cluster.scratch / "runs");
    typed("run tree/p.yaml");
    const json git = git_of(cluster.scratch / "runs" / "default");
    CHECK(git.at("commit") == repository->commit());
    CHECK(git.at("branch") == "main");
    CHECK(git.at("dirty") == is_dirty);
    fs::remove_all(cluster.scratch / "runs");
  }
}

TEST_CASE("fit and tune start no program of the current folder's repository", "[cli][git]") {
  const ScratchFolder scratch;
  const auto repository = GitRepository::make(scratch.path());
  if (!repository) return;
  must_kdgat("data synth -o logs --seconds 20 --vehicles 2 --attacks dos", scratch.path());
  repository->make_hostile();
  repository->shell("touch -d '2001-01-01' a .gitattributes .gitmodules");
  const auto typed = [&](const std::string& words, const std::string& data) {
    must_kdgat(words + " --root runs", scratch.path());
    CHECK(git_of(scratch / "runs" / data).at("dirty") == false);
    CHECK(repository->effects().empty());
  };
  typed("fit logs -o mine take_supported=true trees=2 threads=1", "logs");
  typed("tune example steps=[1,2]", "default");
}
