#include "pipeline/system/git.h"

#include <algorithm>
#include <exception>
#include <fstream>
#include <sstream>
#include <string_view>

#include "pipeline/system/json_file.h"

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

/// A reference that several working trees share stands with the first of them.
std::string commit_of(const fs::path& git, const std::string& reference) {
  const std::string shared = first_line(git / "commondir");
  const fs::path common = shared.empty() ? git : git / shared;
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

/// Without the locks and the hooks that a mere question could take or start.
std::optional<ProgramOutput> ask_git(const fs::path& tree, const RunProgram& run,
                                     const std::vector<std::string>& words) {
  std::vector<std::string> all = {"git", "--no-optional-locks", "-c", "core.fsmonitor=false",
                                  "-C",  tree.string()};
  all.insert(all.end(), words.begin(), words.end());
  std::optional<ProgramOutput> said = run(all);
  if (said && said->exit_code != 0) said.reset();
  return said;
}

std::optional<GitState> state_of_tree(const fs::path& tree, const RunProgram& run) {
  const fs::path git = git_folder(tree);
  GitState out;
  out.folder = tree;
  const std::string head = first_line(git / "HEAD");
  const std::string reference = behind(head, "ref: ");
  out.commit = reference.empty() ? head : commit_of(git, reference);
  out.branch = behind(reference, kBranches);
  if (!is_commit(out.commit)) {  // kept in a form of its own, as reftables are
    const auto said = ask_git(tree, run, {"rev-parse", "HEAD"});
    if (!said) return std::nullopt;
    out.commit = said->out.substr(0, said->out.find('\n'));
    if (!is_commit(out.commit)) return std::nullopt;
  }
  const auto changes = ask_git(tree, run, {"status", "--porcelain", "--untracked-files=no"});
  if (changes) out.is_dirty = !changes->out.empty();
  return out;
}

}  // namespace

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
