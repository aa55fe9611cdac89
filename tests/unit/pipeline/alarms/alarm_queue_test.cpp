// What a sink may do to its queue: hang, refuse, end, throw, and not let go.
#include "pipeline/alarms/alarm_queue.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <csignal>

#include "support/can/alarm_peers.h"

using namespace kdgat;
using namespace kdgat::test;
using Catch::Contains;

namespace {

using Taken = std::function<Delivery(std::string_view, const Patience&)>;

class ScriptedSink : public AlarmSink {
 public:
  explicit ScriptedSink(Taken write) : write_(std::move(write)) {}
  Delivery write(const AlarmNews& news, const Patience& patience) override {
    return write_(news.line(), patience);
  }

 private:
  Taken write_;
};

ChosenSink scripted(Taken write, std::optional<Rate> rate = std::nullopt) {
  return {"a test", rate, std::make_unique<ScriptedSink>(std::move(write))};
}

/// Takes lines down.
struct Notebook {
  Delivery operator()(std::string_view line) {
    const std::lock_guard lock(mutex);
    lines.emplace_back(line);
    return {};
  }
  std::mutex mutex;
  std::vector<std::string> lines;
};

std::vector<std::string> numbered(int count) {
  std::vector<std::string> out;
  for (int i = 0; i < count; ++i) out.push_back(R"({"n":)" + std::to_string(i) + "}");
  return out;
}

void send_all(AlarmQueue& queue, const std::vector<std::string>& lines) {
  for (const std::string& line : lines) queue.send(line);
}

Delivery hang(std::string_view, const Patience& patience) {
  patience.wait(-1, 0);
  return {Outcome::kAgain, "nobody takes it"};
}

QueueLimits quick() {
  QueueLimits out;
  out.first_pause = out.longest_pause = 0.001;
  return out;
}

}  // namespace

TEST_CASE("a sink that hangs blocks nobody, and what is dropped is counted and said", "[alarms]") {
  Told told;
  QueueLimits limits;
  limits.most_items = 16;
  AlarmQueue queue(scripted(hang), told.tell(), limits);
  send_all(queue, numbered(5000));
  CHECK(queue.counts().dropped >= 5000 - 17);
  CHECK_THAT(told.text(),
             Contains("warning: alarms to a test: it takes none, 16 wait; the oldest are dropped"));
  queue.finish(deadline_in(0));
  CHECK(queue.counts().sent == 0);
  CHECK(queue.counts().dropped == 5000);
  CHECK_THAT(told.text(), Contains("5,000 were not taken and are lost"));
}

TEST_CASE("the newest lines are kept, of so many bytes at most", "[alarms]") {
  Told told;
  Notebook notebook;
  std::atomic<bool> opens = false;
  QueueLimits limits;
  limits.most_bytes = 100;
  AlarmQueue queue(scripted([&](std::string_view line, const Patience&) {
                     while (!opens) std::this_thread::yield();
                     return notebook(line);
                   }),
                   told.tell(), limits);
  const auto lines = numbered(50);
  send_all(queue, lines);
  opens = true;
  queue.finish(deadline_in(kAlarmPatience));
  const AlarmCounts counts = queue.counts();
  CHECK(counts.sent + counts.dropped == 50);
  // 100 bytes of lines of 8, and one that the sink may have had.
  CHECK(counts.sent >= 12);
  CHECK(counts.sent <= 13);
  REQUIRE_FALSE(notebook.lines.empty());
  CHECK(notebook.lines.back() == lines.back());
  CHECK_THAT(told.text(),
             Contains("it takes them again; " + std::to_string(counts.dropped) + " were dropped"));
}

TEST_CASE("a sink that refuses for a while gets every line once, in order", "[alarms]") {
  Told told;
  Notebook notebook;
  std::atomic<int> attempts = 0;
  AlarmQueue queue(scripted([&](std::string_view line, const Patience&) -> Delivery {
                     if (++attempts < 20) return {Outcome::kAgain, "not today"};
                     return notebook(line);
                   }),
                   told.tell(), quick());
  const auto lines = numbered(100);
  send_all(queue, lines);
  CHECK(comes_true([&] { return queue.counts().sent == 100; }));
  queue.finish(deadline_in(kAlarmPatience));
  CHECK(notebook.lines == lines);
  CHECK(
      told.text() ==
      "warning: alarms to a test: not today; it is tried again, and what comes until then is kept\n"
      "info: alarms to a test: it takes them again\n");
}

TEST_CASE("the end loses nothing, though the sink refuses at first", "[alarms]") {
  Notebook notebook;
  std::atomic<bool> refused = false;
  QueueLimits limits;
  limits.first_pause = limits.longest_pause = 1e6;  // whoever waits for it waits for ever
  AlarmQueue queue(scripted([&](std::string_view line, const Patience&) -> Delivery {
                     if (!refused.exchange(true)) return {Outcome::kAgain, "not today"};
                     return notebook(line);
                   }),
                   {}, limits);
  const auto lines = numbered(1000);
  send_all(queue, lines);
  CHECK(comes_true([&] { return refused.load(); }));
  queue.finish(deadline_in(kAlarmPatience));
  CHECK(notebook.lines == lines);
  CHECK(queue.counts().sent == 1000);
  queue.send("late");
  CHECK(queue.counts().dropped == 1);
}

