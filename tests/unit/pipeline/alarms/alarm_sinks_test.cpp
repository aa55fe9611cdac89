// Each kind of sink from its words to what arrives.
#include <fcntl.h>
#include <linux/can.h>
#include <sys/stat.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <csignal>
#include <cstring>
#include <fstream>
#include <iterator>
#include <regex>

#include "pipeline/alarms/alarms.h"
#include "pipeline/alarms/sinks.h"
#include "support/can/alarm_peers.h"
#include "support/graphs/variable.h"
#include "support/programs/command.h"
#include "support/programs/processes.h"

using namespace kdgat;
using namespace kdgat::test;
using Catch::Contains;

namespace {

void send_alarms(AlarmSinks& sinks, int first, int count) {
  for (int i = 0; i < count; ++i) sinks.send(alarm_event(first + i));
}

bool has_sent(const AlarmSinks& sinks, int64_t count) {
  return comes_true([&] { return sinks.counts().front().sent == count; });
}

std::vector<std::string> lines_in(const std::filesystem::path& file) {
  std::vector<std::string> out;
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) out.push_back(line);
  return out;
}

/// The numbers of the alarms in these lines.
std::vector<int> numbers_in(const std::vector<std::string>& lines) {
  std::vector<int> out;
  for (const std::string& line : lines) out.push_back(nlohmann::json::parse(line).at("alarm"));
  return out;
}

std::vector<int> from_to(int first, int last) {
  std::vector<int> out;
  for (int i = first; i <= last; ++i) out.push_back(i);
  return out;
}

AlarmSinkOptions impatient(Told& told) {
  AlarmSinkOptions out{told.tell()};
  out.limits.first_pause = out.limits.longest_pause = 0.005;
  return out;
}

/// A program for command: that this shell runs.
std::string script(const std::filesystem::path& path, const std::string& lines) {
  std::ofstream(path) << "#!/bin/sh\n" << lines;
  std::filesystem::permissions(path, std::filesystem::perms::owner_all);
  return path.string();
}

/// A pipe for a sink that writes to a descriptor; the reading end first.
std::pair<OwnedFd, OwnedFd> pipe_ends() {
  int ends[2] = {-1, -1};
  REQUIRE(::pipe2(ends, O_CLOEXEC) == 0);
  return {OwnedFd(ends[0]), OwnedFd(ends[1])};
}

}  // namespace

TEST_CASE("lines of a stream wait for a slow reader, who gets them whole", "[alarms]") {
  const auto [reads, writes] = pipe_ends();
  AlarmQueue queue({"stdout", std::nullopt, stream_sink(writes.get())}, {});
  const std::string long_line = R"({"text":")" + std::string(3000, 'x') + "\"}";
  constexpr int kCount = 200;  // ten times what a pipe holds
  for (int i = 0; i < kCount; ++i) queue.send(long_line);
  const std::vector<std::string> lines = lines_of(reads.get(), kCount);
  queue.finish(deadline_in(kAlarmPatience));
  CHECK(lines.size() == kCount);
  CHECK(
      std::all_of(lines.begin(), lines.end(), [&](const auto& line) { return line == long_line; }));
  CHECK(queue.counts().sent == kCount);
}

TEST_CASE("a stream that nobody reads any more ends its sink, not the program", "[alarms]") {
  Told told;
  auto [reads, writes] = pipe_ends();
  AlarmQueue queue({"stdout", std::nullopt, stream_sink(writes.get())}, told.tell());
  reads.reset();
  queue.send("{}");
  CHECK(comes_true([&] { return queue.counts().failed == 1; }));
  queue.finish(deadline_in(kAlarmPatience));
  CHECK_THAT(told.text(), Contains("nobody reads there any more"));
}

