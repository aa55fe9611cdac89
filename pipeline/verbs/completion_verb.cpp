// kdgat completion bash|zsh|fish: scripts that ask the program, at each tab, what may be typed.
#include <iostream>
#include <iterator>
#include <ostream>

#include "pipeline/cli/command_line.h"
#include "pipeline/verbs/commands/completion_at.h"
#include "pipeline/verbs/verbs.h"

namespace kdgat {

namespace {

// Nothing here may expand, split or evaluate a name: it stands in an array, is compared as text,
// and is quoted where it is inserted.
constexpr const char* kBash = R"sh(# kdgat completion for bash; made by: kdgat completion bash
# Offers a word that begins with what is typed, quoted for the place where it is inserted.
_kdgat_offer() {
  local word=$1 quoted=$1
  if [[ $current == [\"\']* ]]; then  # inside a quote that is still open
    if [[ $word == *[\"\'\\\$\`!]* ]]; then return; fi
    if [[ $word == "${current:1}"* ]]; then COMPREPLY+=("$word"); fi
    return
  fi
  if [[ $word == *[!A-Za-z0-9_.,=+/@%-]* ]]; then
    printf -v quoted %q "$word"
    # bash would take what follows a colon for a word of its own.
    if [[ $quoted != \$* ]]; then quoted=${quoted//:/\\:}; fi
  fi
  if [[ $quoted == "$current"* || $word == "$current"* ]]; then COMPREPLY+=("$quoted"); fi
}
_kdgat() {
  local current=${COMP_WORDS[COMP_CWORD]} key="" line
  local -a lines=()
  COMPREPLY=()
  # "key=value" is three words here, of which the last one is replaced.
  if [[ $current == "=" ]]; then key=${COMP_WORDS[COMP_CWORD-1]}= current=""
  elif [[ $COMP_CWORD -gt 2 && ${COMP_WORDS[COMP_CWORD-1]} == "=" ]]; then
    key=${COMP_WORDS[COMP_CWORD-2]}=
  fi
  mapfile -t lines < <(printf '%s\0' "${COMP_WORDS[@]:1:COMP_CWORD}" |
                       "${COMP_WORDS[0]}" completion at 2>/dev/null)
  for line in "${lines[@]}"; do
    if [[ $line == $'\t' ]]; then compopt -o default; continue; fi
    line=${line%%$'\t'*}
    if [[ $line == "$key"* ]]; then _kdgat_offer "${line#"$key"}"; fi
  done
  if [[ ${#COMPREPLY[@]} -eq 1 && ${COMPREPLY[0]} == *= ]]; then compopt -o nospace; fi
}
complete -F _kdgat kdgat
)sh";

constexpr const char* kZsh = R"sh(#compdef kdgat
# kdgat completion for zsh; made by: kdgat completion zsh
_kdgat() {
  local line word
  local -i widest=0 files=0
  local -a whole open about_whole about_open
  for line in "${(@f)$(printf '%s\0' "${(@Q)words[2,CURRENT]}" |
                       "${(Q)words[1]}" completion at 2>/dev/null)}"; do
    if [[ $line == $'\t' ]]; then files=1; continue; fi
    word=${line%%$'\t'*}
    [[ -n $word ]] || continue
    (( ${#word} > widest )) && widest=${#word}
    if [[ $word == *= ]]; then open+=("$word") about_open+=("${line#*$'\t'}")
    else whole+=("$word") about_whole+=("${line#*$'\t'}"); fi
  done
  local -i i
  local -a shown_whole shown_open
  for (( i = 1; i <= ${#whole}; i++ )); do
    shown_whole+=("${(r:widest:)whole[i]}  -- ${about_whole[i]}")
  done
  for (( i = 1; i <= ${#open}; i++ )); do
    shown_open+=("${(r:widest:)open[i]}  -- ${about_open[i]}")
  done
  # compadd quotes what it inserts.
  compadd -l -d shown_whole -a whole
  compadd -S '' -l -d shown_open -a open
  if (( files )); then compset -P '--*='; _files; fi
}
if [[ $funcstack[1] == _kdgat ]]; then _kdgat "$@"; else compdef _kdgat kdgat; fi
)sh";

constexpr const char* kFish = R"sh(# kdgat completion for fish; made by: kdgat completion fish
function __kdgat_at
  set -l words (commandline -opc)
  set -l current (commandline -ct)
  for line in (printf '%s\0' $words[2..-1] "$current" | kdgat completion at 2>/dev/null)
    if test "$line" = \t
      # Of --flag=FILE the path alone is completed.
      set -l flag (string match -r -- '^--[^=]*=' "$current")
      for path in (__fish_complete_path (string replace -- "$flag" "" "$current"))
        printf '%s%s\n' "$flag" "$path"
      end
    else
      printf '%s\n' "$line"
    end
  end
end
complete -c kdgat -f -a '(__kdgat_at)'
)sh";

constexpr const char* kCompletionHelp = R"(Print the completion script of a shell.

  source <(kdgat completion bash)
  kdgat completion zsh > ~/.zfunc/_kdgat
  kdgat completion fish > ~/.config/fish/completions/kdgat.fish

usage: kdgat completion bash | zsh | fish | at

The scripts ask `kdgat completion at`: it reads the words after kdgat, each ended by a null, and
prints a line for each word that may stand at the place of the last one: the word, a tab and what it
is. A line with a tab alone stands for names of files.
)";

int completion_verb(Context& context, const std::vector<std::string>& arguments) {
  std::string what;
  CommandLine line(context, "kdgat completion");
  line.word(what, {"bash", "zsh", "fish"});
  line.parse(arguments);
  if (what == "at") {
    std::vector<std::string> words;
    for (std::string word; std::getline(std::cin, word, '\0');) words.push_back(word);
    context.out << completion_text(completion_at(verbs(), context, words));
  } else if (what == "bash") {
    context.out << kBash;
  } else if (what == "zsh") {
    context.out << kZsh;
  } else if (what == "fish") {
    context.out << kFish;
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
