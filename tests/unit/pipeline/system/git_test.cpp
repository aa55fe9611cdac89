#include "pipeline/system/git.h"

#include <sys/stat.h>

#include <catch2/catch.hpp>

#include "support/can/log_text.h"
#include "support/programs/command.h"
#include "support/runs/git_repository.h"

using namespace kdgat;
using namespace kdgat::test;
namespace fs = std::filesystem;

namespace {

const std::string kCommit(40, 'a'), kOther(40, 'b');

std::optional<ProgramOutput> no_program(const std::vector<std::string>&) { return std::nullopt; }

}  // namespace

TEST_CASE("commit and branch are read without a program", "[git]") {
  const ScratchFolder tree;
  fs::create_directories(tree / "deep/er");
  CHECK_FALSE(read_git(tree / "deep", no_program));
  write_text(tree / ".git/HEAD", "ref: refs/heads/main\n");
  CHECK_FALSE(read_git(tree / "deep", no_program));  // no commit yet
  write_text(tree / ".git/packed-refs", "# pack-refs with: peeled\n" + kOther +
                                            " refs/heads/other\n" + kCommit + " refs/heads/main\n");
  auto state = read_git(tree / "deep/er", no_program);
  REQUIRE(state);
  CHECK(state->commit == kCommit);
  CHECK(state->branch == "main");
  CHECK(state->folder == fs::canonical(tree.path()));
  CHECK_FALSE(state->is_dirty);
  write_text(tree / ".git/refs/heads/main", kOther + "\n");  // newer than the packed one
  CHECK(read_git(tree.path(), no_program)->commit == kOther);
  write_text(tree / ".git/HEAD", kCommit + "\n");
  CHECK(read_git(tree.path(), no_program)->branch == "");
  CHECK_FALSE(read_git(tree / "none", no_program));
}

TEST_CASE("a linked working tree has the branches of the first", "[git]") {
  const ScratchFolder tree;
  write_text(tree / "linked/.git", "gitdir: ../main/.git/worktrees/linked\n");
  write_text(tree / "main/.git/worktrees/linked/HEAD", "ref: refs/heads/topic\n");
  write_text(tree / "main/.git/worktrees/linked/commondir", "../..\n");
  write_text(tree / "main/.git/refs/heads/topic", kCommit + "\n");
  const auto state = read_git(tree / "linked", no_program);
  REQUIRE(state);
  CHECK(state->commit == kCommit);
  CHECK(state->branch == "topic");
}

TEST_CASE("whether files differ from the commit git says, where it is there", "[git]") {
  const ScratchFolder tree;
  write_text(tree / ".git/HEAD", kCommit);
  fs::create_directories(tree / ".git/objects");
  const auto told = [&](const ProgramOutput& answer) {
    return read_git(tree.path(),
                    [&](const std::vector<std::string>& words) {
                      CHECK(words.front() == "git");
                      return answer;
                    })
        ->is_dirty;
  };
  CHECK(told({0, " M a.cpp\n", ""}) == true);
  CHECK(told({0, "", ""}) == false);
  CHECK_FALSE(told({128, "", "not owned by you"}));
}

TEST_CASE("git sees each kind of change, and no other", "[git]") {
  for (const std::string format : {"sha1", "sha256"}) {
    INFO(format);
    const ScratchFolder scratch;
    const auto repository = GitRepository::make(scratch.path(), format);
    if (!repository) return;
    const auto is_dirty = [&] {
      const auto state = read_git(scratch.path());
      REQUIRE(state);
      CHECK(state->commit == repository->commit());
      CHECK(state->branch == "main");
      REQUIRE(state->is_dirty);
      return *state->is_dirty;
    };
    CHECK_FALSE(is_dirty());
    write_text(scratch / "untracked", "x");
    CHECK_FALSE(is_dirty());
    repository->shell("touch -d '2001-01-01' a");  // the same content with another stamp
    CHECK_FALSE(is_dirty());
    repository->shell("chmod +x a");
    CHECK_FALSE(is_dirty());
    write_text(scratch / "a", "two\n");
    CHECK(is_dirty());
    repository->shell("git add a");  // the index differs, the files do not differ from it
    CHECK(is_dirty());
    repository->shell("git commit -qm two");
    CHECK_FALSE(is_dirty());
    repository->shell("git gc -q");  // packed objects and references
    CHECK_FALSE(is_dirty());
    repository->shell("rm a");
    CHECK(is_dirty());
    repository->shell("git reset -q --hard");
    CHECK_FALSE(is_dirty());
    repository->shell("git reset -q --soft HEAD~1");
    CHECK(is_dirty());
  }
}

