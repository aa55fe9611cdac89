// What a terminal of eighty columns is shown, and in which colours.
#include <algorithm>
#include <catch2/catch.hpp>
#include <sstream>
#include <string>

#include "support/programs/cli.h"

using Catch::Contains;

namespace {

/// The first line that is wider than eighty columns; "" if there is none.
std::string too_wide(const std::string& text) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    // Of a character of several bytes the first one counts.
    const auto columns = std::count_if(line.begin(), line.end(), [](char c) {
      return (static_cast<unsigned char>(c) & 0xC0) != 0x80;
    });
    if (columns > 80) return line;
  }
  return "";
}

}  // namespace

TEST_CASE("tables fit eighty columns, and keep their form where nothing is a terminal",
          "[cli][terminal]") {
  const ScratchFolder scratch;
  const std::string words = "run --preset smoke data.synth.seconds=20 max_epochs=3 --threads 1 ";
  const std::string kdgat = "'" + fs::absolute(kdgat_binary()).string() + "' ";
  const auto narrow = [&](const std::string& said) {
    const CommandResult result =
        run_shell("COLUMNS=80 LC_ALL=C.UTF-8 " + kdgat + said, scratch.path());
    INFO(said << "\n" << result.err);
    CHECK(result.exit_code == 0);
    CHECK(too_wide(result.out) == "");
    return result.out;
  };
  CHECK_THAT(narrow(words + "--name first"), Contains("classifier"));
  narrow(words + "classifier.lr=0.001 --name second");
  const std::string shown = narrow("runs show first | grep -v '^next: '");
  CHECK_THAT(shown, Contains("█"));
  CHECK_THAT(narrow("runs compare first second"), Contains("*: the best by validation data"));
  CHECK_THAT(narrow("runs list"), Contains("second"));
  narrow("runs pivot rows=name cols=classifier.lr value=classifier.val_loss");
  narrow("top --once");
  narrow("plugins list");
  narrow("plan --preset smoke");
  const CommandResult wide = run_shell(kdgat + "plugins list", scratch.path());
  CHECK(too_wide(wide.out) != "");
  const CommandResult plain = run_shell("LC_ALL=C " + kdgat + "runs show first", scratch.path());
  CHECK(plain.out.find("█") == std::string::npos);
  CHECK_THAT(plain.out, Contains("#"));
}

TEST_CASE("test figures are never marked as the best", "[cli][terminal]") {
  const ScratchFolder scratch;
  const std::string words = "run --preset smoke data.synth.seconds=20 max_epochs=1 --threads 1 ";
  must_kdgat(words + "--name first", scratch.path());
  must_kdgat(words + "classifier.lr=0.05 --name second", scratch.path());
  std::istringstream lines(must_kdgat("runs compare first second", scratch.path()).out);
  bool is_table = false;
  for (std::string line; std::getline(lines, line);) {
    is_table = is_table || line.rfind("figure", 0) == 0;
    INFO(line);
    if (is_table && line.find("  test") != std::string::npos) {
      CHECK(line.find('*') == std::string::npos);
    }
  }
  CHECK(is_table);
}

TEST_CASE("usage errors are coloured where colours are wanted, and nowhere else",
          "[cli][terminal]") {
  const ScratchFolder scratch;
  const std::string kdgat = "'" + fs::absolute(kdgat_binary()).string() + "' rnu";
  const auto said = [&](const std::string& environment) {
    const CommandResult result = run_shell("TERM=xterm " + environment + kdgat, scratch.path());
    CHECK(result.exit_code == 2);
    return result.err;
  };
  const std::string plain = "error: unknown command rnu\n  hint: did you mean kdgat run?\n";
  CHECK(said("") == plain);
  CHECK(said("NO_COLOR=1 CLICOLOR_FORCE=1 ") == plain);
  CHECK(said("CLICOLOR_FORCE=1 ") ==
        "\033[31merror:\033[0m unknown command rnu\n  hint: did you mean kdgat run?\n");
}
