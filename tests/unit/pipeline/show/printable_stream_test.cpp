#include "pipeline/show/printable_stream.h"

#include <catch2/catch.hpp>
#include <sstream>

#include "pipeline/show/text.h"
#include "support/can/log_text.h"
#include "support/programs/command.h"
#include "support/programs/shell_on_terminal.h"

using namespace kdgat;
using namespace kdgat::test;
namespace fs = std::filesystem;

TEST_CASE("what is written passes without control characters, in parts or whole", "[show]") {
  const std::string text = "a\x1b[2J\tb\n\x07\x7f größe \xc2\x9b \xc2\xa0 \r\x9b 2J €😀";
  const std::string wanted = "a?[2J\tb\n?? größe ? \xc2\xa0 ?? 2J €😀";
  std::ostringstream whole, parts;
  {
    const PrintableStream guard(whole), other(parts);
    whole << text;
    for (const char c : text) parts << c << std::flush;
    write_control(whole, "\x1b[m");
    write_control(parts, "\x1b[m");
  }
  CHECK(whole.str() == wanted + "\x1b[m");
  CHECK(parts.str() == wanted + "\x1b[m");
  whole << "\x1b";  // the guard has gone
  CHECK(whole.str().back() == '\x1b');
}

TEST_CASE("a long text is shortened between its ends, and no character is cut", "[show]") {
  CHECK(shortened("short", 10) == "short");
  std::string text;
  for (int i = 0; i < 1000; ++i) text += "ö";
  const std::string cut = shortened(text, 101);
  CHECK(cut.size() < 200);
  CHECK(cut.find("bytes left out") != std::string::npos);
  CHECK(cut.starts_with("öö"));
  CHECK(cut.ends_with("öö"));
  CHECK(nlohmann::json(cut).dump().size() > 2);  // throws for what is no UTF-8
}

TEST_CASE("a terminal is steered by no text of a file", "[show]") {
  const ScratchFolder scratch;
  write_text(scratch / "p.yaml", "stages:\n  a: {stage: \"\x1b]0;title\x07\"}\n");
  const std::string kdgat = fs::absolute(kdgat_binary()).string();
  for (const std::string words : {"run p.yaml", "config show p.yaml", "config show \x1b[2J.yaml"}) {
    ShellOnTerminal terminal({"bash", "-c", "'" + kdgat + "' " + words + "; echo ended"},
                             scratch.path(), {{"TERM", "xterm"}, {"NO_COLOR", "1"}});
    REQUIRE(terminal.shows("ended"));
    INFO(words << terminal.shown());
    CHECK(terminal.shown().find("\x1b]") == std::string::npos);
    CHECK(terminal.shown().find("\x1b[2J") == std::string::npos);
    CHECK(terminal.shown().find('\x07') == std::string::npos);
  }
}

TEST_CASE("the program's own colours reach a terminal", "[show]") {
  const ScratchFolder scratch;
  const std::string kdgat = fs::absolute(kdgat_binary()).string();
  ShellOnTerminal terminal({"bash", "-c", "'" + kdgat + "' run --nothing; echo ended"},
                           scratch.path(), {{"TERM", "xterm"}});
  REQUIRE(terminal.shows("ended"));
  INFO(terminal.shown());
  CHECK(terminal.shown().find("\x1b[31m") != std::string::npos);
}
