// Numbers out of journals under their published names, and the files made of them.
#include "pipeline/records/records.h"

#include <catch2/catch.hpp>
#include <map>
#include <sstream>

#include "pipeline/records/event_file.h"
#include "pipeline/records/record_files.h"
#include "pipeline/records/record_sink.h"
#include "pipeline/records/recorder.h"
#include "pipeline/run/step_metrics.h"
#include "support/programs/command.h"
#include "support/runs/recorded_run.h"

using namespace kdgat;
using namespace kdgat::test;
using Catch::Contains;
using nlohmann::json;
namespace fs = std::filesystem;

namespace {

std::map<std::string, double> by_key(const std::vector<Point>& points) {
  std::map<std::string, double> out;
  for (const Point& point : points) out[point.key] = point.value;
  return out;
}

/// Both files of a step.
struct RecordFiles {
  explicit RecordFiles(const fs::path& step)
      : csv(step, csv_format()), tensorboard(step, tensorboard_format()) {}
  void update() {
    csv.update();
    tensorboard.update();
  }
  RecordFile csv, tensorboard;
};

constexpr const char* kEvents = "tensorboard/events.out.tfevents.1700000000.kdgat";

}  // namespace

TEST_CASE("the numbers of an epoch have their published names", "[records]") {
  const ScratchFolder scratch;
  const RecordedStep step(begin_run(scratch.path()) / "classifier");
  const std::vector<Point> points = step.points(json::parse(journal_line(epoch_event(3, 0.5), 1)));
  CHECK(by_key(points) ==
        std::map<std::string, double>{
            {"train_loss", 0.5}, {"val_acc", 0.5}, {"sample.ratio", 2}, {"process_mem_gb", 0.5}});
  for (const Point& point : points) {
    CHECK(point.step == 3);
    CHECK(point.unix == 1'700'000'001.25);
  }
}

TEST_CASE("on a GPU the memory of tensors has the published names", "[records]") {
  const ScratchFolder scratch;
  const fs::path folder = begin_run(scratch.path()) / "classifier";
  write_json(folder / "config.json", {{"device", "cuda:0"}});
  json event = epoch_event(1, 1);
  event["values"]["memory"]["reserved"] = 3u << 30;
  event["values"]["memory"]["peak_allocated"] = int64_t{2} << 30;
  const auto points = by_key(RecordedStep(folder).points(event));
  CHECK(points.at("gpu_mem_allocated_gb") == 1);
  CHECK(points.at("gpu_mem_reserved_gb") == 3);
  CHECK(points.at("gpu_mem_max_allocated_gb") == 2);
}

TEST_CASE("the numbers of an episode have their published names", "[records]") {
  const json event = {
      {"event", "metrics"},
      {"what", "episode"},
      {"index", 50},
      {"values",
       {{"total_reward", 3.5}, {"epsilon", 0.1}, {"val_accuracy", 0.75}, {"best_accuracy", 0.8}}}};
  CHECK(
      by_key(RecordedStep("nowhere").points(event)) ==
      std::map<std::string, double>{
          {"total_reward", 3.5}, {"epsilon", 0.1}, {"val_accuracy", 0.75}, {"best_accuracy", 0.8}});
}

TEST_CASE("evaluation is flat numbers by model, part and metric", "[records]") {
  const json tables = {{"core", {{"f1", 0.5}, {"threshold_from", "val"}}},
                       {"additional", {{"kappa", 0.25}, {"detection_at_fpr", {{"0.05", 1.0}}}}}};
  StageResult result;
  result.metrics = {{"classifier student", tables},
                    {"test", {{"classifier student", {{"test_01", tables}}}}}};
  CHECK(by_key(result_points(figures_of(result), 1)) ==
        std::map<std::string, double>{{"classifier_student_f1", 0.5},
                                      {"classifier_student_kappa", 0.25},
                                      {"test.classifier_student.test_01.f1", 0.5},
                                      {"test.classifier_student.test_01.kappa", 0.25}});
  result.metrics = {{"val_auc", 0.5}, {"batch", {{"graphs", 3}}}, {"best", true}};
  CHECK(by_key(result_points(figures_of(result), 1)) ==
        std::map<std::string, double>{{"result.val_auc", 0.5}});
}

TEST_CASE("the machine's memory is told in GiB and percent", "[records]") {
  const ScratchFolder scratch;
  append_text(scratch / "proc/meminfo", "MemTotal: 8388608 kB\nMemAvailable: 2097152 kB\n");
  const json event = memory_event(Machine(scratch.path()), 5);
  CHECK(by_key(RecordedStep("nowhere").points(event)) ==
        std::map<std::string, double>{
            {"cpu_mem_percent", 75}, {"cpu_mem_used_gb", 6}, {"cpu_mem_available_gb", 2}});
  CHECK(event.at("index") == 5);
}

TEST_CASE("events of any form give no point rather than an error", "[records]") {
  const RecordedStep step("nowhere");
  for (const json& event :
       {json::object(), json{{"event", 3}}, json{{"event", "metrics"}, {"what", {1}}},
        json{{"event", "metrics"}, {"values", {{"a", "text"}, {"b", nullptr}, {"c", true}}}},
        json{{"event", "metrics"}, {"index", "x"}, {"values", {{"a", 1}}}},
        json{{"event", "metrics"}, {"what", "memory"}, {"values", {{"a", 1}}}}}) {
    INFO(event);
    CHECK(step.points(event).empty());
  }
}

TEST_CASE("CRC-32C gives the values of RFC 3720", "[records]") {
  CHECK(crc32c("123456789") == 0xe3069283U);
  CHECK(crc32c(std::string(32, '\0')) == 0x8a9136aaU);
  CHECK(crc32c(std::string(32, '\xff')) == 0x62a8ab43U);
}

TEST_CASE("an event file is TensorFlow's, byte by byte", "[records]") {
  using namespace std::string_literals;
  // As every file of TensorFlow begins.
  CHECK(event_file_start(1.0) ==
        "\x18\0\0\0\0\0\0\0\xa3\x7f\x4b\x22"s
        "\x09\0\0\0\0\0\0\xf0\x3f\x1a\x0d"
        "brain.Event:2"s
        "\x86\xbf\x57\x7a"s);
  const std::string record = scalars_record(std::vector<Point>{{"loss", 0.5, 300, 1.0}});
  CHECK(record.substr(12, record.size() - 16) ==
        "\x09\0\0\0\0\0\0\xf0\x3f"  // wall_time
        "\x10\xac\x02"              // step
        "\x2a\x0d\x0a\x0b"          // summary, value
        "\x0a\x04loss"              // tag
        "\x15\0\0\0\x3f"s);         // simple_value
}

TEST_CASE("metrics.csv has a line for each number", "[records]") {
  const ScratchFolder scratch;
  const fs::path folder = begin_run(scratch.path()) / "classifier";
  RecordFile(folder, csv_format()).update();
  CHECK(read_text(folder / "metrics.csv") ==
        "time,step,name,value\n"
        "2023-11-14T22:13:21Z,1,process_mem_gb,0.5\n"
        "2023-11-14T22:13:21Z,1,sample.ratio,2\n"
        "2023-11-14T22:13:21Z,1,train_loss,0.5\n"
        "2023-11-14T22:13:21Z,1,val_acc,0.5\n"
        "2023-11-14T22:13:22Z,2,process_mem_gb,0.5\n"
        "2023-11-14T22:13:22Z,2,sample.ratio,2\n"
        "2023-11-14T22:13:22Z,2,train_loss,0.25\n"
        "2023-11-14T22:13:22Z,2,val_acc,0.5\n");
  CHECK_FALSE(fs::exists(folder / "tensorboard"));
}

TEST_CASE("a name with a comma is quoted in metrics.csv", "[records]") {
  const ScratchFolder scratch;
  append_text(scratch / "journal.jsonl",
              R"({"event":"metrics","index":1,"values":{"a,\"b\"":1e-300},"time":"t"})"
              "\n");
  RecordFile(scratch.path(), csv_format()).update();
  CHECK_THAT(read_text(scratch / "metrics.csv"), Contains("t,1,\"a,\"\"b\"\"\",1e-300\n"));
}

