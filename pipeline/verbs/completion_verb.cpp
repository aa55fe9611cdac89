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
#include "pipeline/show/text.h"
#include "pipeline/slurm/site_profile.h"
#include "pipeline/verbs/commands/completion_lists.h"
#include "pipeline/verbs/commands/log_stage.h"
#include "pipeline/verbs/verbs.h"

namespace kdgat {

namespace {

/// Words that the scripts hold themselves. Each is plain: letters, digits and signs that no shell
/// takes for more than text. Names of presets, sites and runs may be anything, so the scripts ask
/// for them when they are needed, and read them as text.
struct CompletionWords {
  std::string verbs, stages, run_flags, keys, score_flags, why_flags, adapt_flags, export_flags,
      watch_flags, cards, host_flags,
      devices = "auto cpu cuda", submit_flags = "--profile --slurm --array --gpu --static",
      tune_flags =
          "--mode --samples --min-epochs --eta --metric --goal --max-workers --devices "
          "--gpu-memory-buffer-gb --model-memory-gb --auto-memory --simulate --copies",
      jobs_flags = "--retry --seed --root --json",
      memory_flags =
          "--stage --graphs --nodes --edges --num-ids --gpu --svg --root --legacy --interactive",
      report_flags = "--output --notes --root --json --help",
      runs_flags =
          "--root --dataset --name --tag --untag --where --format --by-run --dry-run --yes --force "
          "--json --help";
};

/// The words of a script, each plain text for every shell. Others are left out.
std::string words_of(const std::set<std::string>& words) {
  constexpr const char* kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.=";
  std::string out;
  for (const std::string& word : words) {
    const bool is_plain = !word.empty() && word.find_first_not_of(kPlain) == std::string::npos;
    if (is_plain) out += (out.empty() ? "" : " ") + word;
  }
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
  const std::string host_flags = words_of(flags);
  for (const auto& [name, plugin] : catalog.all()) {
    stages.insert(name);
    add(plugin.options, "");
  }
  std::set<std::string> score_flags = {"--run",     "--model", "--output",  "--root",   "--device",
                                       "--threads", "--json",  "--fail-on", "--engine", "--help"};
  std::set<std::string> why_flags = {"--run",  "--model", "--window", "--time", "--event",
                                     "--root", "--json",  "--engine", "--help"};
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
  std::set<std::string> cards;
  for (const Card& card : known_cards()) cards.insert(card.name);
  return {words_of(visible),
          words_of(stages),
          words_of(flags),
          words_of(keys),
          words_of(score_flags),
          words_of(why_flags),
          words_of(adapt_flags),
          words_of(export_flags),
          words_of(watch_flags),
          words_of(cards),
          host_flags};
}

/// Puts each word list in the place of its @name@.
std::string filled(std::string script, const CompletionWords& words) {
  const std::pair<const char*, const std::string*> places[] = {
      {"@verbs@", &words.verbs},         {"@stages@", &words.stages},
      {"@tune@", &words.tune_flags},     {"@flags@", &words.run_flags},
      {"@keys@", &words.keys},           {"@devices@", &words.devices},
      {"@score@", &words.score_flags},   {"@why@", &words.why_flags},
      {"@adapt@", &words.adapt_flags},   {"@cards@", &words.cards},
      {"@export@", &words.export_flags}, {"@watch@", &words.watch_flags},
      {"@memory@", &words.memory_flags}, {"@submit@", &words.submit_flags},
      {"@jobs@", &words.jobs_flags},     {"@report@", &words.report_flags},
      {"@runs@", &words.runs_flags},     {"@hostflags@", &words.host_flags}};
  for (const auto& [mark, text] : places) {
    for (size_t at; (at = script.find(mark)) != std::string::npos;) {
      script.replace(at, std::string(mark).size(), *text);
    }
  }
  return script;
}

// Nothing here may expand, split or evaluate a name: it stands in an array, is compared as text,
// and is quoted where it is inserted.
constexpr const char* kBash = R"sh(# kdgat completion for bash; made by: kdgat completion bash
# _kdgat_list WORD...: adds what kdgat lists to the array words, without the descriptions.
_kdgat_list() {
  local -a lines
  mapfile -t lines < <("${COMP_WORDS[0]}" completion "$@" 2>/dev/null)
  words+=("${lines[@]%%$'\t'*}")
}
# Offers the words that begin with what is typed, each quoted for the place where it is inserted.
_kdgat_offer() {
  local word quoted
  for word in "${words[@]}"; do
    if [[ $current == [\"\']* ]]; then  # inside a quote that is still open
      if [[ $word == *[\"\'\\\$\`!]* ]]; then continue; fi
      if [[ $word == "${current:1}"* ]]; then COMPREPLY+=("$word"); fi
      continue
    fi
    quoted=$word
    if [[ $word == *[!A-Za-z0-9_.,=+/@%-]* ]]; then
      printf -v quoted %q "$word"
      # bash would take what follows a colon for a word of its own.
      if [[ $quoted != \$* ]]; then quoted=${quoted//:/\\:}; fi
    fi
    if [[ $quoted == "$current"* || $word == "$current"* ]]; then COMPREPLY+=("$before$quoted"); fi
  done
}
_kdgat() {
  local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]} verb=${COMP_WORDS[1]}
  local key="" before=""
  local -a words=()
  COMPREPLY=()
  # "key=value" is three words here.
  if [[ $current == "=" ]]; then key=$previous current=""
  elif [[ $previous == "=" && $COMP_CWORD -gt 1 ]]; then key=${COMP_WORDS[COMP_CWORD-2]}
  elif [[ $previous == --* ]]; then key=$previous; fi
  if [[ $COMP_CWORD -eq 1 ]]; then
    words=(@verbs@ --help --version)
  else
    if [[ -n $key ]]; then _kdgat_list values "$key"; fi
    if [[ ${#words[@]} -gt 0 ]]; then _kdgat_offer; return; fi
    case $previous in
      --preset) _kdgat_list presets; before=${current%"${current##*,}"} current=${current##*,} ;;
      --device) words=(@devices@) ;;
      --gpu) words=(@cards@) ;;
      --profile) _kdgat_list sites ;;
      --stage) words=(@stages@) ;;
      --run) _kdgat_list runs ;;
      --config|--data|--root|--plugin-dir|-o|--output|--svg|--check|--replay|--save|--notes) return ;;
      *)
        case $verb in
          run|plan|submit) if [[ $COMP_CWORD -gt 2 ]]; then _kdgat_list options "${COMP_WORDS[2]}"; fi
                if [[ ${#words[@]} -gt 0 ]]; then words+=(@hostflags@); else words=(@stages@ @flags@ @keys@); fi
                case $verb in plan) words+=(--gpu --static) ;; submit) words+=(@submit@) ;; esac ;;
          fit) words=(--output --budget @flags@ @keys@) ;;
          tune) words=(show @stages@ @tune@ @flags@ @keys@)
                if [[ ${COMP_WORDS[2]} == show ]]; then words=(@tune@ --root --json); _kdgat_list runs; fi ;;
          jobs|cancel) words=(@jobs@); _kdgat_list runs ;;
          memory) if [[ $COMP_CWORD -eq 2 ]]; then words=(estimate report); else words=(@memory@ @keys@); fi ;;
          config) if [[ $COMP_CWORD -eq 2 ]]; then words=(show schema options init)
                  elif [[ ${COMP_WORDS[2]} == schema ]]; then words=(data synth @stages@ --json)
                  else words=(--origin @flags@ @keys@); fi ;;
          plugins) if [[ $COMP_CWORD -eq 2 ]]; then words=(list show); else words=(@stages@ --json); fi ;;
          data) if [[ $COMP_CWORD -eq 2 ]]; then words=(import inspect verify synth inject convert); fi ;;
          report) words=(@report@); _kdgat_list runs ;;
          runs) if [[ $COMP_CWORD -eq 2 ]]; then words=(list show compare pivot export note rm)
                else words=(@runs@); _kdgat_list runs; fi ;;
          top) words=(--root --once --json) ;;
          score) words=(@score@) ;;
          why) words=(@why@) ;;
          adapt) words=(@adapt@) ;;
          export) words=(@export@) ;;
          watch) words=(@watch@) ;;
          sync) words=(--root --to --follow --json) ;;
          completion) words=(bash zsh fish) ;;
          help) words=(@verbs@ exit-codes json) ;;
        esac ;;
    esac
  fi
  _kdgat_offer
  if [[ ${#COMPREPLY[@]} -eq 1 && ${COMPREPLY[0]} == *= ]]; then compopt -o nospace; fi
}
# Where nothing is offered, names of files are: bash quotes those itself.
complete -o default -F _kdgat kdgat
)sh";

constexpr const char* kZsh = R"sh(#compdef kdgat
# kdgat completion for zsh; made by: kdgat completion zsh
# _kdgat_list WORD...: what kdgat lists, in the array names, and how each is shown, in shown.
_kdgat_list() {
  local line
  local -i widest=0 i
  local -a about
  names=() shown=()
  for line in "${(@f)$("${(Q)words[1]}" completion "$@" 2>/dev/null)}"; do
    [[ -n $line ]] || continue
    names+=("${line%%$'\t'*}") about+=("${line#*$'\t'}")
    (( ${#names[-1]} > widest )) && widest=${#names[-1]}
  done
  for (( i = 1; i <= ${#names}; i++ )); do shown+=("${(r:widest:)names[i]}  -- ${about[i]}"); done
  (( ${#names} ))
}
# compadd quotes what it inserts.
_kdgat_offer() { compadd "$@" -l -d shown -a names; }
_kdgat() {
  local -a found names shown
  local key=""
  if (( CURRENT == 2 )); then
    found=(@verbs@ --help --version)
  else
    if [[ ${words[CURRENT]} == [a-z]*=* ]]; then key=${words[CURRENT]%%=*}
    elif [[ ${words[CURRENT-1]} == --* ]]; then key=${words[CURRENT-1]}; fi
    if [[ -n $key ]] && _kdgat_list values "$key"; then
      compset -P '*='
      _kdgat_offer
      return
    fi
    case ${words[CURRENT-1]} in
      --preset) compset -P '*,'; _kdgat_list presets && _kdgat_offer; return ;;
      --run) _kdgat_list runs && _kdgat_offer; _files; return ;;
      --profile) _kdgat_list sites && _kdgat_offer; _files; return ;;
      --device) found=(@devices@) ;;
      --gpu) found=(@cards@) ;;
      --stage) found=(@stages@) ;;
      --config|--data|--root|--plugin-dir|-o|--output|--svg|--check|--replay|--save|--notes) _files; return ;;
      *)
        case ${words[2]} in
          run|plan|submit) if (( CURRENT > 3 )) && _kdgat_list options "${(Q)words[3]}"; then
                  local -a every=("${names[@]}") lines=("${shown[@]}")
                  names=("${(@M)every:#[^-]*}") shown=("${(@M)lines:#[^-]*}")
                  _kdgat_offer -S ''
                  names=("${(@M)every:#--*}") shown=("${(@M)lines:#--*}")
                  _kdgat_offer
                  found=(@hostflags@)
                else
                  found=(@stages@ @flags@ @keys@)
                fi
                case ${words[2]} in plan) found+=(--gpu --static) ;; submit) found+=(@submit@) ;; esac ;;
          fit) found=(--output --budget @flags@ @keys@) ;;
          tune) if [[ ${words[3]} == show ]]; then found=(@tune@ --root --json); _kdgat_list runs && _kdgat_offer
                else found=(show @stages@ @tune@ @flags@ @keys@); fi ;;
          jobs|cancel) found=(@jobs@); _kdgat_list runs && _kdgat_offer ;;
          memory) if (( CURRENT == 3 )); then found=(estimate report); else found=(@memory@ @keys@); fi ;;
          config) if (( CURRENT == 3 )); then found=(show schema options init)
                  elif [[ ${words[3]} == schema ]]; then found=(data synth @stages@ --json)
                  else found=(--origin @flags@ @keys@); fi ;;
          plugins) if (( CURRENT == 3 )); then found=(list show); else found=(@stages@ --json); fi ;;
          data) if (( CURRENT == 3 )); then found=(import inspect verify synth inject convert); fi ;;
          report) found=(@report@); _kdgat_list runs && _kdgat_offer ;;
          runs) if (( CURRENT == 3 )); then found=(list show compare pivot export note rm)
                else found=(@runs@); _kdgat_list runs && _kdgat_offer; fi ;;
          top) found=(--root --once --json) ;;
          score) found=(@score@) ;;
          why) found=(@why@) ;;
          adapt) found=(@adapt@) ;;
          export) found=(@export@) ;;
          watch) found=(@watch@) ;;
          sync) found=(--root --to --follow --json) ;;
          completion) found=(bash zsh fish) ;;
          help) found=(@verbs@ exit-codes json) ;;
        esac ;;
    esac
  fi
  local -a whole=(${found:#*=}) open=(${(M)found:#*=})
  compadd -a whole
  compadd -S '' -a open
  _files
}
if [[ $funcstack[1] == _kdgat ]]; then _kdgat "$@"; else compdef _kdgat kdgat; fi
)sh";

