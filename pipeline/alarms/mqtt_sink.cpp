// Alarms to an MQTT broker, through kdgat_mqtt (mqtt_child.cpp), a program of its own: so this one
// needs no library for it, and whatever the network does ends there. It is told where to in the
// first line of its input, so that a password is in no list of processes.
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "kdgat/error.h"
#include "pipeline/alarms/sinks.h"
#include "pipeline/system/subprocess.h"

namespace kdgat {
namespace {

class MqttSink : public AlarmSink {
 public:
  MqttSink(std::string program, nlohmann::json broker)
      : program_(std::move(program)), broker_(std::move(broker)) {}

  Delivery write(const AlarmNews& news, const Patience& patience) override {
    constexpr double kSeconds = 30;  // more than the program gives the broker
    const Deadline until = deadline_in(kSeconds);
    try {
      if (!process_) {
        process_ = std::make_unique<Subprocess>(std::vector<std::string>{program_});
        process_->write(broker_.dump() + "\n", until);
      }
      // One that has ended may have said why before.
      process_->write(news.line() + "\n", until);
      const auto answer =
          process_->read_line(until, kMostAnswer, [&] { return patience.is_over(); });
      if (answer == "ok") return {};
      process_.reset();
      return {Outcome::kAgain, answer ? *answer : "no answer of kdgat_mqtt, or of the broker"};
    } catch (const Error& e) {
      process_.reset();
      return {Outcome::kAgain, e.what()};
    }
  }

  void close() override { process_.reset(); }

 private:
  static constexpr std::size_t kMostAnswer = 4096;

  std::string program_;
  nlohmann::json broker_;
  std::unique_ptr<Subprocess> process_;
};

std::string decoded(const AlarmWords& words, const std::string& text) {
  const std::optional<std::string> out = percent_decoded(text);
  if (!out && text.find("%00") != std::string::npos) {
    words.refuse("%00 cannot be part of a name or a topic; leave it out");
  }
  if (!out) words.refuse("% must be followed by two hexadecimal digits, as in %40 for @");
  return *out;
}

/// What stands before and behind the first `mark`; all of it before where there is none.
std::pair<std::string, std::string> divided(const std::string& text, char mark) {
  const std::size_t at = text.find(mark);
  if (at == std::string::npos) return {text, ""};
  return {text.substr(0, at), text.substr(at + 1)};
}

/// "//user:password@host:port/topic" and the options, as kdgat_mqtt reads them.
nlohmann::json broker_of(AlarmWords& words) {
  constexpr int kPort = 1883, kMostPort = 65535, kMostQos = 2;
  const std::string& target = words.target();
  const std::size_t slash = target.find('/', 2);
  if (!target.starts_with("//") || slash == std::string::npos)
    words.refuse("which broker, which topic?");
  std::string server = target.substr(2, slash - 2);
  const std::string topic = decoded(words, target.substr(slash + 1));
  std::string user, password;
  if (const std::size_t at = server.rfind('@'); at != std::string::npos) {
    const auto [name, secret] = divided(server.substr(0, at), ':');
    user = decoded(words, name);
    password = decoded(words, secret);
    server.erase(0, at + 1);
  }
  if (const char* variable = std::getenv("MQTT_PASSWORD");
      variable != nullptr && password.empty()) {
    password = variable;
  }
  const std::size_t bracket = server.starts_with("[") ? server.find(']') : 0;
  const std::size_t colon = server.find(':', std::min(bracket, server.size()));
  std::string host = server.substr(0, colon);
  if (server.starts_with("[")) host = server.substr(1, std::min(bracket, server.size()) - 1);
  const std::optional<int> port =
      colon == std::string::npos ? kPort : whole_number(server.substr(colon + 1), 1, kMostPort);
  if (host.empty() || !port) words.refuse("\"" + server + "\" is no HOST or HOST:PORT");
  if (topic.empty() || topic.find_first_of("+#") != std::string::npos) {
    words.refuse("\"" + topic + "\" is no topic to publish to");
  }
  if (!password.empty() && user.empty()) words.refuse("a password needs a user");
  return {{"host", host},
          {"port", *port},
          {"user", user},
          {"password", password},
          {"topic", topic},
          {"qos", words.number("qos", 1, 0, kMostQos)},
          {"retain", words.number("retain", 0, 0, 1) == 1}};
}

}  // namespace

std::unique_ptr<AlarmSink> make_mqtt_sink(AlarmWords& words) {
  nlohmann::json broker = broker_of(words);
  const std::filesystem::path program = beside_executable("kdgat_mqtt");
  if (!std::filesystem::exists(program)) {
    throw Error(ExitCode::kUsage,
                "--alarm mqtt: needs the helper kdgat_mqtt, which is not in " +
                    program.parent_path().string(),
                "install libmosquitto-dev (apt-get install libmosquitto-dev) and build again "
                "(scripts/build); the wheel does not hold kdgat_mqtt");
  }
  return std::make_unique<MqttSink>(program.string(), std::move(broker));
}

}  // namespace kdgat
