// kdgat completion bash|zsh|fish: scripts made from the table of verbs, the stages and the presets.
#include <algorithm>
#include <ostream>
#include <set>

#include "kdgat/kinds.h"
#include "pipeline/cli/command_line.h"
#include "pipeline/execute/run_options.h"
#include "pipeline/memory/cards.h"
#include "pipeline/plugin/schema.h"
#include "pipeline/profile/profile_keys.h"
#include "pipeline/profile/profile_layers.h"
#include "pipeline/slurm/site_profile.h"
#include "pipeline/verbs/log_stage.h"
#include "pipeline/verbs/verbs.h"

namespace kdgat {

namespace {

struct CompletionWords {
  std::string verbs, stages, presets, run_flags, keys, score_flags, why_flags, adapt_flags,
      export_flags, watch_flags, cards, sites,
      devices = "auto cpu cuda", submit_flags = "--profile --slurm --array --gpu --static",
      jobs_flags = "--retry --seed --root --json",
      memory_flags = "--stage --graphs --nodes --edges --num-ids --gpu --svg --root",
      report_flags = "--output --root --json --help",
      runs_flags =
          "--root --dataset --name --tag --untag --where --format --dry-run --yes --force --json "
          "--help";
};

std::string words_of(const std::set<std::string>& words) {
  std::string out;
  for (const std::string& word : words) out += (out.empty() ? "" : " ") + word;
  return out;
}

CompletionWords collect(const PluginCatalog& catalog) {
  std::set<std::string> visible, stages, keys,
      flags = {"--preset", "--config",  "--data",       "--from",      "--until", "--force",
               "--verify", "--dry-run", "--explain",    "--progress",  "--name",  "--tag",
               "--json",   "--help",    "--in-process", "--plugin-dir"};
  const auto add = [&](const nlohmann::json& schema, const std::string& prefix) {
    for (const std::string& name : option_names(schema)) {
      flags.insert(flag_of(prefix + name));
      keys.insert(prefix + name + "=");
    }
  };
  for (const Verb& verb : verbs()) {
    if (!verb.hidden) visible.insert(verb.name);
  }
  const SectionSchemas sections = profile_sections();
  add(run_schema(sections), "");
  add(sections.import, "data.");
  add(sections.synth, "data.synth.");
  for (const auto& [name, plugin] : catalog.all()) {
    stages.insert(name);
    add(plugin.options, "");
  }
  std::set<std::string> score_flags = {"--run",     "--model", "--output",  "--root", "--device",
                                       "--threads", "--json",  "--fail-on", "--help"};
  std::set<std::string> why_flags = {"--run",   "--model", "--window", "--time",
                                     "--event", "--root",  "--json",   "--help"};
  std::set<std::string> adapt_flags = {"--model", "--output", "--force",
                                       "--root",  "--json",   "--help"};
  std::set<std::string> export_flags = {"--model", "--output",    "--check", "--force",
                                        "--root",  "--threshold", "--json",  "--help"};
  std::set<std::string> watch_flags = {"--model",  "--replay",  "--speed",     "--calibrate",
                                       "--budget", "--save",    "--expect",    "--filter",
                                       "--alarm",  "--metrics", "--threshold", "--heartbeat",
                                       "--root",   "--json",    "--help"};
  const auto add_options = [&](const char* of_kind, auto options, std::set<std::string>& to) {
    const PluginDescription* plugin = catalog.find_taking(of_kind);
    if (plugin == nullptr) return;
    for (const std::string& name : option_names(options(*plugin))) to.insert(flag_of(name));
  };
  add_options(kind::kLog, score_options, score_flags);
  add_options(kind::kLog, why_options, why_flags);
  add_options(kind::kBenignLog, adapt_options, adapt_flags);
  add_options(kind::kCheckLog, export_options, export_flags);
  add_options(kind::kBus, watch_options, watch_flags);
  const std::vector<std::string> presets = preset_names(default_preset_folders());
  std::set<std::string> cards;
  for (const Card& card : known_cards()) cards.insert(card.name);
  const std::vector<std::string> sites = site_names(site_folders());
  return {words_of(visible),     words_of(stages),      words_of({presets.begin(), presets.end()}),
          words_of(flags),       words_of(keys),        words_of(score_flags),
          words_of(why_flags),   words_of(adapt_flags), words_of(export_flags),
          words_of(watch_flags), words_of(cards),       words_of({sites.begin(), sites.end()})};
}

/// Puts each word list in the place of its @name@.
std::string filled(std::string script, const CompletionWords& words) {
  const std::pair<const char*, const std::string*> places[] = {
      {"@verbs@", &words.verbs},         {"@stages@", &words.stages},
      {"@presets@", &words.presets},     {"@flags@", &words.run_flags},
      {"@keys@", &words.keys},           {"@devices@", &words.devices},
      {"@score@", &words.score_flags},   {"@why@", &words.why_flags},
      {"@adapt@", &words.adapt_flags},   {"@cards@", &words.cards},
      {"@export@", &words.export_flags}, {"@watch@", &words.watch_flags},
      {"@memory@", &words.memory_flags}, {"@submit@", &words.submit_flags},
      {"@jobs@", &words.jobs_flags},     {"@sites@", &words.sites},
      {"@report@", &words.report_flags}, {"@runs@", &words.runs_flags}};
  for (const auto& [mark, text] : places) {
    for (size_t at; (at = script.find(mark)) != std::string::npos;) {
      script.replace(at, std::string(mark).size(), *text);
    }
  }
  return script;
}

constexpr const char* kBash = R"(# kdgat completion for bash; made by: kdgat completion bash
_kdgat() {
  local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]} verb=${COMP_WORDS[1]}
  local words=""
  COMPREPLY=()
  if [[ $COMP_CWORD -eq 1 ]]; then
    words="@verbs@ --help --version"
  else
    case $previous in
      --preset) words="@presets@" ;;
      --device) words="@devices@" ;;
      --gpu) words="@cards@" ;;
      --profile) words="@sites@" ;;
      --stage) words="@stages@" ;;
      --config|--data|--root|--plugin-dir|-o|--output|--run|--svg|--check|--replay|--save) COMPREPLY=($(compgen -f -- "$current")); return ;;
      *)
        case $verb in
          run) words="@stages@ @flags@ @keys@" ;;
          fit) words="--output --budget @flags@ @keys@" ;;
          plan) words="--gpu --static @stages@ @flags@ @keys@" ;;
          submit) words="@submit@ @stages@ @flags@ @keys@" ;;
          jobs|cancel) words="@jobs@" ;;
          memory) if [[ $COMP_CWORD -eq 2 ]]; then words="estimate report"; else words="@memory@ @keys@"; fi ;;
          config) if [[ $COMP_CWORD -eq 2 ]]; then words="show schema init"
                  elif [[ ${COMP_WORDS[2]} == schema ]]; then words="data synth @stages@ --json"
                  else words="--origin @flags@ @keys@"; fi ;;
          plugins) if [[ $COMP_CWORD -eq 2 ]]; then words="list show"; else words="@stages@ --json"; fi ;;
          data) if [[ $COMP_CWORD -eq 2 ]]; then words="import inspect verify synth inject convert"; fi ;;
          report) words="@report@" ;;
          runs) if [[ $COMP_CWORD -eq 2 ]]; then words="list show compare pivot export note rm"; else words="@runs@"; fi ;;
          top) words="--root --once --json" ;;
          score) words="@score@" ;;
          why) words="@why@" ;;
          adapt) words="@adapt@" ;;
          export) words="@export@" ;;
          watch) words="@watch@" ;;
          sync) words="--root --to --follow --json" ;;
          completion) words="bash zsh fish" ;;
          help) words="@verbs@ exit-codes" ;;
        esac ;;
    esac
  fi
  COMPREPLY=($(compgen -W "$words" -- "$current"))
  if [[ ${#COMPREPLY[@]} -eq 1 && ${COMPREPLY[0]} == *= ]]; then compopt -o nospace; fi
  if [[ ${#COMPREPLY[@]} -eq 0 ]]; then COMPREPLY=($(compgen -f -- "$current")); fi
}
complete -F _kdgat kdgat
)";

constexpr const char* kZsh = R"(#compdef kdgat
# kdgat completion for zsh; made by: kdgat completion zsh
_kdgat() {
  local -a found
  if (( CURRENT == 2 )); then
    found=(@verbs@ --help --version)
  else
    case ${words[CURRENT-1]} in
      --preset) found=(@presets@) ;;
      --device) found=(@devices@) ;;
      --gpu) found=(@cards@) ;;
      --profile) found=(@sites@) ;;
      --stage) found=(@stages@) ;;
      --config|--data|--root|--plugin-dir|-o|--output|--run|--svg|--check|--replay|--save) _files; return ;;
      *)
        case ${words[2]} in
          run) found=(@stages@ @flags@ @keys@) ;;
          fit) found=(--output --budget @flags@ @keys@) ;;
          plan) found=(--gpu --static @stages@ @flags@ @keys@) ;;
          submit) found=(@submit@ @stages@ @flags@ @keys@) ;;
          jobs|cancel) found=(@jobs@) ;;
          memory) if (( CURRENT == 3 )); then found=(estimate report); else found=(@memory@ @keys@); fi ;;
          config) if (( CURRENT == 3 )); then found=(show schema init)
                  elif [[ ${words[3]} == schema ]]; then found=(data synth @stages@ --json)
                  else found=(--origin @flags@ @keys@); fi ;;
          plugins) if (( CURRENT == 3 )); then found=(list show); else found=(@stages@ --json); fi ;;
          data) if (( CURRENT == 3 )); then found=(import inspect verify synth inject convert); fi ;;
          report) found=(@report@) ;;
          runs) if (( CURRENT == 3 )); then found=(list show compare pivot export note rm); else found=(@runs@); fi ;;
          top) found=(--root --once --json) ;;
          score) found=(@score@) ;;
          why) found=(@why@) ;;
          adapt) found=(@adapt@) ;;
          export) found=(@export@) ;;
          watch) found=(@watch@) ;;
          sync) found=(--root --to --follow --json) ;;
          completion) found=(bash zsh fish) ;;
          help) found=(@verbs@ exit-codes) ;;
        esac ;;
    esac
  fi
  local -a whole=(${found:#*=}) open=(${(M)found:#*=})
  compadd -a whole
  compadd -S '' -a open
  _files
}
if [[ $funcstack[1] == _kdgat ]]; then _kdgat "$@"; else compdef _kdgat kdgat; fi
)";

