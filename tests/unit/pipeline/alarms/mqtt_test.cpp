// Alarms to a real broker, Debian's mosquitto on the loopback address, read from it by a client
// that is written out here. Skipped, saying so, where there is no broker or no kdgat_mqtt.
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <csignal>
#include <cstdio>
#include <fstream>

#include "kdgat/error.h"
#include "pipeline/alarms/alarms.h"
#include "support/can/alarm_peers.h"
#include "support/graphs/variable.h"
#include "support/programs/command.h"
#include "support/programs/held_port.h"
#include "support/programs/processes.h"

using namespace kdgat;
using namespace kdgat::test;
using Catch::Contains;

namespace {

namespace fs = std::filesystem;

bool has_mqtt() {
  const bool has_program = fs::exists(build_folder() / "kdgat_mqtt");
  const bool has_broker =
      fs::exists("/usr/sbin/mosquitto") && fs::exists("/usr/bin/mosquitto_passwd");
  if (!has_program)
    std::printf("skipped: no kdgat_mqtt (scripts/setup installs libmosquitto-dev)\n");
  if (!has_broker)
    std::printf("skipped: no MQTT broker (scripts/setup --dev installs mosquitto)\n");
  return has_program && has_broker;
}

/// A broker that knows one user, watch, by one password.
class MqttBroker {
 public:
  /// Of this process alone: other tests, which run at the same time, have one in a command line.
  static std::string password() { return "geheim" + std::to_string(::getpid()) + "!"; }

  explicit MqttBroker(int port) : port_(port) {
    const CommandResult made = run_shell(
        "/usr/bin/mosquitto_passwd -b -c users watch '" + password() + "'", scratch_.path());
    REQUIRE(made.exit_code == 0);
    std::ofstream(scratch_ / "conf") << "listener " << port << " 127.0.0.1\nallow_anonymous false\n"
                                     << "password_file users\n"
                                     << (::geteuid() == 0 ? "user root\n" : "");
    pid_ = ::fork();
    if (pid_ == 0) {
      if (::chdir(scratch_.path().c_str()) != 0) ::_exit(126);
      if (std::freopen("log", "w", stderr) == nullptr) ::_exit(126);
      ::execl("/usr/sbin/mosquitto", "mosquitto", "-c", "conf", nullptr);
      ::_exit(127);
    }
    REQUIRE(comes_true([port] { return connected(port).get() >= 0; }));
  }
  MqttBroker(const MqttBroker&) = delete;
  MqttBroker& operator=(const MqttBroker&) = delete;
  ~MqttBroker() {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }

 private:
  ScratchFolder scratch_;
  int port_;
  pid_t pid_ = -1;
};

std::string address_of(int port, const std::string& rest,
                       const std::string& user = "watch:geheim" + std::to_string(::getpid()) +
                                                 "%21@") {
  return "mqtt://" + user + "127.0.0.1:" + std::to_string(port) + "/" + rest;
}

/// A client of MQTT 3.1.1 that reads one topic; packets of less than 16 KiB.
class MqttReader {
 public:
  MqttReader(int port, const std::string& topic) : socket_(connected(port)) {
    const std::string version("\x04\xC2\0\x3C", 4);  // user, password, clean, 60 s
    send('\x10', field("MQTT") + version + field("reader") + field("watch") +
                     field(MqttBroker::password()));
    REQUIRE(packet() == std::make_pair('\x20', std::string("\0\0", 2)));
    send('\x82', std::string("\0\1", 2) + field(topic) + '\0');
    REQUIRE(packet().first == '\x90');
  }

  /// The text of the next message.
  std::string next() {
    const auto [type, body] = packet();
    CHECK((type & 0xF0) == 0x30);
    const std::size_t topic = 2 + static_cast<unsigned char>(body.at(1));
    return body.substr(topic);  // at most once, as it asked for: no number stands before it
  }

