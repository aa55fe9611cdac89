#include "pipeline/show/status.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <optional>
#include <sstream>

#include "pipeline/show/text.h"

using namespace kdgat;
using Catch::Contains;
using nlohmann::json;

namespace {

struct FakeClock {
  double now = 0;
  Clock clock() {
    return [this] { return now; };
  }
};

Progress epoch(int64_t done) {
  return {"autoencoder",
          "student",
          "epoch",
          done,
          12,
          {{"loss", 0.0412}, {"val AUC", 0.941}, {"rate", 38212.0}, {"rate_unit", "graphs/s"}},
          uint64_t{118} << 20};
}

int lines_in(const std::string& text) {
  return static_cast<int>(std::count(text.begin(), text.end(), '\n'));
}

/// Sets a variable for the length of a test.
class Variable {
 public:
  Variable(const char* name, const char* value) : name_(name) {
    if (const char* old = std::getenv(name)) old_ = old;
    if (value != nullptr) ::setenv(name, value, 1);
    if (value == nullptr) ::unsetenv(name);
  }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;
  ~Variable() {
    if (old_) ::setenv(name_, old_->c_str(), 1);
    if (!old_) ::unsetenv(name_);
  }

 private:
  const char* name_;
  std::optional<std::string> old_;
};

}  // namespace

TEST_CASE("status writes at most a line every ten seconds where there is no terminal", "[status]") {
  std::ostringstream out;
  FakeClock time;
  const auto status = make_terminal_status(out, Terminal{}, time.clock());
  status->begin("autoencoder");
  for (int i = 0; i < 1000; ++i, time.now += 0.1) status->progress(epoch(i % 12));
  CHECK(lines_in(out.str()) == 9);
  CHECK_THAT(out.str(), Contains("autoencoder  student  epoch ") && !Contains("\033"));
}

TEST_CASE("status of a quick step is one line with summary, memory and time", "[status]") {
  std::ostringstream out;
  FakeClock time;
  const auto status = make_terminal_status(out, Terminal{}, time.clock());
  status->announce({"classifier teacher"});
  status->begin("autoencoder");
  status->progress(epoch(12));
  status->end({"autoencoder", "done", format_progress(epoch(12)), 6.1, uint64_t{118} << 20});
  CHECK(out.str() ==
        "autoencoder         student  epoch 12/12  loss 0.0412  val AUC 0.941   38,210 graphs/s   "
        "118 MiB    6.1 s\n");
}

TEST_CASE("status draws a bar with rate, time left and memory within the terminal", "[status]") {
  std::ostringstream out;
  FakeClock time;
  Terminal terminal;
  terminal.moves = true;
  terminal.columns = 100;
  const auto status = make_terminal_status(out, terminal, time.clock());
  status->begin("autoencoder");
  for (int i = 0; i <= 3; ++i, time.now += 1) status->progress(epoch(i));
  const std::string last = out.str().substr(out.str().rfind('\r'));
  CHECK_THAT(last, Contains("[====>           ]  25 %") && Contains("epoch 3/12") &&
                       Contains("118 MiB  9.0 s left"));
  CHECK(text_width(last) - 4 <= 99);
  status->message("warning", "careful");
  CHECK_THAT(out.str(), Catch::EndsWith("\r\033[Kwarning: careful\n"));
}

TEST_CASE("status leaves out what has no room, and cuts no figure", "[status]") {
  const int columns = GENERATE(60, 80, 120, 140);
  std::ostringstream out;
  FakeClock time;
  Terminal terminal;
  terminal.moves = true;
  terminal.columns = columns;
  const auto status = make_terminal_status(out, terminal, time.clock());
  status->announce({"classifier", "without edges"});
  status->begin("without edges");
  Progress now = epoch(3);
  now.step = "without edges";
  now.phase = "epoch 3/200";
  now.unit = "step";
  now.total = 600;
  for (now.done = 0; now.done <= 100; now.done += 50, time.now += 0.5) status->progress(now);
  const std::string line = out.str().substr(out.str().rfind("without edges"));
  INFO(line);
  CHECK(text_width(line) <= static_cast<std::size_t>(columns) - 1);
  CHECK_THAT(line, Contains("epoch 3/200  step 100/600") && Contains("118 MiB"));
  CHECK((line.find("  5.0 s left") != std::string::npos) == (columns > 60));
  CHECK((line.find("loss") == std::string::npos) ==
        (line.find("loss 0.0412") == std::string::npos));
  CHECK((line.find(" gr") == std::string::npos) == (line.find("graphs/s") == std::string::npos));
  CHECK((line.find('[') != std::string::npos) == (columns > 80));
  CHECK((line.find("graphs/s") != std::string::npos) == (columns == 140));
}

