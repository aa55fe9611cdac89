// What is offered at the cursor is what verbs declare.
#include "pipeline/verbs/commands/completion_at.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <sstream>

#include "pipeline/verbs/verbs.h"
#include "support/programs/command.h"
#include "support/runs/fake_run.h"

using namespace kdgat;
using namespace kdgat::test;

namespace {

using Words = std::vector<std::string>;

/// The command line of a program with the plugins of this build.
class Typing {
 public:
  Typing() : context_{nowhere_, nowhere_, {}, {}, false, 0, {}} {
    const std::filesystem::path program = kdgat_binary();
    context_.catalog = PluginCatalog::scan({program.parent_path() / "plugins"});
  }

  const Context& context() const { return context_; }
  /// Builds with sanitizers have not all of them.
  bool has_stages(const Words& names) const {
    return std::all_of(names.begin(), names.end(), [&](const std::string& name) {
      return context_.catalog.find(name) != nullptr;
    });
  }
  Completion at(const Words& words) const { return completion_at(verbs(), context_, words); }
  Words offered(const Words& words) const {
    Words out;
    for (const Candidate& one : at(words).candidates) out.push_back(one.word);
    return out;
  }
  bool offers(const Words& words, const std::string& word) const {
    const Words all = offered(words);
    return std::count(all.begin(), all.end(), word) == 1;
  }

 private:
  std::ostringstream nowhere_;
  Context context_;
};

/// A verb, with an action if it has such.
struct DeclaredForm {
  const Verb* verb = nullptr;
  Words words;
  CommandForm form;

  std::string text() const {
    std::string out = verb->name;
    for (const std::string& word : words) out += " " + word;
    return out;
  }
};

/// `name` stands in a text, and not as a part of a longer one.
bool has_word(const std::string& text, const std::string& name) {
  const std::string letters = "abcdefghijklmnopqrstuvwxyz-";
  for (std::size_t at = 0; (at = text.find(name, at)) != std::string::npos; ++at) {
    const std::size_t end = at + name.size();
    const bool begins = at == 0 || letters.find(text[at - 1]) == std::string::npos;
    if (begins && (end == text.size() || letters.find(text[end]) == std::string::npos)) return true;
  }
  return false;
}

std::vector<DeclaredForm> everything(const Typing& typing) {
  std::vector<DeclaredForm> out;
  for (const Verb& verb : verbs()) {
    if (verb.hidden) continue;
    const CommandForm form = form_of(verb, typing.context(), {});
    if (form.actions.empty()) out.push_back({&verb, {}, form});
    for (const std::string& action : form.actions) {
      out.push_back({&verb, {action}, form_of(verb, typing.context(), {action})});
    }
    if (verb.name == "tune") {
      out.push_back({&verb, {"show"}, form_of(verb, typing.context(), {"show"})});
    }
  }
  return out;
}

}  // namespace

TEST_CASE("every flag that a verb declares is completed, and is in its help", "[completion]") {
  const Typing typing;
  REQUIRE_FALSE(typing.context().catalog.all().empty());
  const std::string help_of_run = verbs().front().help({}, typing.context().catalog);
  const bool has_all = typing.has_stages({"score", "watch", "adapt", "export", "classifier"});
  if (!has_all) WARN("skipped: verbs whose stages this build has not");
  int flags = 0;
  for (const DeclaredForm& said : everything(typing)) {
    INFO(said.text());
    const bool is_there = has_all || !said.form.called.empty();  // a stage may be behind a verb
    if (!is_there) continue;
    CHECK(said.form.called == "kdgat " + said.text());
    Words line = {said.verb->name};
    line.insert(line.end(), said.words.begin(), said.words.end());
    line.emplace_back("-");
    const Words offered = typing.offered(line);
    const std::string help =
        said.verb->help ? said.verb->help(said.words, typing.context().catalog)
                        : run_kdgat(said.text() + " --help", std::filesystem::current_path()).out;
    for (const CommandForm::Flag& flag : said.form.flags) {
      ++flags;
      for (const std::string& name : flag.names) {
        INFO(name);
        CHECK(std::count(offered.begin(), offered.end(), name) == 1);
      }
      // Published names of a flag may come before its own.
      const std::string name = flag.names.back();
      INFO(name);
      CHECK((has_word(help, name) || (said.form.of_profile && has_word(help_of_run, name))));
    }
  }
  CHECK(flags > 100);
}