TEST_CASE("a rate holds back all but the newest, and says how many", "[alarms]") {
  Notebook notebook;
  AlarmQueue queue(scripted([&](std::string_view line, const Patience&) { return notebook(line); },
                            Rate{2, 86400}),
                   {});
  send_all(queue, numbered(10));
  queue.finish(deadline_in(kAlarmPatience));
  CHECK(notebook.lines ==
        std::vector<std::string>{R"({"n":0})", R"({"n":1})", R"({"n":9,"suppressed":7})"});
  CHECK(queue.counts().sent == 3);
  CHECK(queue.counts().suppressed == 7);
  CHECK(queue.counts().dropped == 0);
}

TEST_CASE("what a rate held back goes by itself when its time has come", "[alarms]") {
  Notebook notebook;
  AlarmQueue queue(scripted([&](std::string_view line, const Patience&) { return notebook(line); },
                            Rate{1, 0.01}),
                   {});
  send_all(queue, numbered(10));
  CHECK(comes_true([&] {
    const AlarmCounts counts = queue.counts();
    return counts.sent + counts.suppressed == 10;
  }));
  queue.finish(deadline_in(kAlarmPatience));
  CHECK_THAT(notebook.lines.back(), Contains("\"n\":9"));
}

TEST_CASE("a sink that has ended is not asked again", "[alarms]") {
  Told told;
  std::atomic<int> calls = 0;
  AlarmQueue queue(scripted([&](std::string_view, const Patience&) -> Delivery {
                     return ++calls == 1 ? Delivery{} : Delivery{Outcome::kEnded, "closed"};
                   }),
                   told.tell());
  send_all(queue, numbered(2));
  CHECK(comes_true([&] { return queue.counts().failed == 1; }));
  send_all(queue, numbered(3));
  queue.finish(deadline_in(kAlarmPatience));
  CHECK(calls == 2);
  CHECK(queue.counts().sent == 1);
  CHECK(queue.counts().dropped == 3);
  CHECK_THAT(told.text(),
             Contains("closed; nothing is written there any more") && Contains("3 were not taken"));
}

TEST_CASE("lines that are refused are counted, and said once", "[alarms]") {
  Told told;
  AlarmQueue queue(scripted([&](std::string_view line, const Patience&) -> Delivery {
                     if (line == R"({"n":1})") throw std::runtime_error("odd line");
                     if (line == R"({"n":2})") return {Outcome::kRefused, "too long"};
                     return {};
                   }),
                   told.tell());
  send_all(queue, numbered(4));
  queue.finish(deadline_in(kAlarmPatience));
  CHECK(queue.counts().sent == 2);
  CHECK(queue.counts().failed == 2);
  CHECK_THAT(told.text(), Contains("odd line") && !Contains("too long") && Contains("2 failed"));
}

TEST_CASE("a sink that never lets go does not keep the end waiting", "[alarms]") {
  const auto began = std::make_shared<std::atomic<bool>>(false);
  const auto opens = std::make_shared<std::atomic<bool>>(false);
  const auto ended = std::make_shared<std::atomic<bool>>(false);
  {
    AlarmQueue queue(scripted([began, opens, ended](std::string_view, const Patience&) -> Delivery {
                       *began = true;
                       while (!*opens) std::this_thread::sleep_for(std::chrono::milliseconds(1));
                       *ended = true;
                       return {};
                     }),
                     {});
    send_all(queue, numbered(3));
    REQUIRE(comes_true([&] { return began->load(); }));
    queue.finish(deadline_in(0));
    CHECK_FALSE(*ended);
    CHECK(queue.counts().dropped == 3);
  }
  *opens = true;
  CHECK(comes_true([&] { return ended->load(); }));
}

TEST_CASE("no signal is for the thread of a sink", "[alarms]") {
  std::atomic<int> open = -1;
  AlarmQueue queue(scripted([&](std::string_view, const Patience&) -> Delivery {
                     sigset_t blocked;
                     pthread_sigmask(SIG_SETMASK, nullptr, &blocked);
                     int count = 0;
                     for (const int signal : {SIGINT, SIGTERM, SIGUSR1, SIGPIPE, SIGHUP}) {
                       if (sigismember(&blocked, signal) == 0) ++count;
                     }
                     open = count;
                     return {};
                   }),
                   {});
  queue.send("{}");
  queue.finish(deadline_in(kAlarmPatience));
  CHECK(open == 0);
  sigset_t own;
  pthread_sigmask(SIG_SETMASK, nullptr, &own);
  CHECK(sigismember(&own, SIGTERM) == 0);
}

TEST_CASE("how many were held back stands in the object itself", "[alarms]") {
  CHECK(AlarmNews{R"({"n":1})", 0}.line() == R"({"n":1})");
  CHECK(AlarmNews{R"({"n":1})", 3}.line() == R"({"n":1,"suppressed":3})");
  CHECK(AlarmNews{"{}", 3}.line() == R"({"suppressed":3})");
  CHECK_THAT((AlarmNews{alarm_event(1), 3}.line()), Contains(R"("windows":2,"suppressed":3})"));
}
