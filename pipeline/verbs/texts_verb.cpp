// `kdgat write-texts DIR`: the texts that are installed, made of what the program prints: man
// pages, completions, the page of licences and the SBOM. DIR is the share/ folder of an
// installation.
#include <ostream>
#include <sstream>

#include "kdgat/atomic_file.h"
#include "pipeline/cli/command_line.h"
#include "pipeline/verbs/commands/linked_libraries.h"
#include "pipeline/verbs/verbs.h"

namespace kdgat {
namespace {

/// What a command prints.
std::string output_of(Context& context, const std::vector<std::string>& words) {
  std::ostringstream out;
  const int code = run_command(verbs(), words, out, context.err);
  if (code != 0) throw Error(ExitCode::kStageFailed, "kdgat " + words.front() + " failed");
  return out.str();
}

/// Text that roff takes as it stands.
std::string escaped(const std::string& text) {
  std::string out;
  bool begins = true;
  for (const char c : text) {
    if (begins && (c == '.' || c == '\'')) out += "\\&";
    if (c == '\\') {
      out += "\\e";
    } else if (c == '-') {
      out += "\\-";  // else a hyphen, which is no minus to copy
    } else {
      out += c;
    }
    begins = c == '\n';
  }
  return out;
}

std::string section(const std::string& title, const std::string& text) {
  return ".SH " + title + "\n.nf\n" + escaped(text) + (text.ends_with('\n') ? "" : "\n") + ".fi\n";
}

/// The lines of a help that begin with "usage:", and all others.
std::pair<std::string, std::string> without_usage(const std::string& help) {
  std::string usage, rest;
  std::istringstream lines(help);
  bool is_usage = false;
  for (std::string line; std::getline(lines, line);) {
    is_usage = line.starts_with("usage:") || (is_usage && line.starts_with("       "));
    (is_usage ? usage : rest) += (line.starts_with("usage: ") ? line.substr(7) : line) + "\n";
  }
  return {usage, rest};
}

std::string man_page(const std::string& name, const std::string& summary, const std::string& help,
                     const std::string& see_also) {
  const auto [usage, rest] = without_usage(help);
  std::string out = ".TH " + name + " 1 \"\" \"kdgat " KDGAT_VERSION "\" \"kdgat\"\n";
  out += ".SH NAME\n" + escaped(name) + " \\- " + escaped(summary) + "\n";
  if (!usage.empty()) out += section("SYNOPSIS", usage);
  out += section("DESCRIPTION", rest);
  return out + ".SH SEE ALSO\n" + see_also + "\n";
}

void write(const std::filesystem::path& path, const std::string& text) {
  std::filesystem::create_directories(path.parent_path());
  write_file(path, text);
}

int texts_verb(Context& context, const std::vector<std::string>& arguments) {
  std::vector<std::string> folders;
  CommandLine line(context, "kdgat write-texts");
  line.words([&](const std::string& folder) { folders.push_back(folder); });
  line.parse(arguments);
  if (folders.size() != 1) {
    throw Error(ExitCode::kUsage, "one folder is needed", "kdgat write-texts /usr/local/share");
  }
  const std::filesystem::path share = folders.front(), man = share / "man/man1";
  std::string all;
  for (const Verb& verb : verbs()) {
    if (verb.hidden) continue;
    const std::string name = "kdgat-" + verb.name;
    all += (all.empty() ? ".BR " : " ,\n.BR ") + escaped(name) + " (1)";
    write(man / (name + ".1"),
          man_page(name, verb.summary, output_of(context, {verb.name, "--help"}), ".BR kdgat (1)"));
  }
  const std::string help =
      output_of(context, {"--help"}) + "\n" + output_of(context, {"help", "exit-codes"});
  write(
      man / "kdgat.1",
      man_page("kdgat", "train graph neural networks in stages on the device at hand", help, all));
  write(share / "bash-completion/completions/kdgat", output_of(context, {"completion", "bash"}));
  write(share / "zsh/site-functions/_kdgat", output_of(context, {"completion", "zsh"}));
  write(share / "fish/vendor_completions.d/kdgat.fish", output_of(context, {"completion", "fish"}));
  write(share / "doc/kdgat/THIRD_PARTY.md", licence_page());
  write(share / "doc/kdgat/kdgat.cdx.json", software_bill());
  return 0;
}

}  // namespace

Verb make_texts_verb() { return {"write-texts", "", Needs::kNothing, texts_verb, nullptr, true}; }

}  // namespace kdgat