TEST_CASE("a file of alarms is appended to and rotated", "[alarms]") {
  const ScratchFolder scratch;
  const std::string path = (scratch / "alarms.jsonl").string();
  const std::size_t line = alarm_line(10).size() + 1;
  std::ofstream(path) << alarm_line(9) << "\n{\"half";
  {
    AlarmSinks sinks({"file:" + path + ",keep=2,max=" + std::to_string(3 * line)}, {});
    send_alarms(sinks, 10, 10);
    sinks.finish(kAlarmPatience);
    CHECK(sinks.counts().front().sent == 10);
  }
  CHECK(names_in(scratch.path()) ==
        std::set<std::string>{"alarms.jsonl", "alarms.jsonl.1", "alarms.jsonl.2"});
  CHECK(numbers_in(lines_in(path)) == from_to(17, 19));
  CHECK(numbers_in(lines_in(path + ".1")) == from_to(14, 16));
  CHECK(numbers_in(lines_in(path + ".2")) == from_to(11, 13));
}

TEST_CASE("half a line that a killed program left is none of the next", "[alarms]") {
  const ScratchFolder scratch;
  const std::string path = (scratch / "alarms").string();
  std::ofstream(path) << "{\"half";
  AlarmSinks sinks({"file:" + path}, {});
  send_alarms(sinks, 1, 1);
  sinks.finish(kAlarmPatience);
  CHECK(lines_in(path) == std::vector<std::string>{"{\"half", alarm_line(1)});
}

TEST_CASE("a file that was moved away is made again", "[alarms]") {
  const ScratchFolder scratch;
  const std::string path = (scratch / "alarms").string();
  AlarmSinks sinks({"file:" + path}, {});
  send_alarms(sinks, 1, 2);
  CHECK(has_sent(sinks, 2));
  std::filesystem::rename(path, path + ".old");
  send_alarms(sinks, 3, 2);
  sinks.finish(kAlarmPatience);
  CHECK(numbers_in(lines_in(path + ".old")) == from_to(1, 2));
  CHECK(numbers_in(lines_in(path)) == from_to(3, 4));
}

TEST_CASE("a link that takes the place of a file is not followed", "[alarms]") {
  const ScratchFolder scratch;
  const std::string path = (scratch / "alarms").string(), other = (scratch / "other").string();
  std::ofstream(other) << "untouched\n";
  Told told;
  AlarmSinks sinks({"file:" + path}, impatient(told));
  send_alarms(sinks, 1, 1);
  CHECK(has_sent(sinks, 1));
  std::filesystem::remove(path);
  std::filesystem::create_symlink(other, path);
  send_alarms(sinks, 2, 1);
  CHECK(comes_true([&] { return told.text().find("is not followed") != std::string::npos; }));
  std::filesystem::remove(path);
  sinks.finish(kAlarmPatience);
  CHECK(numbers_in(lines_in(path)) == from_to(2, 2));
  CHECK(lines_in(other) == std::vector<std::string>{"untouched"});
}

TEST_CASE("a link that its user names leads to the file that it led to at the start", "[alarms]") {
  const ScratchFolder scratch;
  const std::string path = (scratch / "alarms").string(), file = (scratch / "file").string();
  std::ofstream(file) << "";
  std::filesystem::create_symlink(file, path);
  {
    AlarmSinks sinks({"file:" + path}, {});
    send_alarms(sinks, 1, 2);
    sinks.finish(kAlarmPatience);
  }
  CHECK(numbers_in(lines_in(file)) == from_to(1, 2));
  CHECK(std::filesystem::is_symlink(path));
  std::filesystem::remove(file);  // it leads nowhere now
  CHECK_THROWS_WITH(AlarmSinks({"file:" + path}, {}), Contains("is not followed"));
  // A link to what is no file has no other name.
  auto [reads, writes] = pipe_ends();
  AlarmSinks sinks({"file:/dev/fd/" + std::to_string(writes.get())}, {});
  send_alarms(sinks, 1, 1);
  CHECK(numbers_in(lines_of(reads.get(), 1)) == from_to(1, 1));
}

TEST_CASE("a FIFO may get its reader later", "[alarms]") {
  const ScratchFolder scratch;
  const std::string path = (scratch / "fifo").string();
  REQUIRE(::mkfifo(path.c_str(), 0600) == 0);
  Told told;
  AlarmSinks sinks({"file:" + path}, impatient(told));
  send_alarms(sinks, 1, 3);
  CHECK(comes_true([&] { return told.text().find("it is tried again") != std::string::npos; }));
  const OwnedFd reads(::open(path.c_str(), O_RDONLY | O_NONBLOCK));
  CHECK(numbers_in(lines_of(reads.get(), 3)) == from_to(1, 3));
}

