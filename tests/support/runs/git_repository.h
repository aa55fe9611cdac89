// A repository of git in a folder, and one whose configuration names a program wherever it can.
#pragma once

#include <catch2/catch.hpp>
#include <filesystem>
#include <iostream>
#include <optional>
#include <string>

#include "support/can/log_text.h"
#include "support/programs/command.h"

namespace kdgat::test {

class GitRepository {
 public:
  /// With one file, `a`, and one commit on the branch main. nullopt, saying so, without git.
  static std::optional<GitRepository> make(const std::filesystem::path& folder,
                                           const std::string& format = "sha1") {
    if (run_shell("command -v git", "/").exit_code != 0) {
      std::cout << "skipped: git is not installed\n";
      return std::nullopt;
    }
    std::filesystem::create_directories(folder);
    GitRepository made(folder);
    made.shell("git init -q -b main --object-format=" + format +
               " && echo one > a && git add a && git commit -qm one");
    return made;
  }

  /// A line of bash in the folder, with a user of git; returns what it prints.
  std::string shell(const std::string& line) const {
    const CommandResult result = run_shell(
        "export GIT_CONFIG_NOSYSTEM=1 HOME=/dev/null GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b "
        "GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b\n" +
            line,
        folder_);
    INFO(line << "\n" << result.err);
    REQUIRE(result.exit_code == 0);
    return result.out;
  }
  std::string commit() const {
    const std::string out = shell("git rev-parse HEAD");
    return out.substr(0, out.find('\n'));
  }

  /// Every key of a configuration that names a program, in the repository, in a file that it
  /// includes and in a submodule; hooks of all names. Each makes a file in effects(). What is under
  /// version control is committed before, so that nothing differs from the commit.
  void make_hostile() const {
    shell(R"(
mkdir -p .git/effects
(mkdir sub && cd sub && git init -q -b main && echo one > b && git add b && git commit -qm one)
git add sub 2> /dev/null
echo '* filter=x diff=x merge=x' > .gitattributes
printf '[submodule "sub"]\n\tpath = sub\n\turl = ./sub\n' > .gitmodules
git add .gitattributes .gitmodules
git commit -qm attributes
effects=$PWD/.git/effects
for tree in . sub; do
  say() { printf '%s/effect %s %s' "$effects" "$1" "$effects"; }
  cat > "$effects/../effect" <<'END'
#!/bin/bash
touch "$(dirname "$0")/effects/$1"
case $1 in clean | smudge) exec cat ;; esac
END
  chmod +x "$effects/../effect"
  run=$effects/../effect
  mkdir -p $tree/.git/hooks
  for hook in post-index-change post-checkout pre-commit fsmonitor-watchman reference-transaction; do
    printf '#!/bin/bash\n%s hook\n' "$run" > $tree/.git/hooks/$hook
    chmod +x $tree/.git/hooks/$hook
  done
  cat > $tree/.git/more <<END
[filter "x"]
	clean = $run clean
	smudge = $run smudge
	required = true
[diff]
	external = $run external
[diff "x"]
	textconv = $run textconv
	command = $run command
[merge "x"]
	driver = $run driver
[core]
	fsmonitor = $run fsmonitor
	hooksPath = $PWD/$tree/.git/hooks
	sshCommand = $run ssh
	gitProxy = $run proxy
	pager = $run pager
	editor = $run editor
	alternateRefsCommand = $run alternate
[alias]
	status = !$run alias
[pager]
	status = $run pager
[gpg]
	program = $run gpg
[credential]
	helper = !$run credential
[submodule]
	recurse = true
[status]
	submoduleSummary = true
[submodule "sub"]
	update = !$run update
	active = true
[remote "origin"]
	url = ext::$run remote
	promisor = true
	partialCloneFilter = blob:none
	uploadpack = $run uploadpack
	vcs = ext
[protocol]
	allow = always
END
  git -C $tree config include.path more
done
# The form that knows promised objects.
git config core.repositoryFormatVersion 1
git config extensions.partialClone origin
rm -f "$effects"/*)");
  }

  /// Removes all objects but the commit.
  void lose_objects() const {
    shell(R"(
keep=$(cat .git/refs/heads/main)
find .git/objects -type f ! -path "*/${keep:0:2}/${keep:2}" -delete)");
  }

  std::set<std::string> effects() const {
    const std::filesystem::path made = folder_ / ".git/effects";
    return std::filesystem::exists(made) ? names_in(made) : std::set<std::string>();
  }

 private:
  explicit GitRepository(std::filesystem::path folder) : folder_(std::move(folder)) {}
  std::filesystem::path folder_;
};

}  // namespace kdgat::test