TEST_CASE("files written in parts, anew or after a kill have the same bytes", "[records]") {
  const ScratchFolder scratch;
  const fs::path run = begin_run(scratch.path());
  const fs::path folder = run / "classifier";
  RecordFiles files(folder);
  files.update();
  const std::string begun = read_text(folder / kEvents);
  files.update();
  CHECK(read_text(folder / kEvents) == begun);
  end_run(run);
  files.update();
  const std::string csv = read_text(folder / "metrics.csv"), events = read_text(folder / kEvents);
  CHECK(events.starts_with(begun));
  CHECK(events.size() > begun.size());

  for (const bool cut : {false, true}) {
    if (cut) {
      fs::resize_file(folder / "metrics.csv", csv.size() / 2);
      fs::resize_file(folder / kEvents, events.size() / 2);
    } else {
      append_text(folder / "metrics.csv", "what is not its own");
      fs::remove(folder / kEvents);
    }
    RecordFiles(folder).update();
    CHECK(read_text(folder / "metrics.csv") == csv);
    CHECK(read_text(folder / kEvents) == events);
  }
}

TEST_CASE("metrics.csv has every number of a continued step once, as it was said last",
          "[records]") {
  const ScratchFolder scratch;
  const fs::path folder = begin_run(scratch.path()) / "classifier";
  const auto machine = [](int step, double percent) {
    return json{{"event", "metrics"},
                {"what", "machine"},
                {"index", step},
                {"values", {{"cpu_mem_percent", percent}}}};
  };
  const auto say = [&](const json& event, int second) {
    append_text(folder / "journal.jsonl", journal_line(event, second));
  };
  const auto lines = [&](const std::string& name) {
    std::string out;
    std::istringstream text(read_text(folder / "metrics.csv"));
    for (std::string line; std::getline(text, line);) {
      const std::size_t at = line.find("," + name + ",");
      if (at != std::string::npos) out += line.substr(line.find(',') + 1) + " ";
    }
    return out;
  };
  say(machine(0, 1), 3);
  say(machine(5, 2), 4);
  say(epoch_event(3, 0.125), 5);
  // Killed, and continued from a checkpoint in the second epoch.
  say({{"event", "start"}, {"run", "01RUN"}}, 6);
  say(machine(0, 3), 7);
  RecordFile files(folder, csv_format());
  files.update();
  CHECK(lines("train_loss") == "1,train_loss,0.5 2,train_loss,0.25 3,train_loss,0.125 ");
  CHECK(lines("cpu_mem_percent") == "5,cpu_mem_percent,2 0,cpu_mem_percent,3 ");
  say(epoch_event(2, 0.375), 8);
  files.update();
  CHECK(lines("train_loss") == "1,train_loss,0.5 2,train_loss,0.375 ");
  say(epoch_event(3, 0.0625), 9);
  say(epoch_event(4, 0.03125), 10);
  files.update();
  CHECK(lines("train_loss") ==
        "1,train_loss,0.5 2,train_loss,0.375 3,train_loss,0.0625 4,train_loss,0.03125 ");
  const std::string kept = read_text(folder / "metrics.csv");
  RecordFile(folder, csv_format()).update();
  CHECK(read_text(folder / "metrics.csv") == kept);
}

