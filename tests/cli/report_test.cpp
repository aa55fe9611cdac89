// The report of a real run: its numbers, its form, and what a browser makes of it.
#include <catch2/catch.hpp>
#include <cstdio>

#include "support/can/log_text.h"
#include "support/programs/cli.h"
#include "support/programs/markup_check.h"
#include "support/programs/python.h"

using Catch::Contains;

namespace {

/// One short run and another with a second learning rate, made once for all tests of this file.
struct TwoRuns {
  TwoRuns() {
    const std::string words = "run --preset smoke data.synth.seconds=20 max_epochs=3 --threads 1";
    must_kdgat(words, scratch.path());
    first = newest_run(scratch / "runs/smoke");
    must_kdgat(words + " classifier.lr=0.001", scratch.path());
    second = newest_run(scratch / "runs/smoke");
    must_kdgat("report " + second.string() + " -o one.html", scratch.path());
    must_kdgat("report " + first.string() + " " + second.string() + " -o two.html", scratch.path());
  }
  static const TwoRuns& made() {
    static const TwoRuns runs;
    return runs;
  }
  ScratchFolder scratch;
  fs::path first, second;
};

std::string three_decimals(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3f", value);
  return text;
}

/// Chromium, which fetches nothing, or says that the test is skipped.
bool has_chromium() {
  if (run_shell("command -v chromium", fs::temp_directory_path()).exit_code == 0) return true;
  std::printf("skipped: chromium is not installed\n");
  return false;
}

CommandResult browse(const std::string& words, const std::string& page, const fs::path& folder) {
  return run_shell(
      "timeout 600 chromium --headless --no-sandbox --disable-gpu --disable-dev-shm-usage "
      "--no-first-run --disable-background-networking --disable-component-update --disable-sync "
      "--user-data-dir=browser --enable-logging=stderr --host-resolver-rules='MAP * ~NOTFOUND' " +
          words + " 'file://" + (folder / page).string() + "'",
      folder);
}

/// The width and height a PNG says it has.
std::pair<int, int> png_size(const fs::path& file) {
  const std::string bytes = read_text(file);
  const auto number = [&](std::size_t at) {
    int out = 0;
    for (std::size_t i = 0; i < 4; ++i)
      out = out * 256 + static_cast<unsigned char>(bytes.at(at + i));
    return out;
  };
  return {number(16), number(20)};
}

/// What a page asked of the network, by Chromium's own log of it. What the browser asks for itself
/// has no page as its initiator.
std::vector<std::string> requests(const fs::path& net_log) {
  std::vector<std::string> out;
  const json log = json::parse(read_text(net_log));
  for (const json& event : log.at("events")) {
    if (!event.contains("params") || !event.at("params").is_object()) continue;
    const std::string url = event.at("params").value("url", "");
    const std::string initiator = event.at("params").value("initiator", "not an origin");
    if (initiator != "not an origin" && url.rfind("data:", 0) != 0) out.push_back(url);
  }
  return out;
}

}  // namespace

TEST_CASE("a report holds the numbers of its run", "[report][cli]") {
  const TwoRuns& runs = TwoRuns::made();
  const std::string page = read_text(runs.scratch / "one.html");
  CHECK(markup_problem(page) == "");
  const json metrics = json::parse(read_text(runs.second / "evaluate/metrics.json"));
  for (const char* model : {"autoencoder", "classifier"}) {
    for (const char* name : {"f1", "auc", "precision", "recall"}) {
      CHECK_THAT(page, Contains(three_decimals(metrics.at(model).at("core").at(name))));
    }
  }
  const json curves = json::parse(read_text(runs.second / "evaluate/curves.json"));
  const json& val = curves.at("classifier").at("val");
  CHECK(val.at("tp").size() <= 200);
  CHECK(val.at("tp").back().get<int>() + val.at("fp").back().get<int>() ==
        metrics.at("classifier").at("core").at("n_samples"));
  CHECK_THAT(page, Contains("kdgat run --preset smoke data.synth.seconds=20") &&
                       Contains("ROC, val") && Contains("Memory over time") &&
                       Contains("synthetic CAN traffic, 20 s") && Contains("dos-vehicle3.csv") &&
                       Contains("content hash") && Contains("asked for as <code>split=time"));
  // Autoencoder and detector were kept from the first run; the former shows its curves all the
  // same.
  CHECK_THAT(page, Contains("2 of them kept") && Contains("autoencoder</h3>"));

  const std::string two = read_text(runs.scratch / "two.html");
  CHECK(markup_problem(two) == "");
  CHECK_THAT(two, Contains("lr</td><td class=\"n\">0.003</td><td class=\"n\">0.001</td>"));
}

