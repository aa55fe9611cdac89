// The completions of real shells, with runs whose names are meant to be run.
#include <catch2/catch.hpp>
#include <sstream>

#include "pipeline/system/program.h"
#include "pipeline/verbs/commands/completion_lists.h"
#include "support/programs/command.h"
#include "support/programs/shell_on_terminal.h"
#include "support/runs/fake_run.h"

using namespace kdgat;
using namespace kdgat::test;
using Catch::Contains;
namespace fs = std::filesystem;

namespace {

/// Each begins with a letter of its own. No file and no flag begins with one of these.
const std::vector<std::string> kNames = {
    "a$(touch PWNED)", "b`touch PWNED`",  "c'quote",     "d\"double",      "e blank  two", "f*?[x]",
    "g\\back\\",       "h;touch PWNED;x", "i&|<>()",     "j{1,2}",         "k~$HOME",      "l!x #y",
    "m:colon=eq",      "ogröße",          "s'\"$(x)`y`", "t(touch PWNED)", "u\\:x"};

/// Runs with these names, a `kdgat` that answers completions as the program does and otherwise
/// writes its arguments to a file, and a shell that has loaded its completions.
class Completing {
 public:
  explicit Completing(const std::string& shell) : shell_(shell) {
    for (const std::string& name : kNames) write_run(work() / "runs", "set", name, {});
    write_run(work() / "runs", "set", "z\ntouch PWNED", {});
    const std::string kdgat = fs::absolute(kdgat_binary()).string();
    write_text(scratch_ / "bin/kdgat", "#!/bin/bash\nif [ \"$1\" = completion ]; then exec " +
                                           shell_line({kdgat}) +
                                           " \"$@\"; fi\nprintf '%s\\0' \"$@\" > " +
                                           shell_line({got().string() + ".part"}) + "\nmv " +
                                           shell_line({got().string() + ".part"}) + " " +
                                           shell_line({got().string()}) + "\n");
    fs::permissions(scratch_ / "bin/kdgat", fs::perms::owner_all);
  }

  void load() {
    const fs::path rc = scratch_ / ".zshrc";  // zsh looks for this name
    const std::string ready = "READY";
    std::vector<std::string> words;
    if (shell_ == "bash") {
      write_text(rc, "PS1='READY> '\nsource <(kdgat completion bash)\n");
      words = {"bash", "--noprofile", "--rcfile", rc.string(), "-i"};
    } else if (shell_ == "zsh") {
      write_text(rc,
                 "PS1='READY> '\nautoload -U compinit\ncompinit -u -D\n"
                 "source <(kdgat completion zsh)\n");
      words = {"zsh", "-d", "-i"};
    } else {
      write_text(rc,
                 "function fish_prompt; echo -n 'READY> '; end\n"
                 "kdgat completion fish | source\n");
      words = {"fish", "--no-config", "-i", "-C", "source " + shell_line({rc.string()})};
    }
    const std::string path = (scratch_ / "bin").string() + ":" + std::getenv("PATH");
    terminal_.emplace(words, work(),
                      ShellOnTerminal::Variables{{"PATH", path},
                                                 {"HOME", scratch_.path().string()},
                                                 {"ZDOTDIR", scratch_.path().string()},
                                                 {"TERM", "xterm"},
                                                 {"HISTFILE", ""},
                                                 {"LC_ALL", "C.UTF-8"}});
    REQUIRE(terminal_->shows(ready));
  }

  /// The arguments that `kdgat` is given after these keys and Enter.
  std::vector<std::string> given(const std::string& keys) {
    fs::remove(got());
    terminal_->type(keys + "\n");
    const bool is_there = terminal_->waits_until([&] { return fs::exists(got()); });
    INFO(terminal_->shown());
    REQUIRE(is_there);
    REQUIRE(terminal_->shows("READY"));
    std::vector<std::string> out;
    std::istringstream text(read_text(got()));
    for (std::string word; std::getline(text, word, '\0');) out.push_back(word);
    return out;
  }

  bool ran_a_name() const { return fs::exists(work() / "PWNED"); }

 private:
  fs::path work() const { return scratch_ / "work"; }
  fs::path got() const { return scratch_ / "got"; }

  ScratchFolder scratch_;
  std::string shell_;
  std::optional<ShellOnTerminal> terminal_;
};

using Words = std::vector<std::string>;

}  // namespace

TEST_CASE("no shell runs the name of a run that it completes", "[completion]") {
  for (const std::string shell : {"bash", "zsh", "fish"}) {
    if (run_shell("command -v " + shell, fs::current_path()).exit_code != 0) {
      WARN("skipped: there is no " << shell << " (scripts/setup --dev installs it)");
      continue;
    }
    Completing line(shell);
    line.load();
    for (const std::string& name : kNames) {
      INFO(shell << ": " << name);
      CHECK(line.given("kdgat report " + name.substr(0, 1) + "\t") == Words{"report", name});
    }
    INFO(shell);
    CHECK(line.given("kdgat score x --run c\t") == Words{"score", "x", "--run", "c'quote"});
    CHECK(line.given("kdgat tune show og\t") == Words{"tune", "show", "ogröße"});
    CHECK(line.given("kdgat tune exam\t --max-wor\t 2") ==
          Words{"tune", "example", "--max-workers", "2"});
    CHECK(line.given("kdgat run --preset a,smo\t") == Words{"run", "--preset", "a,smoke"});
    // Nothing is offered for the name with a line end, so the word stays as it is typed.
    CHECK(line.given("kdgat report z\t") == Words{"report", "z"});
    if (shell == "bash") {
      CHECK(line.given("kdgat report \"e bl\t") == Words{"report", "e blank  two"});
    }
    CHECK_FALSE(line.ran_a_name());
  }
}

TEST_CASE("the lists for completions hold a name on each line, and none with a line end",
          "[completion]") {
  CHECK(candidates_text({{"plain", "what\nit is"}, {"two\nlines", ""}, {"tab\t", ""}, {"", "x"}}) ==
        "plain\twhat it is\n");
  const CommandResult bash = run_kdgat("completion bash", fs::current_path());
  CHECK(bash.out.find("compgen") == std::string::npos);  // it expands what it is given
}