/// fish wants a line for each word with its description.
std::string fish(const PluginCatalog& catalog, const CompletionWords& words) {
  const auto quoted = [](const std::string& text) {
    std::string out = "'";
    for (const char c : one_line(text)) {
      if (c == '\'' || c == '\\') out += '\\';
      out += c;
    }
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
    for (const char* verb : {"run", "plan", "submit", "tune", "plugins", "config"}) {
      out += seen(verb) + " -a " + name + " -d " + quoted(plugin.summary) + "\n";
    }
  }
  out += seen("config") + " -a 'show schema options init'\n";
  out += seen("plugins") + " -a 'list show'\n";
  out += seen("memory") + " -a 'estimate report'\n";
  out += seen("data") + " -a 'import inspect verify synth inject convert'\n";
  out += seen("runs") + " -a 'list show compare pivot export note rm'\n";
  out += seen("completion") + " -a 'bash zsh fish'\n";
  out += seen("run fit plan submit tune memory config") + " -a '" + words.keys + "'\n";
  const auto add_flags = [&](const std::string& verbs, const std::string& flags) {
    for (size_t begin = 0; begin < flags.size();) {
      const size_t end = std::min(flags.find(' ', begin), flags.size());
      const std::string flag = flags.substr(begin + 2, end - begin - 2);
      begin = end + 1;
      out += seen(verbs) + " -l " + flag;
      if (flag == "preset") out += " -x -a '(__fish_complete_list , \"kdgat completion presets\")'";
      if (flag == "run") out += " -r -a '(kdgat completion runs)'";
      if (flag == "device") out += " -x -a '" + words.devices + "'";
      if (flag == "gpu") out += " -x -a '" + words.cards + "'";
      if (flag == "profile") out += " -x -a '(kdgat completion sites)'";
      if (flag == "stage") out += " -x -a '" + words.stages + "'";
      out += "\n";
    }
  };
  add_flags("run fit plan submit tune config", words.host_flags);
  std::set<std::string> said;  // host options stand before those of stages of the same name
  for (const auto& [name, plugin] : catalog.all()) {
    for (const std::string& option : option_names(plugin.options)) {
      const std::string own = own_option_name(plugin.options, option);
      const std::string flag = flag_of(option).substr(2);
      if (!said.insert(flag).second) continue;
      out += seen("run fit plan submit tune config") + " -l " + flag + " -d " +
             quoted(option_schema(plugin.options, own).value("description", ""));
      if (!value_candidates("--" + flag, catalog).empty()) {
        out += " -x -a '(kdgat completion values --" + flag + ")'";
      }
      out += "\n";
    }
  }
  add_flags("fit", "--output --budget");
  add_flags("plan", "--gpu --static");
  add_flags("submit", words.submit_flags);
  add_flags("tune", words.tune_flags);
  out += seen("tune") + " -a show\n";
  out +=
      "complete -c kdgat -n '__fish_seen_subcommand_from tune; and "
      "__fish_seen_subcommand_from show' -a '(kdgat completion runs)'\n";
  add_flags("jobs cancel", words.jobs_flags);
  out += seen("jobs cancel") + " -a '(kdgat completion runs)'\n";
  add_flags("memory", words.memory_flags);
  add_flags("report", words.report_flags);
  out += seen("report") + " -a '(kdgat completion runs)'\n";
  out += seen("runs") + " -a '(kdgat completion runs)'\n";
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
       kdgat completion runs | presets | sites | values OPTION | options STAGE [--root DIR]

The second form is what the scripts ask: a line for each word, a tab and what it is.
)";

int completion_verb(Context& context, const std::vector<std::string>& arguments) {
  std::string shell, of, root = "runs";
  // What is asked for may itself be a flag, --loss.
  std::vector<std::string> said = arguments;
  if (said.size() == 2 && said.front() == "values") {
    of = said.back();
    said.pop_back();
  }
  CommandLine line(context, "kdgat completion");
  line.word(shell);
  line.word(of);
  line.value("--root", root);
  line.parse(said);
  if (shell == "runs") {
    context.out << candidates_text(run_candidates(root));
    return 0;
  }
  if (shell == "presets") {
    context.out << candidates_text(preset_candidates(default_preset_folders()));
    return 0;
  }
  if (shell == "sites") {
    std::vector<Candidate> sites;
    for (const std::string& name : site_names(site_folders())) sites.push_back({name, "a site"});
    context.out << candidates_text(sites);
    return 0;
  }
  if (shell == "values" || shell == "options") {
    context.out << candidates_text(shell == "values" ? value_candidates(of, context.catalog)
                                                     : option_candidates(of, context.catalog));
    return 0;
  }
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
