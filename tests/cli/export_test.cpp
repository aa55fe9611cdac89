// kdgat export: models as C and as ONNX, what is checked before they are written, and what is
// refused.
#include <sys/stat.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "support/can/detector_run.h"
#include "support/can/log_text.h"
#include "support/can/scored_lines.h"
#include "support/programs/cli.h"

namespace {

using Catch::Contains;

const DetectorRun& detector_to_export() {
  static const DetectorRun one;
  return one;
}

/// A classifier and an autoencoder, trained for a moment.
struct NetworksToExport {
  ScratchFolder scratch;
  fs::path run;

  NetworksToExport() {
    kdgat::test::write_text(scratch / "two.yaml", "preset: [vgae, gat, student]\n");
    must_kdgat("data synth -o logs --seconds 20 --vehicles 2 --attacks dos,fuzzing",
               scratch.path());
    must_kdgat("run two.yaml --data logs --root runs --threads 1 max_epochs=2", scratch.path());
    run = newest_run(scratch / "runs" / "logs");
  }
  CommandResult kdgat(const std::string& words) const { return run_kdgat(words, scratch.path()); }
  fs::path a_log() const {
    for (const auto& entry : fs::recursive_directory_iterator(scratch / "logs")) {
      if (entry.path().string().find("test_01") != std::string::npos &&
          entry.path().extension() == ".csv") {
        return entry.path();
      }
    }
    return {};
  }
  /// Above which half of the windows of a_log() score.
  std::string middle_score(const std::string& step) const {
    const CommandResult scored = kdgat("score '" + a_log().string() + "' --json --run '" +
                                       run.string() + "' --model " + step);
    std::vector<double> scores;
    for (const json& line : json_lines(scored.out)) {
      if (line.contains("score")) scores.push_back(line.at("score"));
    }
    REQUIRE_FALSE(scores.empty());
    std::nth_element(scores.begin(), scores.begin() + std::ssize(scores) / 2, scores.end());
    return json(scores[scores.size() / 2]).dump();
  }
};

const NetworksToExport& networks_to_export() {
  static const NetworksToExport one;
  return one;
}

/// The name of a vehicle that the detector knows.
std::string a_vehicle(const DetectorRun& t) {
  return json::parse(read_text(t.model())).at("vehicles").front().at("name");
}

std::string exported_vehicle(const DetectorRun& t) { return " --vehicle '" + a_vehicle(t) + "' "; }

/// What an exported folder's program says of a log in candump's form.
std::vector<json> said_by_c(const fs::path& folder, const fs::path& log) {
  const std::string built = "cc -std=c99 -O2 -ffp-contract=off -o detect main.c detector.c";
  REQUIRE(run_shell(built, folder).exit_code == 0);
  const CommandResult ran = run_shell("./detect < '" + log.string() + "'", folder);
  REQUIRE(ran.exit_code == 0);
  return json_lines(ran.out);
}

void check_same_alarms(const std::vector<json>& by_c, const std::string& scored) {
  std::vector<json> wanted;
  for (const json& line : json_lines(scored)) {
    if (line.value("event", "") == "alarm") wanted.push_back(line);
  }
  REQUIRE(by_c.size() == wanted.size());
  REQUIRE_FALSE(wanted.empty());
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    for (const char* key :
         {"alarm", "open", "begin", "end", "first_window", "last_window", "windows"}) {
      CHECK(by_c[i].at(key) == wanted[i].at(key));
    }
    CHECK(by_c[i].at("peak").get<float>() == wanted[i].at("peak").get<float>());
    CHECK(by_c[i].at("model") == wanted[i].at("model"));
  }
}

/// The number ahead of or behind the words of a line of the header's first comment.
int64_t stated(const fs::path& folder, const std::string& name) {
  const std::string header = read_text(folder / "detector.h");
  const std::size_t line = header.find(" *   " + name);
  REQUIRE(line != std::string::npos);
  return std::stoll(header.substr(header.find_first_of("0123456789", line)));
}