TEST_CASE("status cuts a bar to a narrow terminal, never through a character", "[status]") {
  std::ostringstream out;
  FakeClock time;
  Terminal terminal;
  terminal.moves = true;
  terminal.columns = 40;
  const auto status = make_terminal_status(out, terminal, time.clock());
  status->begin("a");
  Progress now = epoch(3);
  now.step = "größe";
  now.phase = std::string(60, 'x') + "äöü";
  time.now = 1;
  status->progress(now);
  CHECK(text_width(out.str()) <= 39);
  CHECK_THAT(out.str(), Contains("118 MiB"));
}

TEST_CASE("status at quiet says only what went wrong", "[status]") {
  std::ostringstream out;
  FakeClock time;
  Terminal terminal;
  terminal.verbosity = -1;
  const auto status = make_terminal_status(out, terminal, time.clock());
  status->begin("a");
  time.now = 60;
  status->progress(epoch(3));
  status->message("info", "all is well");
  status->end({"a", "done", "", 1, 0});
  CHECK(out.str().empty());
  status->message("error", "broken");
  status->end({"b", "skipped", "needs a, which failed", 0, 0});
  CHECK(out.str() == "error: broken\nb         skipped  needs a, which failed\n");
}

TEST_CASE("status honours NO_COLOR, CLICOLOR_FORCE and a dumb terminal", "[status]") {
  const Variable term("TERM", "xterm"), none("NO_COLOR", nullptr), force("CLICOLOR_FORCE", nullptr);
  int ends[2];
  REQUIRE(::pipe(ends) == 0);
  CHECK(!Terminal::of(ends[1], 0).colours);
  CHECK(!Terminal::of(ends[1], 0).moves);
  {
    const Variable on("CLICOLOR_FORCE", "1");
    CHECK(Terminal::of(ends[1], 0).colours);
    const Variable zero("CLICOLOR_FORCE", "0");
    CHECK(!Terminal::of(ends[1], 0).colours);
  }
  const Variable on("CLICOLOR_FORCE", "1"), off("NO_COLOR", "1");
  CHECK(!Terminal::of(ends[1], 0).colours);
  ::close(ends[0]);
  ::close(ends[1]);
  const int terminal = ::posix_openpt(O_RDWR | O_NOCTTY);
  if (terminal < 0) return;
  {
    const Variable coloured("NO_COLOR", nullptr);
    CHECK(Terminal::of(terminal, 0).moves);
    const Variable dumb("TERM", "dumb"), calm("CLICOLOR_FORCE", nullptr);
    CHECK(!Terminal::of(terminal, 0).moves);
    CHECK(!Terminal::of(terminal, 0).colours);
  }
  ::close(terminal);
}

TEST_CASE("status as JSON lines holds one object an event", "[status]") {
  std::ostringstream out;
  FakeClock time;
  time.now = 5;
  const auto status = make_jsonl_status(out, time.clock());
  status->announce({"a"});
  status->begin("a");
  time.now = 6.5;
  status->progress(epoch(3));
  status->end({"a", "done", "fine", 1.5, 7});
  status->message("warning", "two\nlines \xff");
  std::istringstream in(out.str());
  std::vector<json> events;
  for (std::string line; std::getline(in, line);) events.push_back(json::parse(line));
  REQUIRE(events.size() == 5);
  CHECK(events[2].at("event") == "progress");
  CHECK(events[2].at("done") == 3);
  CHECK(events[2].at("time") == 1.5);
  CHECK(events[3].at("outcome") == "done");
}

TEST_CASE("bytes are told as sizes", "[status]") {
  CHECK(format_progress({"s", "", "bytes", 1 << 20, 4 << 20, json::object(), 0}) ==
        "1 MiB of 4 MiB");
}

TEST_CASE("names cannot steer the terminal", "[status]") {
  std::ostringstream out;
  const auto status = make_terminal_status(out, Terminal{}, [] { return 0.0; });
  status->message("warning", "a\x1b[31mb");
  status->end({"x\x1b[0m", "done", "y\x07", 0, 0});
  CHECK(out.str() == "warning: a?[31mb\nx?[0m     y?\n");
}
