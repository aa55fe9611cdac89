// Files that are damaged, hostile or oddly named, as a person meets them.
#include <sys/stat.h>

#include <catch2/catch.hpp>
#include <csignal>
#include <fstream>

#include "support/can/log_text.h"
#include "support/programs/background.h"
#include "support/programs/cli.h"

using Catch::Contains;

namespace {

constexpr const char* kLog = "logs/train_01_attack_free/attack-free-vehicle1.csv";

void make_logs(const ScratchFolder& scratch) {
  must_kdgat("data synth -o logs --seconds 6 --vehicles 2 --attacks dos", scratch.path());
}

/// Opens and closes a bracket more often than any stack is deep.
std::string nested(const std::string& opening, const std::string& closing) {
  std::string out;
  for (int i = 0; i < 200'000; ++i) out += opening;
  out += "1";
  for (int i = 0; i < 200'000; ++i) out += closing;
  return out;
}

/// Flips a bit in the middle of a file that keeps its size.
void flip_bit(const fs::path& file) {
  const auto middle = static_cast<std::streamoff>(fs::file_size(file) / 2);
  std::fstream bytes(file, std::ios::in | std::ios::out | std::ios::binary);
  bytes.seekg(middle);
  const char byte = static_cast<char>(bytes.get() ^ 4);
  bytes.seekp(middle);
  bytes.put(byte);
}

}  // namespace

TEST_CASE("pipes are imported and inspected as files are", "[cli][data]") {
  const ScratchFolder scratch;
  make_logs(scratch);
  const std::string log = kLog, kdgat = kdgat_word();
  const auto facts = [&](const std::string& line) {
    const CommandResult result = run_shell(line, scratch.path());
    INFO(line << "\n" << result.err);
    REQUIRE(result.exit_code == 0);
    return json::parse(result.out);
  };
  const json wanted = facts(kdgat + " data inspect " + log + " --json").at("facts");
  CHECK(facts("cat " + log + " | " + kdgat + " data inspect /dev/stdin --json").at("facts") ==
        wanted);
  CHECK(facts("gzip -k " + log + "; " + kdgat + " data inspect <(cat " + log + ".gz) --json")
            .at("facts") == wanted);
  CHECK(facts("mkfifo pipe; cat " + log + " > pipe & " + kdgat + " data inspect pipe --json")
            .at("facts") == wanted);
  const json made = facts("cat " + log + " | " + kdgat + " data import /dev/stdin -o out --json");
  CHECK(made.at("graphs") == wanted.at("graphs"));
  CHECK(names_in(scratch / "out") ==
        std::set<std::string>{"graphs.safetensors", "import.json", "split.safetensors"});
  CHECK(facts(kdgat + " data inspect out --json").at("facts") == wanted);
}

TEST_CASE("waiting for a pipe that nobody writes to ends with the signal", "[cli][data]") {
  const ScratchFolder scratch;
  for (const std::string words : {"data import pipe -o store", "data inspect pipe"}) {
    fs::remove(scratch / "pipe");
    REQUIRE(::mkfifo((scratch / "pipe").c_str(), 0600) == 0);
    Background waits(words, scratch.path());
    REQUIRE(comes_true([&] { return has_open(waits.pid(), scratch / "pipe"); }));
    CHECK(waits.end(SIGINT) == 130);
    INFO(words << read_text(scratch / "err"));
    CHECK_THAT(read_text(scratch / "err"), Contains("interrupted"));
  }
  CHECK(!fs::exists(scratch / "store"));
}

TEST_CASE("a flipped bit below a run is found, and the import is made again", "[cli][run]") {
  const ScratchFolder scratch;
  make_logs(scratch);
  const std::string words = "run autoencoder --data logs --root runs max_epochs=1 --threads 1";
  must_kdgat(words, scratch.path());
  fs::path store;
  for (const auto& entry : fs::recursive_directory_iterator(scratch / "runs")) {
    if (entry.path().filename() == "graphs.safetensors") store = entry.path();
  }
  REQUIRE(!store.empty());
  const std::string sound = read_text(store);
  flip_bit(store);
  const CommandResult again = must_kdgat(words, scratch.path());
  CHECK_THAT(again.err, Contains("differs from its hash") && Contains("was made again"));
  CHECK(read_text(store) == sound);
}

TEST_CASE("run --verify reads the data, whenever they were read before", "[cli][run]") {
  const ScratchFolder scratch;
  make_logs(scratch);
  must_kdgat("data import logs -o data", scratch.path());
  const auto plan = [&](const std::string& words) {
    return run_shell("XDG_CACHE_HOME=$PWD/cache " + kdgat_word() +
                         " run autoencoder --data data --root runs max_epochs=1 " + words,
                     scratch.path());
  };
  REQUIRE(plan("").exit_code == 0);
  flip_bit(scratch / "data/graphs.safetensors");
  CHECK(plan("").exit_code == 3);
  // As if it had just been read: the file that was flipped is noted as sound.
  const CommandResult stat = run_shell(
      "f=data/graphs.safetensors; h=$(awk '{print $5}' cache/kdgat/verified | tail -1); "
      "python3 -c \"import os,sys,time; s=os.stat('$f'); print(s.st_ino, s.st_size, s.st_mtime_ns, "
      "s.st_ctime_ns, '$h', int(time.time()))\" >> cache/kdgat/verified",
      scratch.path());
  REQUIRE(stat.exit_code == 0);
  CHECK(plan("").exit_code == 0);
  const CommandResult verified = plan("--verify");
  CHECK(verified.exit_code == 3);
  CHECK_THAT(verified.err, Contains("differs from its hash"));
}

TEST_CASE("runs that others wrote are read, however deep their lines are", "[cli]") {
  const ScratchFolder scratch;
  const fs::path run = scratch / "runs/theirs/01JHOSTILE0000000000000000";
  fs::create_directories(run / "step");
  const json document = {
      {"kdgat", "0"},
      {"exit_code", 0},
      {"steps", {{{"step", "step"}, {"stage", "autoencoder"}, {"status", "done"}}}}};
  write_text(run / "step/journal.jsonl",
             "{\"event\":\"metrics\",\"what\":\"epoch\",\"index\":0,\"values\":" +
                 nested("{\"a\":", "}") + "}\n" + nested("[", "]") + "\nnull\n{\"event\":7}\n");
  const auto all_end = [&](int code) {
    for (const std::string& words :
         {"report " + run.string() + " -o page.html", "runs show " + run.string()}) {
      const CommandResult result = run_kdgat(words, scratch.path());
      INFO(words << "\n" << result.out << result.err);
      CHECK(result.exit_code == code);
      CHECK_THAT(result.err, !Contains("json.exception"));
    }
    CHECK(run_kdgat("runs list", scratch.path()).exit_code == 0);
    // There is nothing to be sent of what cannot be read.
    CHECK(run_kdgat("sync " + run.string() + " --to mlflow", scratch.path()).exit_code == 0);
  };
  write_text(run / "run.json", document.dump());
  all_end(0);
  write_text(run / "run.json", nested("{\"a\":", "}"));
  all_end(3);
}

TEST_CASE("profiles that are nested without end are refused", "[cli]") {
  const ScratchFolder scratch;
  for (const std::string name : {"deep.json", "deep.yaml"}) {
    write_text(scratch / name, nested("[", "]"));
    const CommandResult result = run_kdgat("run " + name + " -n", scratch.path());
    INFO(name << result.err);
    CHECK(result.exit_code >= 2);
    CHECK(result.exit_code <= 3);
    CHECK_THAT(result.err, Contains(name));
  }
}

TEST_CASE("names that are not UTF-8 work, and are shown escaped", "[cli][data]") {
  const ScratchFolder scratch;
  make_logs(scratch);
  const std::string name = "caf\xE9";
  fs::rename(scratch / "logs", scratch / name);
  const fs::path folder = scratch / name / "train_01_attack_free";
  fs::rename(folder / "attack-free-vehicle1.csv", folder / "v\xFF.csv");
  const std::string word = "'" + name + "'";
  must_kdgat("data import " + word + " -o " + word + "/out", scratch.path());
  const CommandResult table = must_kdgat("data inspect " + word + "/out", scratch.path());
  CHECK_THAT(table.out, Contains("v\\xFF.csv"));
  const json seen =
      json::parse(must_kdgat("data inspect " + word + "/out --json", scratch.path()).out);
  CHECK_THAT(seen.dump(), Contains("v\\\\xFF.csv"));
  must_kdgat("data verify " + word + "/out", scratch.path());
  must_kdgat("run autoencoder --data " + word + " --root runs max_epochs=1 --threads 1",
             scratch.path());
  const fs::path run = newest_run(scratch / "runs/caf_xE9");
  must_kdgat("report " + run.string() + " -o page.html", scratch.path());
  CHECK(json::parse(must_kdgat("runs list --json", scratch.path()).out).at("runs").size() > 0);
  // What stages are told must be UTF-8, and is refused before anything begins.
  const CommandResult root =
      run_kdgat("run autoencoder --data logs --root " + word, scratch.path());
  CHECK(root.exit_code == 2);
  CHECK_THAT(root.err, Contains("caf\\xE9 is not UTF-8"));
}