/// What was measured is what the header and `size` say.
void check_size(const fs::path& folder, const json& size) {
  CHECK(size.at("state") == stated(folder, "state"));
  CHECK(size.at("memory") == 0);
  CHECK(size.at("stack") > 100);
  CHECK(size.at("stack") <= stated(folder, "stack"));
  CHECK(size.at("flash") <= stated(folder, "flash"));
  CHECK(size.at("flash") > stated(folder, "flash") - 8192);  // code at -O3 beside code at -Os
  const std::string line =
      "cc -Os -std=c99 -fno-asynchronous-unwind-tables -fno-pic -c detector.c -o sized.o && size "
      "sized.o | awk "
      "'NR == 2 {print $1 + $2}'; rm sized.o";
  CHECK(std::stoll(run_shell(line, folder).out) == size.at("flash"));
}

}  // namespace

TEST_CASE("a detector as C has the alarms of kdgat score", "[export][cli]") {
  const DetectorRun& t = detector_to_export();
  fs::remove_all(t.scratch / "ecu");
  const CommandResult made =
      t.kdgat("export '" + t.model().string() + "' --format c -o ecu --json" + exported_vehicle(t) +
              "--check " + kKnownLog);
  INFO(made.err);
  REQUIRE(made.exit_code == 0);
  const json report = json::parse(made.out);
  CHECK(report.at("not_checked").empty());
  REQUIRE(report.at("checks").size() == 2);
  for (const json& check : report.at("checks")) {
    CHECK(check.at("windows") > 50);
    CHECK(check.at("largest_difference") == 0);
    CHECK(check.at("decisions_differ") == 0);
  }
  check_size(t.scratch / "ecu", report.at("size"));
  for (const char* file : {"detector.c", "detector.h", "main.c", "check.c", "vectors.h",
                           "CMakeLists.txt", "VERIFY.md"}) {
    CHECK(report.at("files").at(file) > 0);
    CHECK(fs::exists(t.scratch / "ecu" / file));
  }
  CHECK_THAT(read_text(t.scratch / "ecu" / "VERIFY.md"),
             Contains(kKnownLog) || Contains("fuzzing"));
  fs::remove(t.scratch / "one.log");
  REQUIRE(t.kdgat(std::string("data convert ") + kKnownLog + " -o one.log").exit_code == 0);
  const CommandResult scored = t.kdgat("score one.log --json" + exported_vehicle(t) + t.named());
  REQUIRE(scored.exit_code == 0);
  check_same_alarms(said_by_c(t.scratch / "ecu", t.scratch / "one.log"), scored.out);
}

TEST_CASE("a log of --check is read as the options say, and what it lacks is reported",
          "[export][cli]") {
  const DetectorRun& t = detector_to_export();
  REQUIRE(t.kdgat(std::string("data convert ") + kKnownLog + " -o rows.log").exit_code == 0);
  kdgat::test::write_text(t.scratch / "bad.log",
                          read_text(t.scratch / "rows.log") + "(9.0) can0 nothing\n");
  const CommandResult made =
      t.kdgat("export '" + t.model().string() + "' --format c -o read" + exported_vehicle(t) +
              "--check bad.log --label-column kind --force");
  INFO(made.err);
  CHECK(made.exit_code == 0);
  CHECK_THAT(made.err, Contains("label_column") && Contains("not used"));
  CHECK_THAT(made.err, Contains("bad.log:"));
}

TEST_CASE("an export is written whole, in the place of an export alone", "[export][cli]") {
  const DetectorRun& t = detector_to_export();
  const std::string words =
      "export '" + t.model().string() + "' --format c" + exported_vehicle(t) + "-o ";
  REQUIRE(t.kdgat(words + "twice --force").exit_code == 0);
  const CommandResult again = t.kdgat(words + "twice");
  CHECK(again.exit_code == 2);
  CHECK_THAT(again.err, Contains("--force"));
  kdgat::test::write_text(t.scratch / "twice" / "mine.txt", "x");
  CHECK(t.kdgat(words + "twice --force").exit_code == 0);
  CHECK_FALSE(fs::exists(t.scratch / "twice" / "mine.txt"));
  fs::create_directories(t.scratch / "home");
  kdgat::test::write_text(t.scratch / "home" / "mine.txt", "x");
  const CommandResult other = t.kdgat(words + "home --force");
  CHECK(other.exit_code == 2);
  CHECK_THAT(other.err, Contains("something else"));
  CHECK(fs::exists(t.scratch / "home" / "mine.txt"));
}

