#include "pipeline/system/git.h"

#include <algorithm>
#include <exception>
#include <fstream>
#include <sstream>
#include <string_view>

#include "pipeline/system/json_file.h"
#include "pipeline/system/signals.h"
#include "pipeline/system/subprocess.h"
#include "pipeline/system/temporary.h"

extern char** environ;

namespace kdgat {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kBranches = "refs/heads/";

std::string first_line(const fs::path& file) {
  std::string text = file_text(file).value_or("");
  text.resize(std::min(text.size(), text.find_first_of("\r\n")));
  return text;
}

bool is_commit(const std::string& text) {
  return (text.size() == 40 || text.size() == 64) &&
         text.find_first_not_of("0123456789abcdef") == std::string::npos;
}

/// What follows `prefix`; "" if the text does not begin with it.
std::string behind(const std::string& text, std::string_view prefix) {
  return text.starts_with(prefix) ? text.substr(prefix.size()) : "";
}

/// The folder that .git is, or that the file .git names: of a linked working tree or a submodule.
fs::path git_folder(const fs::path& tree) {
  std::error_code ignored;
  fs::path here = tree / ".git";
  if (fs::is_directory(here, ignored)) return here;
  const std::string named = behind(first_line(here), "gitdir: ");
  return named.empty() ? fs::path() : tree / named;
}

/// What several working trees of one repository share.
fs::path common_folder(const fs::path& git) {
  const std::string shared = first_line(git / "commondir");
  return shared.empty() ? git : git / shared;
}

std::string commit_of(const fs::path& git, const std::string& reference) {
  const fs::path common = common_folder(git);
  for (const fs::path& folder : {git, common}) {
    if (std::string found = first_line(folder / reference); is_commit(found)) return found;
  }
  std::istringstream packed(file_text(common / "packed-refs").value_or(""));
  for (std::string line; std::getline(packed, line);) {
    const std::size_t blank = line.find(' ');
    if (blank != std::string::npos && line.substr(blank + 1) == reference) {
      std::string found = line.substr(0, blank);
      if (is_commit(found)) return found;
    }
  }
  return "";
}

/// Outside of the working tree, without any configuration of the user or the system, and no longer
/// than kSeconds: an object that is a FIFO would keep git for ever.
std::optional<ProgramOutput> run_git(const std::vector<std::string>& words) {
  constexpr double kSeconds = 30;
  ProgramPlace place;
  place.folder = "/";
  for (char** at = environ; *at != nullptr; ++at) {
    const std::string_view entry = *at;
    if (entry.starts_with("GIT_") || entry.starts_with("HOME=") ||
        entry.starts_with("XDG_CONFIG_HOME=")) {
      continue;
    }
    place.environment.emplace_back(entry);
  }
  for (const char* entry : {"GIT_CONFIG_NOSYSTEM=1", "GIT_ATTR_NOSYSTEM=1", "HOME=/dev/null",
                            "XDG_CONFIG_HOME=/dev/null"}) {
    place.environment.emplace_back(entry);
  }
  place.give_up = [until = deadline_in(kSeconds)] {
    return pending_signal() != 0 || std::chrono::steady_clock::now() >= until;
  };
  return run_program_in(place, words);
}

/// Whether files of the working tree differ from the commit. git is given a repository of our own,
/// which has the index and the objects of the real one and none of its configuration, since that
/// names programs: filters, monitors, hooks. None where git has no answer.
std::optional<bool> is_tree_dirty(const fs::path& tree, const fs::path& git,
                                  const std::string& commit, const RunProgram& run) {
  const fs::path index = git / "index", objects = common_folder(git) / "objects";
  if ((fs::exists(index) && !fs::is_regular_file(index)) || !fs::is_directory(objects)) {
    return std::nullopt;
  }
  const TemporaryFolder own(fs::absolute(fs::temp_directory_path()), "kdgat_git.");
  fs::create_directory(own.path() / "refs");
  fs::create_directory_symlink(objects, own.path() / "objects");
  fs::create_symlink(index, own.path() / "index");
  std::ofstream(own.path() / "HEAD") << commit << '\n';
  // Without fileMode a file system that knows no executable bit would make every file differ.
  std::ofstream config(own.path() / "config");
  config << "[core]\n\tfileMode = false\n";
  if (commit.size() == 64) {
    config << "\trepositoryFormatVersion = 1\n[extensions]\n\tobjectFormat = sha256\n";
  }
  config.close();
  const auto changes = run({"git", "--no-optional-locks", "--git-dir=" + own.path().string(),
                            "--work-tree=" + tree.string(), "status", "--porcelain",
                            "--untracked-files=no", "--ignore-submodules=all", "--no-renames"});
  if (!changes || changes->exit_code != 0) return std::nullopt;
  return !changes->out.empty();
}

std::optional<GitState> state_of_tree(const fs::path& tree, const RunProgram& run) {
  const fs::path git = git_folder(tree);
  if (git.empty()) return std::nullopt;
  GitState out;
  out.folder = tree;
  const std::string head = first_line(git / "HEAD");
  const std::string reference = behind(head, "ref: ");
  out.commit = reference.empty() ? head : commit_of(git, reference);
  out.branch = behind(reference, kBranches);
  if (!is_commit(out.commit)) return std::nullopt;
  try {
    out.is_dirty = is_tree_dirty(tree, git, out.commit, run);
  } catch (const std::exception&) {
    // Without room for the temporary folder the commit is still known.
  }
  return out;
}

}  // namespace

std::optional<GitState> read_git(const fs::path& folder) { return read_git(folder, run_git); }

std::optional<GitState> read_git(const fs::path& folder, const RunProgram& run) {
  try {
    std::error_code error;
    fs::path tree = fs::canonical(folder.empty() ? "." : folder, error);
    if (error) return std::nullopt;
    for (;; tree = tree.parent_path()) {
      if (fs::exists(tree / ".git", error)) return state_of_tree(tree, run);
      if (tree == tree.root_path()) return std::nullopt;
    }
  } catch (const std::exception&) {
    return std::nullopt;  // a record of the run must not keep it from running
  }
}

}  // namespace kdgat
