// `kdgat data` as a person meets it: results, messages and exit codes.
#include <unistd.h>

#include <catch2/catch.hpp>
#include <csignal>
#include <fstream>
#include <set>
#include <sstream>
#include <string>

#include "support/programs/background.h"
#include "support/programs/cli.h"
#include "support/programs/held_pipe.h"

namespace {

constexpr const char* kHeader = "timestamp,arbitration_id,data_field,attack\n";

void write(const fs::path& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

/// Good rows of the can-train-and-test form, ten a second.
std::string rows(int count, int first = 0) {
  std::string out;
  for (int i = first; i < first + count; ++i) {
    out += std::to_string(1000 + i / 10) + "." + std::to_string(i % 10) + ",1A" +
           std::to_string(i % 7) + ",0011223344556677,0\n";
  }
  return out;
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

/// Six seconds of two vehicles in logs/, imported to data/.
void make_data(const ScratchFolder& scratch) {
  const CommandResult synth =
      run_kdgat("data synth -o logs --seconds 6 --vehicles 2 --attacks dos,replay", scratch.path());
  INFO(synth.err);
  REQUIRE(synth.exit_code == 0);
  const CommandResult import = run_kdgat("data import logs -o data", scratch.path());
  INFO(import.err);
  REQUIRE(import.exit_code == 0);
}

bool is_empty_or_absent(const fs::path& folder) {
  return !fs::exists(folder) || fs::is_empty(folder);
}

}  // namespace

TEST_CASE("data help starts with examples", "[cli][data]") {
  const ScratchFolder scratch;
  const CommandResult all = run_kdgat("data --help", scratch.path());
  CHECK(all.exit_code == 0);
  for (const std::string action : {"import", "inspect", "verify", "synth", "inject", "convert"}) {
    INFO(action);
    CHECK(contains(all.out, "kdgat data " + action));
    const CommandResult one = run_kdgat("data " + action + " --help", scratch.path());
    CHECK(one.exit_code == 0);
    CHECK(one.out.rfind("Examples\n", 0) == 0);
    CHECK(contains(one.out, "--json"));
  }
  CHECK(contains(run_kdgat("data import --help", scratch.path()).out, "--window"));
}

TEST_CASE("stride follows window unless it is given, and gaps between windows are warned of",
          "[cli][data]") {
  const ScratchFolder scratch;
  write(scratch / "a.csv", kHeader + rows(1001));
  const auto import = [&](const std::string& options) {
    const CommandResult result =
        run_kdgat("data import a.csv -o out --json " + options, scratch.path());
    INFO(result.err);
    REQUIRE(result.exit_code == 0);
    return json::parse(result.out);
  };
  CHECK(import("")["graphs"] == 10);
  CHECK(import("window=50")["graphs"] == 20);
  CHECK(import("window=50")["warnings"].empty());
  CHECK(import("data.window=50 data.stride=25")["graphs"] == 39);
  const json gaps = import("window=50 stride=200");
  REQUIRE(gaps["warnings"].size() == 1);
  CHECK(contains(gaps["warnings"][0]["message"],
                 "stride is 200 and window 50: 75 % of the frames are in no window"));
  const std::string inspect = "data inspect a.csv window=50 ";
  CHECK(must_kdgat(inspect, scratch.path()).err.empty());
  CHECK(contains(must_kdgat(inspect + "stride=100", scratch.path()).err,
                 "50 % of the frames are in no window"));
}

TEST_CASE("words the data verb does not know name the nearest and exit with 2", "[cli][data]") {
  const ScratchFolder scratch;
  write(scratch / "a.csv", kHeader + rows(300));
  const auto check = [&](const std::string& words, const std::string& message) {
    const CommandResult result = run_kdgat(words, scratch.path());
    INFO(words << "\n" << result.err);
    CHECK(result.exit_code == 2);
    CHECK(contains(result.err, message));
    CHECK(result.out.empty());
    CHECK(!fs::exists(scratch / "out"));
  };
  check("data imprt a.csv -o out", "did you mean import?");
  check("data import a.csv -o out windw=50", "did you mean window?");
  check("data import a.csv -o out --srtide 50", "did you mean --stride?");
  check("data import a.csv -o out window=one", "window: ");
  check("data import a.csv -o out window=1", "window: 1 is outside [2, 1048576]");
  check("data import a.csv -o out --format doc", "format: ");
  check("data import a.csv", "needs -o DIR");
  check("data import -o out", "needs a path");
  check("data inspect", "needs a path");
  check("data synth -o out --attacks dos,flood", "attacks: ");
  check("data synth -o out logs", "unexpected word logs");
  check("data synth -no out", "-no takes no value");
  // All problems at once.
  const CommandResult both = run_kdgat("data import a.csv -o out windw=5 strid=1", scratch.path());
  CHECK(contains(both.err, "windw"));
  CHECK(contains(both.err, "strid"));
}

TEST_CASE("synth, import, inspect and verify follow one another", "[cli][data]") {
  const ScratchFolder scratch;
  make_data(scratch);
  CHECK(fs::exists(scratch / "logs" / "train_02_with_attacks" / "dos-vehicle1.csv"));
  const CommandResult again = run_kdgat("data import logs -o data --json", scratch.path());
  INFO(again.err);
  REQUIRE(again.exit_code == 0);
  const json imported = json::parse(again.out);
  CHECK(imported.at("reused") == true);
  CHECK(imported.at("attack") > 0);

  const CommandResult table = run_kdgat("data inspect data", scratch.path());
  CHECK(table.exit_code == 0);
  CHECK(contains(table.out, "dos-vehicle1.csv"));
  CHECK(contains(table.out, "test_02_unknown_vehicle_known_attack"));
  const json seen = json::parse(run_kdgat("data inspect data --json", scratch.path()).out);
  CHECK(seen.at("facts").at("attack") == imported.at("attack"));
  CHECK(seen.at("parts").contains("val"));
  const json log = json::parse(
      run_kdgat("data inspect logs/train_02_with_attacks/dos-vehicle1.csv --json", scratch.path())
          .out);
  CHECK(log.at("files").size() == 1);

  CHECK(run_kdgat("data verify data", scratch.path()).out == "ok\n");
  CHECK(run_kdgat("data verify data/graphs.safetensors", scratch.path()).out == "ok\n");
}

TEST_CASE("a dry run of the data verb writes nothing", "[cli][data]") {
  const ScratchFolder scratch;
  CHECK(run_kdgat("data synth -o logs -n", scratch.path()).exit_code == 0);
  CHECK(!fs::exists(scratch / "logs"));
  write(scratch / "a.csv", kHeader + rows(300));
  const CommandResult import = run_kdgat("data import a.csv -o out -n window=50", scratch.path());
  CHECK(import.exit_code == 0);
  CHECK(contains(import.out, "would import a.csv to out"));
  CHECK(!fs::exists(scratch / "out"));
}

TEST_CASE("synth writes the same bytes for the same seed in every form", "[cli][data]") {
  const ScratchFolder scratch;
  for (const std::string format : {"can-train-and-test", "hcrl", "candump"}) {
    INFO(format);
    const std::string words = " --seconds 2 --attacks dos --format " + format;
    CHECK(run_kdgat("data synth -o a" + words, scratch.path()).exit_code == 0);
    CHECK(run_kdgat("data synth -o b" + words, scratch.path()).exit_code == 0);
    CHECK(run_shell("diff -r a b", scratch.path()).exit_code == 0);
    const CommandResult import =
        run_kdgat("data import a -o data-" + format + " --json", scratch.path());
    INFO(import.err);
    REQUIRE(import.exit_code == 0);
    CHECK(json::parse(import.out).at("sources")[0].at("format") == format);
    CHECK(run_shell("rm -r a b", scratch.path()).exit_code == 0);
  }
}

TEST_CASE("input that cannot be read at all exits with 3 and says why", "[cli][data]") {
  const ScratchFolder scratch;
  const auto check = [&](const std::string& source, const std::string& message) {
    const CommandResult result = run_kdgat("data import " + source + " -o out", scratch.path());
    INFO(source << "\n" << result.err);
    CHECK(result.exit_code == 3);
    CHECK(contains(result.err, message));
    CHECK(contains(result.err, source == "-" ? "standard input" : source));
    CHECK(is_empty_or_absent(scratch / "out"));
  };
  check("missing.csv", "no such file or folder");
  write(scratch / "empty.csv", "");
  check("empty.csv", "empty");
  check("-", "empty");
  write(scratch / "header.csv", "timestamp,arbitration_id,attack\n1.0,1A0,0\n");
  check("header.csv", "column");
  write(scratch / "prose.txt", "It was a dark and stormy night;\nthe rain fell in torrents.\n");
  check("prose.txt", "form");
  fs::create_directory(scratch / "nothing");
  check("nothing", "no ");
  if (::geteuid() == 0) {
    check("/proc/self/mem", "read");  // root may read every file; this one it cannot
  } else {
    write(scratch / "secret.csv", kHeader + rows(300));
    fs::permissions(scratch / "secret.csv", fs::perms::none);
    check("secret.csv", "ermission denied");
  }
}

TEST_CASE("a malformed row is counted and shown, and --strict makes it an error", "[cli][data]") {
  struct Case {
    const char* name;
    const char* row;
    const char* message;
  };
  const Case cases[] = {
      {"label", "1030.0,1A0,0011223344556677,-1", "label"},
      {"not_hex", "1030.0,1G0,0011223344556677,0", "id"},
      {"id_30_bits", "1030.0,20000000,0011223344556677,0", "29 bits"},
      {"payload", "1030.0,1A0,001122334455667788,0", "8 bytes"},
      {"columns", "1030.0,1A0", "too few fields"},
  };
  const ScratchFolder scratch;
  for (const Case& c : cases) {
    const std::string file = std::string(c.name) + ".csv";
    write(scratch / file, kHeader + rows(300) + c.row + "\n" + rows(300, 301));
    INFO(file);
    const CommandResult lenient =
        run_kdgat("data import " + file + " -o " + c.name + " --json", scratch.path());
    INFO(lenient.err);
    REQUIRE(lenient.exit_code == 0);
    CHECK(contains(lenient.err, file + ":302"));
    CHECK(contains(lenient.err, c.message));
    CHECK(json::parse(lenient.out).at("sources")[0].at("malformed") == 1);
    CHECK(json::parse(lenient.out).at("rows") == 600);

    const CommandResult strict =
        run_kdgat("data import " + file + " -o strict --strict", scratch.path());
    INFO(strict.err);
    CHECK(strict.exit_code == 3);
    CHECK(contains(strict.err, file + ":302"));
    CHECK(contains(strict.err, c.message));
    CHECK(is_empty_or_absent(scratch / "strict"));
  }
}

TEST_CASE("a payload of more than 64 bytes is refused in CAN FD frames", "[cli][data]") {
  const ScratchFolder scratch;
  std::string log;
  for (int i = 0; i < 300; ++i) {
    log += "(" + std::to_string(1000 + i) + ".000000) can0 1A0##1" + std::string(128, '5') + "\n";
  }
  write(scratch / "fd.log", log + "(1300.000000) can0 1A0##1" + std::string(130, '5') + "\n");
  const CommandResult result = run_kdgat("data import fd.log -o out", scratch.path());
  INFO(result.err);
  CHECK(result.exit_code == 0);
  CHECK(contains(result.err, "fd.log:301"));
  CHECK(contains(result.err, "64 bytes"));
}

TEST_CASE("time going backwards is told with its place", "[cli][data]") {
  const ScratchFolder scratch;
  write(scratch / "back.csv", kHeader + rows(300) + rows(300));
  const CommandResult result = run_kdgat("data import back.csv -o out", scratch.path());
  INFO(result.err);
  CHECK(result.exit_code == 0);
  CHECK(contains(result.err, "back.csv:302"));
  CHECK(contains(result.err, "time"));
}

TEST_CASE("verify refuses truncated and flipped stores with 3", "[cli][data]") {
  const ScratchFolder scratch;
  make_data(scratch);
  const std::string store = (scratch / "data" / "graphs.safetensors").string();
  REQUIRE(run_shell("cp -r data whole", scratch.path()).exit_code == 0);
  const auto size = fs::file_size(store);
  for (const double part : {0.0, 0.001, 0.5, 0.99}) {
    INFO(part << " of the bytes");
    fs::resize_file(store, static_cast<std::uintmax_t>(static_cast<double>(size) * part));
    const CommandResult result = run_kdgat("data verify data", scratch.path());
    INFO(result.err);
    CHECK(result.exit_code == 3);
    CHECK(contains(result.err, "graphs.safetensors"));
    fs::copy_file(scratch / "whole" / "graphs.safetensors", store,
                  fs::copy_options::overwrite_existing);
  }
  for (const double part : {0.001, 0.3, 0.6, 0.999}) {
    INFO("byte at " << part);
    std::fstream file(store, std::ios::in | std::ios::out | std::ios::binary);
    const auto at = static_cast<std::streamoff>(static_cast<double>(size) * part);
    file.seekg(at);
    const char byte = static_cast<char>(file.get() ^ 4);
    file.seekp(at);
    file.put(byte);
    file.close();
    const CommandResult result = run_kdgat("data verify data --json", scratch.path());
    INFO(result.err);
    CHECK(result.exit_code == 3);
    CHECK(json::parse(result.out).at("ok") == false);
    fs::copy_file(scratch / "whole" / "graphs.safetensors", store,
                  fs::copy_options::overwrite_existing);
  }
  CHECK(run_kdgat("data verify data", scratch.path()).exit_code == 0);
  CHECK(run_kdgat("data verify logs", scratch.path()).exit_code == 3);
  CHECK(run_kdgat("data verify nowhere", scratch.path()).exit_code == 3);
}

TEST_CASE("a full disk leaves nothing half-written", "[cli][data]") {
  const ScratchFolder scratch;
  make_data(scratch);
  for (const std::string blocks : {"1", "8", "64"}) {
    const CommandResult result = run_shell(
        "ulimit -f " + blocks + "; " + kdgat_word() + " data import logs -o full", scratch.path());
    INFO(blocks << " KiB: " << result.err);
    CHECK(result.exit_code == 3);
    CHECK(contains(result.err, "full"));
    CHECK(is_empty_or_absent(scratch / "full"));
  }
  if (run_shell("mkdir small && mount -t tmpfs -o size=64k none small", scratch.path()).exit_code ==
      0) {
    const CommandResult result = run_kdgat("data import logs -o small/data", scratch.path());
    INFO(result.err);
    CHECK(result.exit_code == 3);
    CHECK(contains(result.err, "No space left on device"));
    CHECK(is_empty_or_absent(scratch / "small" / "data"));
    CHECK(run_shell("umount small", scratch.path()).exit_code == 0);
  }
}

TEST_CASE("processes that import to the same place at once all succeed", "[cli][data]") {
  const ScratchFolder scratch;
  make_data(scratch);
  const std::string import = kdgat_word() + " data import logs -o same";
  const CommandResult result = run_shell(import + " & a=$!; " + import + " & b=$!; " + import +
                                             " & c=$!; wait $a && wait $b && wait $c",
                                         scratch.path());
  INFO(result.err);
  CHECK(result.exit_code == 0);
  CHECK(run_kdgat("data verify same", scratch.path()).out == "ok\n");
  int files = 0;
  for (const auto& entry : fs::directory_iterator(scratch / "same")) {
    INFO(entry.path());
    const fs::path name = entry.path().filename();
    CHECK((name.extension() == ".safetensors" || name == "import.json"));
    ++files;
  }
  CHECK(files == 3);
}

TEST_CASE("an interrupted import exits with 130, a terminated one with 143", "[cli][data]") {
  const ScratchFolder scratch;
  make_data(scratch);
  const std::string log = read_text(scratch / "logs/train_01_attack_free/attack-free-vehicle1.csv");
  std::string logs;  // far more than a pipe holds: once all is written, most of it was read
  while (logs.size() < std::size_t{1} << 20) logs += log;
  for (const auto& [signal, code] : {std::pair(SIGINT, 130), std::pair(SIGTERM, 143)}) {
    INFO(signal);
    HeldPipe pipe(scratch / "pipe");
    Background import("data import - -o store < pipe", scratch.path());
    pipe.write(logs);
    CHECK(import.end(signal) == code);
    INFO(read_text(scratch / "err"));
    CHECK(!fs::exists(scratch / "store"));
  }
}

TEST_CASE("data synth -o - writes one log of many buses, the same each time", "[data][cli]") {
  const ScratchFolder scratch;
  const std::string words = "data synth -o - --seconds 130 --vehicles 2";
  const CommandResult made = run_kdgat(words, scratch.path());
  REQUIRE(made.exit_code == 0);
  CHECK(run_kdgat(words, scratch.path()).out == made.out);
  std::istringstream in(made.out);
  double last = 0;
  int64_t rows = 0;
  std::set<std::string> buses;
  for (std::string line; std::getline(in, line); ++rows) {
    const double time = std::stod(line.substr(1, line.find(')') - 1));
    CHECK(time >= last);
    last = time;
    std::istringstream words_of(line.substr(line.find(')') + 2));
    std::string bus;
    words_of >> bus;
    buses.insert(bus);
  }
  CHECK(buses == std::set<std::string>{"can0", "can1"});
  CHECK(rows > 2 * 130 * 250);
  CHECK(last - 1'672'531'200 == Approx(130).margin(0.5));
  const CommandResult graphs = run_kdgat("data synth -o - --kind graphs", scratch.path());
  CHECK(graphs.exit_code == 2);
  CHECK_THAT(graphs.err, Catch::Contains("standard output"));
  CHECK(run_kdgat("data synth -o - --vehicles 9", scratch.path()).exit_code == 2);
}