TEST_CASE("a report is HTML that another reader understands", "[report][cli]") {
  const std::optional<std::string> python = python_with("html.parser");
  if (!python) return;
  const TwoRuns& runs = TwoRuns::made();
  const CommandResult read = run_shell(*python + R"( - << 'END'
from html.parser import HTMLParser
class Reader(HTMLParser):
    def __init__(self):
        super().__init__()
        self.open, self.ids, self.links, self.charts = [], [], [], 0
    def handle_starttag(self, tag, attributes):
        got = dict(attributes)
        if "id" in got: self.ids.append(got["id"])
        if tag == "a": self.links.append(got["href"])
        if tag == "svg" and got.get("class") == "chart":
            assert got["aria-label"] and got["role"] == "img"
            self.charts += 1
        if tag not in ("meta", "link", "br"): self.open.append(tag)
    def handle_endtag(self, tag):
        assert self.open.pop() == tag, tag
for name in ("one.html", "two.html"):
    reader = Reader()
    reader.feed(open(name, encoding="utf-8").read())
    reader.close()
    assert not reader.open and reader.charts > (8 if name == "one.html" else 2), reader.charts
    assert len(set(reader.ids)) == len(reader.ids), reader.ids
    assert all(link[1:] in reader.ids for link in reader.links), reader.links
END)",
                                       runs.scratch.path());
  INFO(read.err);
  CHECK(read.exit_code == 0);
}

TEST_CASE("a browser opens a report without a word and without a request", "[report][cli]") {
  if (!has_chromium()) return;
  const TwoRuns& runs = TwoRuns::made();
  const fs::path folder = runs.scratch.path();
  // What is looked for would be seen.
  write_text(folder / "bad.html",
             "<img src=\"http://127.0.0.1:9/x.png\"><script>console.log('words')</script>");
  const CommandResult bad =
      browse("--log-net-log=bad.json --screenshot=bad.png", "bad.html", folder);
  CHECK(bad.err.find("CONSOLE") != std::string::npos);
  CHECK(requests(folder / "bad.json") == std::vector<std::string>{"http://127.0.0.1:9/x.png"});
  for (const char* page : {"one.html", "two.html"}) {
    for (const char* size : {"390,2000", "1200,2000"}) {
      INFO(page << " at " << size);
      const CommandResult shown =
          browse("--log-net-log=net.json --screenshot=shot.png --window-size=" + std::string(size),
                 page, folder);
      INFO(shown.err);
      REQUIRE(shown.exit_code == 0);
      CHECK(shown.err.find("CONSOLE") == std::string::npos);
      CHECK(requests(folder / "net.json") == std::vector<std::string>{});
      CHECK(png_size(folder / "shot.png").second == 2000);
      CHECK(fs::file_size(folder / "shot.png") > 20000);  // not an empty page
    }
    const CommandResult printed = browse("--print-to-pdf=page.pdf", page, folder);
    INFO(printed.err);
    CHECK(printed.exit_code == 0);
    CHECK(read_text(folder / "page.pdf").rfind("%PDF", 0) == 0);
  }
}