TEST_CASE("what another program wrote into a file is replaced, at the second try", "[records]") {
  const ScratchFolder scratch;
  const fs::path run = begin_run(scratch.path());
  const fs::path csv = run / "classifier" / "metrics.csv";
  RecordFile files(run / "classifier", csv_format());
  files.update();
  append_text(csv, "x");
  end_run(run);
  CHECK_THROWS_WITH(files.update(), Contains("changed by another program"));
  files.update();
  const std::string repaired = read_text(csv);
  fs::remove(csv);
  RecordFile(run / "classifier", csv_format()).update();
  CHECK(read_text(csv) == repaired);
}

TEST_CASE("a file that cannot be written is an error that names it", "[records]") {
  const ScratchFolder scratch;
  const fs::path folder = begin_run(scratch.path()) / "classifier";
  append_text(folder / "tensorboard", "a file where a folder is to be");
  RecordFiles files(folder);
  CHECK_THROWS_WITH(files.update(), Contains("tensorboard"));
  fs::remove(folder / "tensorboard");
  files.update();
  CHECK(fs::exists(folder / kEvents));
}

TEST_CASE("a run has the sinks that its targets name, and no other", "[records]") {
  const ScratchFolder scratch;
  const fs::path run = begin_run(scratch.path());
  const std::string folder = (scratch / "mlruns").string();
  const auto made = [&](const RecordTargets& targets) {
    std::string out;
    for (const SinkKind& kind : sink_kinds()) {
      const auto sink = kind.make(run, targets, 1);
      if (sink == nullptr) continue;
      sink->update();
      out += std::string(kind.name) + " ";
    }
    return out;
  };
  CHECK(made({false, false, "", "e"}).empty());
  CHECK(made({true, false, "", "e"}) == "csv ");
  CHECK_FALSE(fs::exists(run / "classifier" / "tensorboard"));
  CHECK(made({false, true, "", "e"}) == "tensorboard ");
  CHECK(made({false, false, folder, "e"}) == "mlflow ");
  CHECK(made({true, true, folder, "e"}) == "csv tensorboard mlflow ");
  CHECK(fs::exists(run / "classifier" / "metrics.csv"));
  CHECK(fs::exists(run / "classifier" / kEvents));
  CHECK(fs::exists(folder));
}