/// fish wants a line for each word with its description.
std::string fish(const PluginCatalog& catalog, const CompletionWords& words) {
  const auto quoted = [](const std::string& text) {
    std::string out = "'";
    for (const char c : text) out += c == '\'' ? std::string("\\'") : std::string(1, c);
    return out + "'";
  };
  std::string out = "# kdgat completion for fish; made by: kdgat completion fish\n";
  const std::string first = "complete -c kdgat -n __fish_use_subcommand -f";
  for (const Verb& verb : verbs()) {
    if (!verb.hidden) out += first + " -a " + verb.name + " -d " + quoted(verb.summary) + "\n";
  }
  const auto seen = [](const std::string& verb) {
    return "complete -c kdgat -n '__fish_seen_subcommand_from " + verb + "'";
  };
  for (const auto& [name, plugin] : catalog.all()) {
    for (const char* verb : {"run", "plan", "submit", "plugins", "config"}) {
      out += seen(verb) + " -a " + name + " -d " + quoted(plugin.summary) + "\n";
    }
  }
  out += seen("config") + " -a 'show schema init'\n";
  out += seen("plugins") + " -a 'list show'\n";
  out += seen("memory") + " -a 'estimate report'\n";
  out += seen("data") + " -a 'import inspect verify synth inject convert'\n";
  out += seen("runs") + " -a 'list show compare pivot export note rm'\n";
  out += seen("completion") + " -a 'bash zsh fish'\n";
  out += seen("run fit plan submit memory config") + " -a '" + words.keys + "'\n";
  const auto add_flags = [&](const std::string& verbs, const std::string& flags) {
    for (size_t begin = 0; begin < flags.size();) {
      const size_t end = std::min(flags.find(' ', begin), flags.size());
      const std::string flag = flags.substr(begin + 2, end - begin - 2);
      begin = end + 1;
      out += seen(verbs) + " -l " + flag;
      if (flag == "preset") out += " -x -a '" + words.presets + "'";
      if (flag == "device") out += " -x -a '" + words.devices + "'";
      if (flag == "gpu") out += " -x -a '" + words.cards + "'";
      if (flag == "profile") out += " -x -a '" + words.sites + "'";
      if (flag == "stage") out += " -x -a '" + words.stages + "'";
      out += "\n";
    }
  };
  add_flags("run fit plan submit config", words.run_flags);
  add_flags("fit", "--output --budget");
  add_flags("plan", "--gpu --static");
  add_flags("submit", words.submit_flags);
  add_flags("jobs cancel", words.jobs_flags);
  add_flags("memory", words.memory_flags);
  add_flags("report", words.report_flags);
  add_flags("runs", words.runs_flags);
  add_flags("top", "--root --once --json");
  add_flags("score", words.score_flags);
  add_flags("why", words.why_flags);
  add_flags("adapt", words.adapt_flags);
  add_flags("export", words.export_flags);
  add_flags("watch", words.watch_flags);
  add_flags("sync", "--root --to --follow --json");
  return out;
}

constexpr const char* kCompletionHelp = R"(Print the completion script of a shell.

  source <(kdgat completion bash)
  kdgat completion zsh > ~/.zfunc/_kdgat
  kdgat completion fish > ~/.config/fish/completions/kdgat.fish

usage: kdgat completion bash | zsh | fish
)";

int completion_verb(Context& context, const std::vector<std::string>& arguments) {
  std::string shell;
  CommandLine line(context, "kdgat completion");
  line.word(shell);
  line.parse(arguments);
  const CompletionWords words = collect(context.catalog);
  if (shell == "bash") {
    context.out << filled(kBash, words);
  } else if (shell == "zsh") {
    context.out << filled(kZsh, words);
  } else if (shell == "fish") {
    context.out << fish(context.catalog, words);
  } else {
    throw Error(ExitCode::kUsage, "completion needs a shell: bash, zsh or fish",
                "source <(kdgat completion bash)");
  }
  return 0;
}

}  // namespace

Verb make_completion_verb() {
  return {"completion", "print the completion script for bash, zsh or fish", Needs::kCatalog,
          completion_verb, help_text(kCompletionHelp)};
}

}  // namespace kdgat