TEST_CASE("words at the cursor are completed by what they are", "[completion]") {
  const Typing typing;
  CHECK(typing.offers({""}, "report"));
  CHECK_FALSE(typing.offers({""}, "describe-plugin"));
  CHECK(typing.offers({"--plugin-dir", "x", ""}, "run"));
  CHECK(typing.offered({"nothing", ""}).empty());
  // Some of these would begin to work.
  for (const Verb& verb : verbs()) {
    if (verb.hidden) CHECK(typing.offered({verb.name, ""}).empty());
  }
  CHECK(typing.offered({"memory", ""}) == Words{"report"});
  CHECK(typing.offers({"runs", ""}, "pivot"));
  CHECK(typing.offers({"runs", "--json", ""}, "pivot"));
  CHECK(typing.offers({"tune", ""}, "show"));
  CHECK(typing.at({"report", ""}).has_files);  // folders of runs, too
  CHECK(typing.offered({"runs", "nothing", ""}).empty());
  CHECK(typing.offers({"plan", "--estimate", "--gpu", ""}, "v100-16"));
  CHECK(typing.offers({"run", ""}, typing.context().catalog.all().begin()->first));
  CHECK(typing.offers({"config", "schema", ""}, "synth"));
  CHECK(typing.offers({"help", ""}, "exit-codes"));
  CHECK(typing.offers({"fit", "logs", "--progress", ""}, "jsonl"));
  CHECK(typing.at({"score", ""}).has_files);
  CHECK(typing.at({"run", "--data", ""}).has_files);
  CHECK_FALSE(typing.at({"run", "--tag", ""}).has_files);
  CHECK(typing.offered({"run", "--tag", ""}).empty());
  CHECK(typing.offered({"score", "--fail-on", ""}) == Words{"attack"});
  CHECK(typing.offered({"score", "--fail-on=at"}) == Words{"--fail-on=attack"});
}

TEST_CASE("options and their values are completed as flags and as keys", "[completion]") {
  const Typing typing;
  if (!typing.has_stages({"classifier", "fusion"})) {
    WARN("skipped: this build has no stage classifier or no stage fusion");
    return;
  }
  const Words as_bash = {"run", "classifier", "loss", "=", "fo"};
  CHECK(typing.offers(as_bash, "loss=focal"));
  CHECK(typing.offers({"run", "classifier", "loss=fo"}, "loss=focal"));
  CHECK(typing.offers({"run", "classifier", "--loss", ""}, "focal"));
  CHECK(typing.offers({"run", "my_step.loss="}, "my_step.loss=focal"));
  CHECK(typing.offers({"run", "use_scheduler="}, "use_scheduler=true"));
  CHECK(typing.offers({"run", "--use-scheduler", ""}, "classifier"));  // takes no value
  CHECK(typing.offers({"run", "--use-scheduler="}, "--use-scheduler=true"));
  CHECK(typing.offers({"run", "--device", ""}, "cuda"));
  CHECK(typing.offers({"run", "classifier", ""}, "lr="));
  CHECK(typing.offers({"run", "classifier", ""}, "data.window="));
  CHECK(typing.offers({"run", "classifier", "--"}, "--max-epochs"));
  CHECK(typing.offers({"run", "--"}, "--dqn-buffer-size"));
  CHECK_FALSE(typing.offers({"run", "classifier", "--"}, "--dqn-buffer-size"));  // of fusion
  CHECK_FALSE(typing.offers({"run", ""}, "classifier.lr="));
  CHECK(typing.offers({"run", "classifier."}, "classifier.lr="));
  CHECK(typing.offers({"data", "import", "logs", "--split", ""}, "time"));
  CHECK(typing.offers({"data", "import", "logs", ""}, "window="));
  CHECK(typing.offers({"run", "--preset", "vgae,smo"}, "vgae,smoke"));
}

TEST_CASE("runs are completed from the folder that is said", "[completion]") {
  const Typing typing;
  const ScratchFolder scratch;
  const std::string root = (scratch / "mine").string();
  write_run(root, "set", "first-try", {});
  CHECK(typing.offers({"report", "--root", root, ""}, "first-try"));
  CHECK(typing.offers({"tune", "show", "--root=" + root, ""}, "first-try"));
  CHECK(typing.offers({"report", "--root", "\"" + root + "\"", ""}, "first-try"));
  CHECK(typing.offers({"runs", "note", "--root", root, ""}, "first-try"));
  // The word after the run is a text.
  CHECK(typing.offered({"runs", "note", "--root", root, "first-try", ""}).empty());
}

TEST_CASE("a line with a tab alone stands for files", "[completion]") {
  CHECK(completion_text({{{"a", "what it is"}}, false}) == "a\twhat it is\n");
  CHECK(completion_text({{}, true}) == "\t\n");
}