TEST_CASE("datagrams of a Unix socket come once somebody is there", "[alarms]") {
  const ScratchFolder scratch;
  Told told;
  AlarmSinks sinks({"unix:" + (scratch / "s").string()}, impatient(told));
  send_alarms(sinks, 1, 2);
  CHECK(comes_true([&] { return told.text().find("No such file") != std::string::npos; }));
  const OwnedFd listener = unix_listener(scratch / "s", SOCK_DGRAM);
  CHECK(next_of(listener.get()) == alarm_line(1));
  CHECK(next_of(listener.get()) == alarm_line(2));
  sinks.finish(kAlarmPatience);
  CHECK_THAT(told.text(), Contains("it takes them again"));
}

TEST_CASE("lines of a Unix stream go on with the next connection", "[alarms]") {
  const ScratchFolder scratch;
  const OwnedFd listener = unix_listener(scratch / "s", SOCK_STREAM);
  Told told;
  AlarmSinks sinks({"unix:" + (scratch / "s").string()}, impatient(told));
  send_alarms(sinks, 1, 2);
  {
    const OwnedFd first = accepted(listener);
    CHECK(numbers_in(lines_of(first.get(), 2)) == from_to(1, 2));
  }
  send_alarms(sinks, 3, 2);
  const OwnedFd second = accepted(listener);
  CHECK(numbers_in(lines_of(second.get(), 2)) == from_to(3, 4));
  sinks.finish(kAlarmPatience);
  CHECK(sinks.counts().front().sent == 4);
}

TEST_CASE("a Unix socket that is not read holds up nobody, and loses nothing that fits",
          "[alarms]") {
  const ScratchFolder scratch;
  const OwnedFd listener = unix_listener(scratch / "s", SOCK_DGRAM);
  Told told;
  AlarmSinks sinks({"unix:" + (scratch / "s").string()}, impatient(told));
  send_alarms(sinks, 0, 900);
  std::vector<std::string> lines;
  for (int i = 0; i < 900; ++i) lines.push_back(next_of(listener.get()));
  CHECK(numbers_in(lines) == from_to(0, 899));
  sinks.finish(kAlarmPatience);
  CHECK(sinks.counts().front().dropped == 0);
}

TEST_CASE("the system's log gets a line with its priority, time and process", "[alarms]") {
  const ScratchFolder scratch;
  const OwnedFd listener = unix_listener(scratch / "log", SOCK_DGRAM);
  const std::string socket = ",socket=" + (scratch / "log").string();
  AlarmSinks sinks({"syslog" + socket, "syslog:local3" + socket}, {});
  sinks.send(alarm_event(1, true));
  sinks.send(alarm_event(1, false));
  std::vector<std::string> lines;
  for (int i = 0; i < 4; ++i) lines.push_back(next_of(listener.get()));
  std::sort(lines.begin(), lines.end());
  const auto matches = [&](const std::string& line, int priority, bool open) {
    const std::regex header("<" + std::to_string(priority) +
                            ">[A-Z][a-z]{2} [ 123][0-9] [0-9]{2}:[0-9]{2}:[0-9]{2} kdgat\\[" +
                            std::to_string(::getpid()) + "\\]: (.*)");
    std::smatch found;
    return std::regex_match(line, found, header) && found[1] == alarm_line(1, open);
  };
  CHECK(matches(lines[0], 19 * 8 + 4, true));
  CHECK(matches(lines[1], 19 * 8 + 5, false));
  CHECK(matches(lines[2], 3 * 8 + 4, true));
  CHECK(matches(lines[3], 3 * 8 + 5, false));
}

TEST_CASE("a UDP port gets a datagram for each line", "[alarms]") {
  const auto [socket, port] = loopback_socket(SOCK_DGRAM);
  for (const std::string host : {"127.0.0.1", "localhost"}) {
    if (host == "localhost" && ::access("/etc/hosts", R_OK) != 0) continue;
    AlarmSinks sinks({"udp:" + host + ":" + std::to_string(port)}, {});
    send_alarms(sinks, 1, 2);
    sinks.finish(kAlarmPatience);
    CHECK(sinks.counts().front().sent == 2);
    if (host == "localhost") continue;  // it may be the one of IPv6
    CHECK(next_of(socket.get()) == alarm_line(1));
    CHECK(next_of(socket.get()) == alarm_line(2));
  }
}

