// What kdgat watch shows, and the words with units that it takes.
#include "pipeline/verbs/commands/watch_view.h"

#include <fcntl.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <sstream>

#include "pipeline/show/text.h"

namespace kdgat {
namespace {

using nlohmann::json;

const json kReport = {{"frames_per_second", 1982.4},
                      {"load", 0.34},
                      {"alarms", 1},
                      {"unknown_ids", 2},
                      {"windows", 412},
                      {"learning", false},
                      {"calibrating", false},
                      {"highest_score", 2.5}};
const auto kRead = record::read<Traffic>(kReport);

TEST_CASE("a curve shows scores above the threshold in its upper half", "[watch]") {
  CHECK(curve_of({}).empty());
  CHECK(curve_of({-20, -0.1F, 0.1F, 20}) == "▁▄▅█");
}

TEST_CASE("the line of the traffic fits its columns", "[watch]") {
  const std::string whole = traffic_text(kRead, {1, 2}, "can0", 200);
  CHECK_THAT(whole, Catch::StartsWith("can0  1,982/s  34 %  1 alarm") &&
                        Catch::Contains("2 unknown ids") && Catch::Contains("412 windows"));
  for (int columns = 10; columns < 100; ++columns) {
    CHECK(text_width(traffic_text(kRead, {1, 2}, "can0", columns)) <=
          static_cast<std::size_t>(columns));
  }
  Traffic other = kRead;
  other.alarm_open = true;
  CHECK_THAT(traffic_text(other, {}, "can0", 80), Catch::Contains("  1 alarm and one open  "));
  CHECK_THAT(traffic_text(other, {}, "can0", 80), !Catch::Contains("fit"));
  other.fits = false;
  CHECK_THAT(traffic_text(other, {}, "can0", 80), Catch::Contains("  may not fit this bus  "));
  other.learning = true;
  CHECK_THAT(traffic_text(other, {}, "can0", 80), Catch::EndsWith("listening"));
  other.calibrating = true;
  CHECK_THAT(traffic_text(other, {}, "can0", 80), Catch::EndsWith("calibrating"));
  other.buses.emplace_back().kernel_drops = 3;
  other.buses.back().queue_drops = 4;
  CHECK_THAT(traffic_text(other, {}, "can0", 80), Catch::Contains("7 lost"));
  CHECK_THAT(traffic_text(other, {}, "can0", 80), !Catch::Contains("of its own"));
  other.buses.back().own_frames = 2;
  CHECK_THAT(traffic_text(other, {}, "can0", 80), Catch::Contains("7 lost  2 of its own"));
}

TEST_CASE("an alarm is told when it opens, with reasons, and when it is over", "[watch]") {
  AlarmEvent alarm{"can0", 3, true, 12.34, 12.5, 40, 40, 1, 1.5F, {"2C0"}, {}, {"2C0: 41 frames"},
                   ""};
  CHECK(alarm_text(alarm) == "alarm 3 at 12.340 s\n  2C0: 41 frames");
  alarm.reasons.clear();
  CHECK(alarm_text(alarm) == "alarm 3 at 12.340 s: 2C0");
  alarm.open = false;
  alarm.windows = 5;
  CHECK(alarm_text(alarm) ==
        "alarm 3 is over: 12.340 s to 12.500 s, 5 windows, highest score 1.50");
  alarm.begin = nullptr;
  CHECK_THAT(alarm_text(alarm), Catch::Contains("windows 40 to 40"));
}

TEST_CASE("lines of JSON and lines for people go where they belong", "[watch]") {
  std::ostringstream lines, err;
  WatchView to_program([&](const AlarmItem& item) { lines << AlarmNews{item}.line() << "\n"; }, err,
                       Terminal());
  AlarmEvent alarm;
  alarm.alarm = 3;
  to_program.alarm(alarm);
  to_program.traffic(kRead);
  std::istringstream in(lines.str());
  std::string line;
  std::getline(in, line);
  CHECK(json::parse(line) == json(alarm));
  std::getline(in, line);
  const json told = json::parse(line);
  CHECK(told.at("event") == "traffic");
  for (const auto& [key, value] : kReport.items()) CHECK(told.at(key) == value);
  CHECK(err.str().empty());
  std::ostringstream terminal;
  Terminal moves;
  moves.moves = true;
  moves.columns = 60;
  WatchView to_people(nullptr, terminal, moves);
  to_people.set_name("can0");
  to_people.traffic(kRead);
  to_people.message("warning", "the bus is \x1b[31msilent");
  to_people.finish();
  CHECK_THAT(terminal.str(), Catch::Contains("can0  1,982/s") &&
                                 Catch::Contains("warning: the bus is ?[31msilent"));
}

TEST_CASE("nothing is shown while nobody takes it, and then how much that was", "[watch]") {
  int ends[2];
  REQUIRE(::pipe(ends) == 0);
  std::ostringstream shown;
  WatchView view(nullptr, shown, Terminal(), ends[1]);
  view.message("warning", "one");
  CHECK(shown.str() == "warning: one\n");
  const int flags = ::fcntl(ends[1], F_GETFL);
  ::fcntl(ends[1], F_SETFL, flags | O_NONBLOCK);
  const std::string filling(4096, 'x');
  while (::write(ends[1], filling.data(), filling.size()) > 0) continue;
  view.message("warning", "two");
  view.message("warning", "three");
  CHECK(shown.str() == "warning: one\n");
  std::string taken(1 << 20, ' ');
  REQUIRE(::read(ends[0], taken.data(), taken.size()) > 0);
  view.message("warning", "four");
  CHECK(shown.str() ==
        "warning: one\nwarning: 2 lines could not be shown meanwhile\nwarning: four\n");
  ::close(ends[0]);
  ::close(ends[1]);
}

}  // namespace
}  // namespace kdgat