TEST_CASE("a run.json of other types is a problem in words, and nothing outside the run is read",
          "[records]") {
  const json steps = json::array({{{"step", "classifier"}, {"status", "running"}}});
  const std::vector<json> others = {
      json::array(),
      7,
      {{"steps", "classifier"}},
      {{"steps", {7}}},
      {{"steps", {{{"step", 7}}}}},
      {{"steps", {{{"step", "classifier"}, {"status", 1}}}}},
      {{"steps", steps}, {"id", json::array()}},
      {{"steps", steps}, {"started", json::object()}},
      {{"steps", steps}, {"profile", 1}},
  };
  for (const json& document : others) {
    INFO(document.dump());
    const ScratchFolder scratch;
    const fs::path run = begin_run(scratch.path());
    write_json(run / "run.json", document);
    RunRecords records(run, {true, true, (scratch / "mlruns").string(), "kdgat"}, 5);
    for (const Diagnostic& problem : records.update(true).problems) {
      CHECK_THAT(problem.message, Contains("run.json") && !Contains("json.exception"));
    }
  }
  for (const char* name : {"..", "../other", "", ".", "/etc"}) {
    INFO(name);
    const ScratchFolder scratch;
    const fs::path run = begin_run(scratch.path());
    write_json(run / "run.json",
               {{"id", "01RUN"}, {"steps", {{{"step", name}, {"status", "running"}}}}});
    append_text(run.parent_path() / "other" / "journal.jsonl",
                journal_line(epoch_event(1, 0.5), 1));
    RunRecords records(run, {false, false, (scratch / "mlruns").string(), "kdgat"}, 5);
    const std::vector<Diagnostic> problems = records.update(true).problems;
    REQUIRE(problems.size() == 1);
    CHECK_THAT(problems.at(0).message, Contains("names no step"));
  }
}

TEST_CASE("what one event says twice stands in metrics.csv once, as it was said last",
          "[records]") {
  const ScratchFolder scratch;
  const fs::path run = begin_run(scratch.path());
  end_run(run);
  write_json(run / "classifier" / "metrics.json",
             {{"figures",
               {{{"name", "f1"}, {"part", "test_01"}, {"value", 0.5}},
                {{"name", "f1"}, {"part", "test_02"}, {"value", 0.75}}}}});
  RecordFiles(run / "classifier").update();
  const std::string text = read_text(run / "classifier" / "metrics.csv");
  CHECK_THAT(text, Contains("result.f1,0.75") && !Contains("result.f1,0.5"));
}