TEST_CASE("a bus gets frames of eight bytes, no more than its rate", "[alarms]") {
  const auto [socket, port] = loopback_socket(SOCK_DGRAM);
  const std::string to = "can:udp:127.0.0.1:" + std::to_string(port);
  AlarmSinks sinks({to + ",id=6F0,rate=1/h"}, {});
  CHECK(sinks.bus_frames().empty());  // nothing proves who sent a datagram
  send_alarms(sinks, 0x1FF, 5);
  sinks.send(alarm_event(0x203, false));
  sinks.finish(kAlarmPatience);
  CHECK(sinks.counts().front().sent == 2);
  CHECK(sinks.counts().front().suppressed == 4);
  const auto frame = [&socket = socket] {
    const std::string bytes = next_of(socket.get());
    can_frame out{};
    REQUIRE(bytes.size() == sizeof out);
    std::memcpy(&out, bytes.data(), sizeof out);
    return out;
  };
  const auto data = [](const can_frame& from) {
    return std::vector<int>(from.data, from.data + from.can_dlc);
  };
  const can_frame first = frame(), last = frame();
  CHECK(first.can_id == 0x6F0);
  CHECK(data(first) == std::vector<int>{0x01, 0xFF, 0x11, 0x01, 0x80, 2, 2, 0});
  CHECK(data(last) == std::vector<int>{0x02, 0x03, 0x10, 0x01, 0x80, 2, 2, 4});
}

TEST_CASE("frames of alarms are clipped, and their ids may be long", "[alarms]") {
  const auto [socket, port] = loopback_socket(SOCK_DGRAM);
  AlarmSinks sinks({"can:udp:127.0.0.1:" + std::to_string(port) + ",id=18FF0017"}, {});
  AlarmEvent event = alarm_event(70000);
  event.peak = 1e9F;
  event.windows = 1000;
  event.ids.assign(300, "1A0");
  sinks.send(event);
  sinks.finish(kAlarmPatience);
  const std::string bytes = next_of(socket.get());
  can_frame frame{};
  REQUIRE(bytes.size() == sizeof frame);
  std::memcpy(&frame, bytes.data(), sizeof frame);
  CHECK(frame.can_id == (0x18FF0017U | CAN_EFF_FLAG));
  CHECK(std::vector<int>(frame.data, frame.data + 8) ==
        std::vector<int>{0x11, 0x70, 0x11, 0xFF, 0xFF, 255, 255, 0});
}

TEST_CASE("a command gets the alarm in its environment and nothing from a shell", "[alarms]") {
  const ScratchFolder scratch;
  const std::string program =
      script(scratch / "tell", "cd '" + scratch.path().string() +
                                   "'\nprintf '%s\\n' \"$@\" > words\n"
                                   "env | grep ^KDGAT_ALARM_ | sort > variables\ncat > input\n");
  AlarmSinks sinks({"command:" + program + " $HOME  'two words' \"it's\" ;true *"}, {});
  sinks.send(alarm_event(7, false));
  sinks.finish(kAlarmPatience);
  CHECK(sinks.counts().front().sent == 1);
  CHECK(lines_in(scratch / "words") ==
        std::vector<std::string>{"$HOME", "two words", "it's", ";true", "*"});
  CHECK(lines_in(scratch / "variables") ==
        std::vector<std::string>{"KDGAT_ALARM_BEGIN=1672531203.5", "KDGAT_ALARM_END=1672531204.25",
                                 "KDGAT_ALARM_FILE=drive one.log", "KDGAT_ALARM_IDS=2C0 1:1A0",
                                 "KDGAT_ALARM_JSON=" + alarm_line(7, false),
                                 "KDGAT_ALARM_MODEL=5f3a", "KDGAT_ALARM_NUMBER=7",
                                 "KDGAT_ALARM_REASONS=2C0 comes too often; an id that is not known",
                                 "KDGAT_ALARM_SCORE=1.5", "KDGAT_ALARM_STATE=closed"});
  CHECK(read_text(scratch / "input").empty());
}

