// The journal of a step, read as a whole and line by line.
#include "pipeline/run/journal.h"

#include <catch2/catch.hpp>

#include "support/can/log_text.h"
#include "support/programs/command.h"
#include "support/runs/recorded_run.h"

using namespace kdgat;
using namespace kdgat::test;
using nlohmann::json;
namespace fs = std::filesystem;

TEST_CASE("a journal is read line by line, whole lines only, each once", "[journal]") {
  const ScratchFolder scratch;
  const fs::path file = scratch / "journal.jsonl";
  JournalReader reader(file);
  CHECK(reader.read().empty());
  append_text(file, "{\"a\":1}\n{\"a\":2");
  REQUIRE(reader.read().size() == 1);
  CHECK(reader.offset() == 8);
  CHECK(reader.read().empty());
  append_text(file, "}\n{torn\n{\"a\":3}\n");
  const auto lines = reader.read();
  REQUIRE(lines.size() == 2);
  CHECK(lines[0].event == json{{"a", 2}});
  CHECK(lines[1].event == json{{"a", 3}});
  CHECK(static_cast<uint64_t>(lines[1].end) == fs::file_size(file));
  CHECK(JournalReader(file, lines[0].end).read().size() == 1);
}

TEST_CASE("a line of a journal that is nested without end is passed over", "[journal]") {
  const ScratchFolder scratch;
  const fs::path file = scratch / "journal.jsonl";
  std::string deep = "{\"event\":\"metrics\",\"values\":";
  for (int i = 0; i < 200'000; ++i) deep += "{\"a\":";
  deep += "1" + std::string(200'001, '}') + "\n";
  append_text(file, deep + "{\"a\":1}\n");
  const auto lines = JournalReader(file).read();
  REQUIRE(lines.size() == 1);
  CHECK(lines[0].event == json{{"a", 1}});
  CHECK(read_journal(scratch.path()).series.empty());
}

TEST_CASE("an epoch said again after a checkpoint counts once, as it was last", "[journal]") {
  const ScratchFolder root;
  std::string text;
  const auto epoch = [&](int index, double loss) {
    text += json{{"event", "metrics"},
                 {"what", "epoch"},
                 {"index", index},
                 {"values", {{"train_loss", loss}, {"sample", {{"pool", 3}}}}}}
                .dump() +
            "\n";
  };
  text += "{\"event\":\"start\"}\n";
  epoch(1, 5);
  epoch(2, 4);
  epoch(3, 3);
  text += "{\"event\":\"start\"}\n{\"event\":\"log\",\"level\":\"warning\",\"message\":\"slow\"}\n";
  epoch(2, 7);
  write_text(root / "journal.jsonl", text + "{\"event\":\"met");
  const StepJournal journal = read_journal(root.path());
  CHECK(journal.attempts.size() == 2);
  CHECK(journal.series.at("train_loss") == Series{{1, 5}, {2, 7}});
  CHECK(journal.series.size() == 1);
  CHECK(journal.warnings == std::vector<std::string>{"warning: slow"});
}

TEST_CASE("a journal tells attempts, their ends and the memory of the last one", "[journal]") {
  const ScratchFolder root;
  const auto line = [](json event, double unix) {
    event["unix"] = unix;
    return event.dump() + "\n";
  };
  const json epoch =
      MetricsEvent{kEpoch, 1, {{"memory", {{"peak_allocated", 7}, {"reserved", 9}}}}};
  append_text(root / kJournalFile,
              line(StartEvent{"01", ""}, 100) + line(epoch, 101) +
                  line(EndEvent{85, "stopped"}, 110) + line(StartEvent{"01", ""}, 200) +
                  line(MetricsEvent{kMemory, 0, {{"event", kMemoryPlan}}}, 201) +
                  line(MetricsEvent{kMemory, 0, {{"event", kMemorySplit}}}, 202) +
                  line(epoch, 203) + line(LogEvent{"info", "x"}, 205));
  const StepJournal journal = read_journal(root.path());
  REQUIRE(journal.attempts.size() == 2);
  CHECK(journal.attempts[0].end.code == 85);
  CHECK(journal.attempts[0].end.error == "stopped");
  CHECK_FALSE(journal.attempts[1].ended);
  CHECK(journal.seconds() == 10);
  CHECK(journal.memory.seconds == 5);
  CHECK(journal.memory.tensors == Series{{3, 7}});
  CHECK(journal.memory.reserved == Series{{3, 9}});
  CHECK(journal.memory.events == std::vector<std::pair<double, std::string>>{{2, kMemorySplit}});
}

TEST_CASE("a series is drawn by what it is", "[journal]") {
  CHECK(curve_of("train_loss") == Curve::kLoss);
  CHECK(curve_of("val_loss") == Curve::kLoss);
  CHECK(curve_of("val_f1") == Curve::kShare);
  CHECK(curve_of("val_rmse") == Curve::kError);
  CHECK(curve_of("val_kl") == Curve::kTerm);
  CHECK(curve_of("val_threshold") == Curve::kNone);
  CHECK(curve_of("lr") == Curve::kLearningRate);
  CHECK(curve_of("loss_scale") == Curve::kNone);
}