TEST_CASE("an export that is wrong is not written", "[export][cli]") {
  const DetectorRun& t = detector_to_export();
  // A compiler whose programs say nothing of any window.
  const fs::path bin = t.scratch / "bin";
  fs::create_directories(bin);
  kdgat::test::write_text(bin / "cc",
                          "#!/bin/sh\nwhile [ \"$1\" != -o ]; do shift; done\n"
                          "printf '#!/bin/sh\\n' > \"$2\"; chmod +x \"$2\"\n");
  fs::permissions(bin / "cc", fs::perms::owner_all);
  const CommandResult made =
      run_shell("PATH='" + bin.string() + "':$PATH " + kdgat_word() + " export '" +
                    t.model().string() + "' --format c -o wrong" + exported_vehicle(t),
                t.scratch.path());
  CHECK(made.exit_code == 3);
  CHECK_THAT(made.err, Contains("the C program judged 0 windows"));
  CHECK_FALSE(fs::exists(t.scratch / "wrong"));
  for (const auto& entry : fs::directory_iterator(t.scratch.path())) {
    CHECK(entry.path().filename().string().rfind(".wrong", 0) != 0);
  }
}

TEST_CASE("a classifier and an autoencoder as C have the alarms of kdgat score", "[export][cli]") {
  const NetworksToExport& t = networks_to_export();
  fs::remove(t.scratch / "one.log");
  REQUIRE(t.kdgat("data convert '" + t.a_log().string() + "' -o one.log").exit_code == 0);
  for (const std::string step : {"classifier", "autoencoder"}) {
    const fs::path folder = t.scratch / step;
    fs::remove_all(folder);
    const std::string model = " --model " + step + " --json --threshold " + t.middle_score(step);
    const CommandResult made = t.kdgat("export '" + t.run.string() + "' --format c -o " + step +
                                       " --check one.log" + model);
    INFO(made.err);
    REQUIRE(made.exit_code == 0);
    const json report = json::parse(made.out);
    REQUIRE(report.at("checks").size() == 3);
    CHECK(report.at("checks")[0].at("largest_difference") < 1e-5);
    CHECK(report.at("checks")[1].at("largest_difference") == 0);
    CHECK(report.at("checks")[2].at("largest_difference") == 0);
    CHECK_THAT(made.err, Contains("validation windows of the run"));
    const CommandResult scored =
        run_shell("KDGAT_ISA=portable " + kdgat_word() + " score one.log --run '" + t.run.string() +
                      "'" + model,
                  t.scratch.path());
    check_size(folder, report.at("size"));
    check_same_alarms(said_by_c(folder, t.scratch / "one.log"), scored.out);
  }
}

TEST_CASE("int8 weights are reported, and make the file smaller", "[export][cli]") {
  const NetworksToExport& t = networks_to_export();
  std::vector<int64_t> sizes;
  for (const std::string weights : {"float32", "int8"}) {
    fs::remove_all(t.scratch / weights);
    const CommandResult made =
        t.kdgat("export '" + t.run.string() + "' --model classifier --format c --weights " +
                weights + " -o " + weights + " --json --check '" + t.a_log().string() + "'");
    INFO(made.err);
    REQUIRE(made.exit_code == 0);
    const json report = json::parse(made.out);
    sizes.push_back(report.at("files").at("detector.c"));
    const std::string page = read_text(t.scratch / weights / "VERIFY.md");
    if (weights == "int8") {
      CHECK(report.at("checks").back().at("largest_difference") > 0);
      CHECK_THAT(page, Contains("AUC") && Contains("F1"));
    }
  }
  CHECK(sizes[1] < sizes[0]);
}

