#include "pipeline/system/git.h"

#include <catch2/catch.hpp>

#include "support/command.h"
#include "support/log_text.h"

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
