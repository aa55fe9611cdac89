// Alarms to a program of the user's: run once for each, without a shell, and with what there is to
// say in its environment, so that no name on a bus is ever read as words of a command.
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <nlohmann/json.hpp>
#include <sstream>
#include <utility>

#include "kdgat/error.h"
#include "kdgat/event.h"
#include "kdgat/text.h"
#include "pipeline/alarms/command_guard.h"
#include "pipeline/alarms/sinks.h"
#include "pipeline/show/text.h"
#include "pipeline/system/subprocess.h"

namespace kdgat {
namespace {

/// A time as the event has it; "" where the log has none.
std::string time_text(const nlohmann::json& time) { return time.is_null() ? "" : time.dump(); }

std::vector<std::string> variables_of(const AlarmNews& news) {
  const AlarmEvent& alarm = news.alarm();
  std::vector<std::string> out;
  const auto add = [&](const char* name, const std::string& value) {
    out.push_back(std::string("KDGAT_ALARM_") + name + "=" + value);
  };
  add("JSON", news.line());
  add("STATE", alarm.open ? "opened" : "closed");
  add("NUMBER", std::to_string(alarm.alarm));
  add("BEGIN", time_text(alarm.begin));
  add("END", time_text(alarm.end));
  add("SCORE", format_number("%.9g", alarm.peak));
  add("IDS", joined(alarm.ids, " "));
  add("REASONS", joined(alarm.reasons, "; "));
  add("MODEL", alarm.model);
  add("FILE", alarm.file);
  return out;
}

/// What became of a program, by the line that its guard wrote.
Delivery delivery_of(const std::string& answer, const std::string& when_killed) {
  std::istringstream in(answer);
  std::string what;
  int number = 0;
  in >> what >> number;
  const std::string text = std::to_string(number);
  if (what == "exit" && number == 0) return {};
  if (what == "exit") return {Outcome::kRefused, "it ended with exit code " + text};
  if (what == "signal") return {Outcome::kRefused, "it ended by signal " + text};
  if (what == "killed") {
    return {Outcome::kRefused,
            when_killed + (number == 0 ? "" : ", but " + text + " that it started could not be")};
  }
  // The system may have processes to spare later.
  if (number == EAGAIN || number == ENOMEM) return {Outcome::kAgain, std::strerror(number)};
  return {Outcome::kRefused, std::string("cannot start it: ") + std::strerror(number)};
}

class CommandSink : public AlarmSink {
 public:
  CommandSink(std::vector<std::string> words, double seconds)
      : words_(std::move(words)), seconds_(seconds) {}

  Delivery write(const AlarmNews& news, const Patience& patience) override {
    constexpr double kToStart = 30, kToKill = 5;  // more than the guard takes
    const auto read = [&](Subprocess& guard, Deadline until) {
      return guard.read_line(until, kMostAnswer, [&] { return patience.is_over(); });
    };
    try {
      Subprocess guard({beside_executable("kdgat").string(), kGuardVerb}, variables_of(news));
      const Deadline started_until = deadline_in(kToStart);
      guard.write(guard_request(words_), started_until);
      auto answer = read(guard, started_until);
      if (answer && answer != kGuardStarted) return delivery_of(*answer, "");
      const Deadline until = deadline_in(seconds_);
      if (answer) answer = read(guard, until);
      const bool is_late = std::chrono::steady_clock::now() >= until;
      if (!answer) {
        guard.close_input();
        answer = guard.read_line(deadline_in(kToKill), kMostAnswer);
        if (answer == kGuardStarted) answer = guard.read_line(deadline_in(kToKill), kMostAnswer);
      }
      if (!answer) return {Outcome::kRefused, "it was killed with its guard"};
      return delivery_of(*answer, is_late ? "it was killed after " + format_seconds(seconds_)
                                          : "it was killed, as it had not ended");
    } catch (const StartError& e) {  // the guard could not be started
      return {e.may_pass() ? Outcome::kAgain : Outcome::kRefused, e.what()};
    }
  }

 private:
  static constexpr std::size_t kMostAnswer = 256;

  std::vector<std::string> words_;
  double seconds_;
};

}  // namespace

std::unique_ptr<AlarmSink> make_command_sink(AlarmWords& words) {
  constexpr double kSeconds = 30;
  const auto split = words_between_blanks(words.target());
  if (!split) words.refuse("a quote is not closed");
  if (split->empty()) words.refuse("which program?");
  const std::string& program = split->front();
  if (program.find('/') == std::string::npos) {
    words.refuse("the program is named by its path: /usr/local/bin/" + program);
  }
  if (::access(program.c_str(), X_OK) != 0) {
    words.refuse("cannot run " + program + ": " + std::strerror(errno));
  }
  return std::make_unique<CommandSink>(*split, words.seconds("timeout", kSeconds));
}

}  // namespace kdgat