TEST_CASE("networks and detectors as ONNX, with what runs them", "[export][cli]") {
  const NetworksToExport& networks = networks_to_export();
  const DetectorRun& detector = detector_to_export();
  const auto check = [](const CommandResult& made, const fs::path& folder, std::size_t others) {
    INFO(made.err);
    REQUIRE(made.exit_code == 0);
    const json report = json::parse(made.out);
    for (const char* file : {"detector-opset16.onnx", "detector-opset18.onnx",
                             "vectors.safetensors", "check.py", "VERIFY.md"}) {
      CHECK(report.at("files").at(file) > 0);
    }
    // With ONNX Runtime they were run; without, the page says that they were not.
    if (report.at("checks").size() == others) {
      CHECK_THAT(read_text(folder / "VERIFY.md"), Contains("Not checked: the ONNX files"));
      return;
    }
    REQUIRE(report.at("checks").size() == others + 2);
    for (std::size_t i = others; i < others + 2; ++i) {
      CHECK(report.at("checks")[i].at("largest_difference") < 1e-5);
      CHECK(report.at("checks")[i].at("windows") > 50);
    }
  };
  for (const std::string step : {"classifier", "autoencoder"}) {
    fs::remove_all(networks.scratch / "onnx");
    check(networks.kdgat("export '" + networks.run.string() + "' --model " + step +
                         " --format onnx -o onnx --json"),
          networks.scratch / "onnx", 1);
  }
  fs::remove_all(detector.scratch / "onnx");
  check(detector.kdgat("export '" + detector.model().string() + "' --format onnx -o onnx --json" +
                       exported_vehicle(detector)),
        detector.scratch / "onnx", 0);
}

TEST_CASE("an export starts and reads nothing of the current folder", "[export][cli]") {
  const DetectorRun& t = detector_to_export();
  for (const char* module : {"numpy.py", "onnxruntime.py", "json.py", "sitecustomize.py"}) {
    kdgat::test::write_text(t.scratch / module, "open('RAN', 'w')\n");
  }
  kdgat::test::write_text(t.scratch / "math.h", "#error math.h of the current folder\n");
  for (const char* program : {"python3", "cc", "gcc", "as", "ld", "size"}) {
    kdgat::test::write_text(t.scratch / program,
                            "#!/bin/sh\ntouch '" + (t.scratch / "RAN").string() + "'\n");
    fs::permissions(t.scratch / program, fs::perms::owner_all);
  }
  for (const std::string path : {"", "PATH=:$PATH ", "PATH=.:$PATH CPATH=: C_INCLUDE_PATH=: "}) {
    for (const std::string format : {"onnx", "c"}) {
      const CommandResult made =
          run_shell(path + "PYTHONPATH=. " + kdgat_word() + " export '" + t.model().string() +
                        "' -o lent --format " + format + exported_vehicle(t),
                    t.scratch.path());
      INFO(path << format << "\n" << made.err);
      CHECK(made.exit_code == 0);
      CHECK_FALSE(fs::exists(t.scratch / "RAN"));
      fs::remove_all(t.scratch / "lent");
    }
  }
}

TEST_CASE("what cannot be exported is said with what to do", "[export][cli]") {
  const DetectorRun& t = detector_to_export();
  const std::string words = "export '" + t.model().string() + "' -o none --format ";
  CommandResult refused = t.kdgat(words + "c");
  CHECK(refused.exit_code == 2);
  CHECK_THAT(refused.err, Contains("--vehicle") && Contains(a_vehicle(t)));
  refused = t.kdgat(words + "c --vehicle nobody");
  CHECK(refused.exit_code == 2);
  CHECK_THAT(refused.err, Contains("nobody"));
  refused = t.kdgat(words + "c --name 1st");
  CHECK(refused.exit_code == 2);
  CHECK_THAT(refused.err, Contains("no name in C"));
  for (const std::string name :
       {"main", "check", "vectors", "string"}) {  // files of an export, headers
    refused = t.kdgat(words + "c --name " + name);
    INFO(name << refused.err);
    CHECK(refused.exit_code == 2);
    CHECK_THAT(refused.err, Contains("\"" + name + "\" is the name of another file"));
  }
  refused = t.kdgat(words + "onnx --weights int8");
  CHECK(refused.exit_code == 2);
  CHECK_THAT(refused.err, Contains("--format c"));
  refused = t.kdgat(words + "tflite");
  CHECK(refused.exit_code == 2);
  CHECK_THAT(refused.err, Contains("onnx"));
  kdgat::test::write_text(t.scratch / "torn.json", read_text(t.model()).substr(0, 500));
  refused = t.kdgat("export torn.json --format c -o none");
  CHECK(refused.exit_code == 3);
  CHECK_THAT(refused.err, Contains("torn.json"));
  CHECK_FALSE(fs::exists(t.scratch / "none"));
}