TEST_CASE("a command gets no credentials of this program, and all else", "[alarms]") {
  const ScratchFolder scratch;
  const Variable mqtt("MQTT_PASSWORD", "s3"), token("MLFLOW_TRACKING_TOKEN", "s3");
  const Variable own("KDGAT_LR", "1"), other("OTHER_PROGRAMS", "yes");
  const std::string program = script(
      scratch / "tell", "env | grep -v ^KDGAT_ALARM_ > '" + (scratch / "made").string() + "'\n");
  AlarmSinks sinks({"command:" + program}, {});
  send_alarms(sinks, 1, 1);
  sinks.finish(kAlarmPatience);
  CHECK(sinks.counts().front().sent == 1);
  CHECK_THAT(read_text(scratch / "made"), Contains("OTHER_PROGRAMS=yes") && Contains("PATH=") &&
                                              !Contains("s3") && !Contains("KDGAT_"));
}

TEST_CASE("a command that fails is said once and counted", "[alarms]") {
  const ScratchFolder scratch;
  Told told;
  AlarmSinks sinks({"command:" + script(scratch / "fail", "exit 3\n")}, {told.tell()});
  send_alarms(sinks, 1, 3);
  sinks.finish(kAlarmPatience);
  CHECK(sinks.counts().front().failed == 3);
  const std::string text = told.text();
  CHECK_THAT(text, Contains("it ended with exit code 3") && Contains("3 failed"));
  CHECK(text.find("exit code") == text.rfind("exit code"));
}

TEST_CASE("a command that hangs is killed with all that it started", "[alarms]") {
  const ScratchFolder scratch;
  Told told;
  const std::string program =
      script(scratch / "hang",
             // The last one has a session of its own, and a parent that has ended.
             "cd '" + scratch.path().string() +
                 "'\nsleep 1000 &\necho $$ $! > made\n"
                 "(setsid sh -c 'echo $$ >> made; mv made pids; exec sleep 1000' &)\nwait\n");
  const auto has_begun = [&] { return std::filesystem::exists(scratch / "pids"); };
  const auto check_gone = [&] {
    std::ifstream in(scratch / "pids");
    const std::vector<pid_t> pids(std::istream_iterator<pid_t>(in), {});
    REQUIRE(pids.size() == 3);
    // Whoever takes in orphans may do so later: a zombie is gone.
    CHECK(comes_true([&] { return std::none_of(pids.begin(), pids.end(), is_running); }));
  };
  SECTION("in time") {
    AlarmSinks sinks({"command,timeout=1s:" + program}, {told.tell()});
    // A busy machine may need more than its second to begin: then another time.
    int64_t sent = 0;
    REQUIRE(comes_true([&] {
      if (sinks.counts().front().failed == sent) send_alarms(sinks, static_cast<int>(++sent), 1);
      return has_begun();
    }));
    CHECK(comes_true([&] { return sinks.counts().front().failed == sent; }));
    check_gone();
    // It is counted before it is told.
    CHECK(comes_true(
        [&] { return told.text().find("it was killed after 1.0 s") != std::string::npos; }));
  }
  SECTION("at the end of the run") {
    AlarmSinks sinks({"command:" + program}, {told.tell()});
    send_alarms(sinks, 1, 2);
    REQUIRE(comes_true(has_begun));
    sinks.finish(0);
    CHECK(sinks.counts().front().failed == 1);
    CHECK(sinks.counts().front().dropped == 1);
    check_gone();
  }
}

TEST_CASE("every sink of a run gets every alarm, whatever becomes of another", "[alarms]") {
  const ScratchFolder scratch;
  const std::string path = (scratch / "alarms").string();
  Told told;
  AlarmSinks sinks({"unix:" + (scratch / "nobody").string(), "file:" + path}, {told.tell()});
  send_alarms(sinks, 0, 500);
  CHECK(comes_true([&] { return sinks.counts()[1].sent == 500; }));
  sinks.finish(0);
  CHECK(numbers_in(lines_in(path)) == from_to(0, 499));
  CHECK(sinks.counts()[0].dropped == 500);
  CHECK_THAT(told.text(), Contains("nobody: 500 were not taken and are lost"));
}