 private:
  static std::string field(const std::string& text) {
    return std::string(1, '\0') + static_cast<char>(text.size()) + text;
  }
  void send(char type, const std::string& body) {
    const std::string bytes = std::string(1, type) + static_cast<char>(body.size()) + body;
    REQUIRE(::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL) ==
            static_cast<ssize_t>(bytes.size()));
  }
  char byte() {
    if (read_.empty()) read_ = next_of(socket_.get());
    REQUIRE_FALSE(read_.empty());
    const char out = read_.front();
    read_.erase(0, 1);
    return out;
  }
  std::pair<char, std::string> packet() {
    const char type = byte();
    std::size_t size = 0;
    for (int shift = 0;; shift += 7) {
      const auto part = static_cast<unsigned char>(byte());
      size |= std::size_t{part & 0x7FU} << shift;
      if (part < 0x80) break;
    }
    std::string body;
    while (body.size() < size) body += byte();
    return {type, body};
  }

  OwnedFd socket_;
  std::string read_;
};

bool stands_in_a_command_line(const std::string& text) {
  const auto lines = command_lines();
  return std::any_of(lines.begin(), lines.end(), [&](const auto& process) {
    return process.second.find(text) != std::string::npos;
  });
}

}  // namespace

TEST_CASE("a broker gets every alarm, and confirms it before it counts", "[alarms]") {
  if (!has_mqtt()) return;
  const HeldPort held;
  const int port = held.number();
  const MqttBroker broker(port);
  MqttReader reader(port, "car/alarms");
  for (const char* qos : {"0", "1", "2"}) {
    AlarmSinks sinks({address_of(port, "car/alarms?qos=" + std::string(qos))}, {});
    for (int i = 0; i < 50; ++i) sinks.send(alarm_event(i));
    for (int i = 0; i < 50; ++i) REQUIRE(reader.next() == alarm_line(i));
    CHECK_FALSE(stands_in_a_command_line("geheim" + std::to_string(::getpid())));
    sinks.finish(kAlarmPatience);
    CHECK(sinks.counts().front().sent == 50);
    CHECK(sinks.counts().front().name ==
          address_of(port, "car/alarms?qos=" + std::string(qos), ""));
  }
}

TEST_CASE("alarms wait for a broker that comes later, or comes back", "[alarms]") {
  if (!has_mqtt()) return;
  const HeldPort held;
  const int port = held.number();
  const Variable password("MQTT_PASSWORD", MqttBroker::password());
  Told told;
  AlarmSinkOptions options{told.tell()};
  options.limits.first_pause = options.limits.longest_pause = 0.01;
  AlarmSinks sinks({address_of(port, "car?retain=1", "watch@")}, options);
  for (int round = 1; round <= 2; ++round) {
    sinks.send(alarm_event(round));
    const std::string wanted = round == 1 ? "Connection refused" : "it takes them again";
    CHECK(comes_true([&] { return told.text().find(wanted) != std::string::npos; }) == true);
    const MqttBroker broker(port);
    CHECK(comes_true([&] { return sinks.counts().front().sent == round; }));
    CHECK(MqttReader(port, "car").next() == alarm_line(round));
  }
}

TEST_CASE("a broker that refuses is quoted, without the password", "[alarms]") {
  if (!has_mqtt()) return;
  const HeldPort held;
  const int port = held.number();
  const MqttBroker broker(port);
  Told told;
  AlarmSinks sinks({address_of(port, "car", "watch:falsch@")}, {told.tell()});
  sinks.send(alarm_event(1));
  CHECK(comes_true([&] { return told.text().find("it is tried again") != std::string::npos; }));
  sinks.finish(0);
  CHECK_THAT(told.text(), Contains("not authorised") && Contains("1 were not taken and are lost") &&
                              !Contains("falsch"));
  CHECK(sinks.counts().front().dropped == 1);
}

TEST_CASE("a server that never answers keeps nobody waiting at the end", "[alarms]") {
  if (!has_mqtt()) return;
  auto [listener, port] = loopback_socket(SOCK_STREAM);
  REQUIRE(::listen(listener.get(), 8) == 0);
  AlarmSinks sinks({address_of(port, "car")}, {});
  sinks.send(alarm_event(1));
  const OwnedFd client = accepted(listener);
  sinks.finish(0);
  CHECK(sinks.counts().front().dropped == 1);
}

TEST_CASE("without kdgat_mqtt it is said where to get it", "[alarms]") {
  if (fs::exists(build_folder() / "kdgat_mqtt")) return;
  CHECK_THROWS_WITH(AlarmSinks({"mqtt://host/topic"}, {}),
                    Contains("apt-get install libmosquitto-dev"));
}