TEST_CASE("a linked working tree has changes of its own", "[git]") {
  const ScratchFolder scratch;
  const auto repository = GitRepository::make(scratch / "main");
  if (!repository) return;
  repository->shell("git worktree add -q ../linked -b topic");
  write_text(scratch / "linked/a", "two\n");
  const auto linked = read_git(scratch / "linked");
  REQUIRE(linked);
  CHECK(linked->branch == "topic");
  CHECK(linked->is_dirty == true);
  CHECK(read_git(scratch / "main")->is_dirty == false);
  fs::rename(scratch / "main/.git", scratch / "elsewhere");
  fs::create_directory_symlink("../elsewhere", scratch / "main/.git");
  CHECK(read_git(scratch / "main")->is_dirty == false);
}

TEST_CASE("what the environment says to git does not count", "[git]") {
  const ScratchFolder scratch, home;
  const auto repository = GitRepository::make(scratch / "tree");
  const auto other = GitRepository::make(scratch / "other");
  if (!repository || !other) return;
  write_text(scratch / "other/a", "two\n");
  write_text(home / ".gitconfig", "[core]\n\tfsmonitor = touch " + (home / "ran").string() + "\n");
  const std::string before = std::getenv("HOME") == nullptr ? "" : std::getenv("HOME");
  ::setenv("HOME", home.path().c_str(), 1);
  ::setenv("GIT_DIR", (scratch / "other/.git").c_str(), 1);
  ::setenv("GIT_WORK_TREE", (scratch / "other").c_str(), 1);
  ::setenv("GIT_INDEX_FILE", (scratch / "other/.git/index").c_str(), 1);
  const auto state = read_git(scratch / "tree");
  for (const char* name : {"GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"}) ::unsetenv(name);
  ::setenv("HOME", before.c_str(), 1);
  REQUIRE(state);
  CHECK(state->is_dirty == false);
  CHECK_FALSE(fs::exists(home / "ran"));
}

TEST_CASE("no program that a repository names is run", "[git]") {
  const ScratchFolder scratch;
  const auto repository = GitRepository::make(scratch / "tree");
  if (!repository) return;
  repository->make_hostile();
  // The filter would be asked now: the stamp is not that of the index.
  repository->shell("touch -d '2001-01-01' a");
  CHECK(read_git(scratch / "tree")->is_dirty == false);
  CHECK(repository->effects().empty());
  write_text(scratch / "tree/a", "two\n");
  CHECK(read_git(scratch / "tree")->is_dirty == true);
  CHECK(repository->effects().empty());
  repository->lose_objects();  // which a partial clone would fetch with a program
  const auto lost = read_git(scratch / "tree");
  REQUIRE(lost);
  CHECK_FALSE(lost->is_dirty);
  CHECK(repository->effects().empty());
  // The means of this test would have an effect.
  repository->shell("git status > /dev/null 2>&1; true");
  CHECK_FALSE(repository->effects().empty());
}

TEST_CASE("a .git of pipes, or none that can be read, is no repository", "[git]") {
  const ScratchFolder tree;
  const auto pipe = [](const fs::path& at) { REQUIRE(::mkfifo(at.c_str(), 0600) == 0); };
  pipe(tree / ".git");
  CHECK_FALSE(read_git(tree.path()));
  fs::remove(tree / ".git");
  write_text(tree / ".git", "gitdir: nowhere\n");
  CHECK_FALSE(read_git(tree.path()));
  fs::remove(tree / ".git");
  fs::create_directories(tree / ".git/objects");
  pipe(tree / ".git/HEAD");
  CHECK_FALSE(read_git(tree.path()));
  fs::remove(tree / ".git/HEAD");
  write_text(tree / ".git/HEAD", kCommit + "\n");
  pipe(tree / ".git/index");
  const auto state = read_git(tree.path());
  REQUIRE(state);
  CHECK(state->commit == kCommit);
  CHECK_FALSE(state->is_dirty);
}
