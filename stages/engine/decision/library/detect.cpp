#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <deque>
#include <exception>
#include <memory>
#include <new>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "engine/data/can/frames/can_frame.h"
#include "engine/data/can/logs/can_log.h"
#include "engine/decision/library/kdgat_detect.h"
#include "engine/decision/stream/stream_model.h"
#include "kdgat/error.h"
#include "kdgat/event.h"
#include "kdgat/options.h"
#include "kdgat/parse_json.h"

namespace {

using namespace kdgat;
using nlohmann::json;

std::string text_of(const Error& error) {
  std::string out;
  for (const Diagnostic& one : error.diagnostics()) {
    out += (out.empty() ? "" : "; ") + Diagnostic{one.where, one.message, ""}.text();
    if (!one.hint.empty()) out += " (" + one.hint + ")";
  }
  return out;
}

/// What went wrong in `call`, "" if nothing: no exception reaches C.
template <class Call>
std::string fault_of(Call&& call) {
  try {
    call();
    return "";
  } catch (const Error& error) {
    return text_of(error);
  } catch (const std::bad_alloc&) {
    return "out of memory";
  } catch (const std::exception& error) {
    return error.what();
  } catch (...) {
    return "unknown exception";
  }
}

/// What the schema of an option says against its value; the program checks that before a stage is
/// called, and nobody did it here.
std::string problem_of(const json& schema, const json& value) {
  if (value.is_array()) {
    if (value.size() < schema.value("minItems", std::size_t{0})) return "is empty";
    const json element = schema.value("items", json::object());
    for (const json& one : value) {
      if (std::string problem = problem_of(element, one); !problem.empty()) return problem;
    }
    return "";
  }
  if (value.is_number()) {
    const double number = value.get<double>();
    const bool is_inside =
        number >= schema.value("minimum", number) && number <= schema.value("maximum", number);
    return is_inside ? "" : value.dump() + " is outside of its range";
  }
  const json choices = schema.value("enum", json());
  if (choices.is_null() || std::find(choices.begin(), choices.end(), value) != choices.end()) {
    return "";
  }
  return value.dump(-1, ' ', false, json::error_handler_t::replace) + " is not one of " +
         choices.dump();
}

decision::ScoreOptions options_of(const char* text) {
  json given = text == nullptr ? json::object() : checked_json(text, "options");
  if (!given.is_object()) throw Error(ExitCode::kUsage, "options: not a JSON object");
  const json schema = options_schema<decision::ScoreOptions>();
  std::vector<Diagnostic> problems;
  for (const auto& [name, option] : schema.at("properties").items()) {
    const auto value = given.find(name);
    const std::string problem = value == given.end() ? "" : problem_of(option, *value);
    if (!problem.empty()) problems.push_back({"options." + name, problem, ""});
  }
  if (!problems.empty()) throw Error(ExitCode::kUsage, std::move(problems));
  decision::ScoreOptions options = load_options<decision::ScoreOptions>(given);
  options.batch = 1;  // as each frame comes, whatever was asked for
  return options;
}

double seconds_of(const json& time) {
  return time.is_number() ? time.get<double>() : std::numeric_limits<double>::quiet_NaN();
}

}  // namespace

struct kdgat_detect {
  kdgat_detect(const char* file, const char* text)
      : options(options_of(text)), model(decision::open_stream_model(file, options, {})) {
    judge = model->judge("bus", {{},
                                 [this](const AlarmEvent& alarm) { keep(alarm); },
                                 [](const std::string&, const std::string&) {},
                                 [] { return ExitCode::kOk; }});
  }

  void keep(const AlarmEvent& alarm) {
    if (waiting.size() == KDGAT_DETECT_ALARMS) {
      waiting.pop_front();
      ++dropped;
    }
    waiting.push_back(alarm);
  }

  /// Events that wait, or -1.
  template <class Call>
  int32_t answer(Call&& call) {
    error = fault_of(std::forward<Call>(call));
    return error.empty() ? static_cast<int32_t>(waiting.size()) : -1;
  }

  void push(const kdgat_frame& from) {
    if (is_finished) throw Error(ExitCode::kUsage, "the traffic has ended: open another handle");
    if (from.length > 64 || (from.length > 0 && from.data == nullptr)) {
      throw Error(ExitCode::kData, "a frame of " + std::to_string(from.length) +
                                       " bytes: 0 to 64 are possible, and data must be there");
    }
    const bool is_extended = (from.flags & KDGAT_FRAME_EXTENDED) != 0;
    if (from.id >= (is_extended ? 1U << 29 : 1U << 11)) {
      throw Error(ExitCode::kData, "id " + std::to_string(from.id) + " is beyond " +
                                       (is_extended ? "29" : "11") + " bits");
    }
    if (from.channel >= data::kMostChannels) {
      throw Error(ExitCode::kData,
                  "channel " + std::to_string(from.channel) + ": 0 to 7 are possible");
    }
    data::CanFrame frame;
    frame.time = std::isfinite(from.time) ? from.time : std::numeric_limits<double>::quiet_NaN();
    frame.id = from.id;
    frame.length = from.length;
    frame.channel = from.channel;
    frame.extended = is_extended;
    frame.remote = (from.flags & KDGAT_FRAME_REMOTE) != 0;
    frame.fd = (from.flags & KDGAT_FRAME_FD) != 0;
    if (from.length > 0 && !frame.remote)
      std::copy_n(from.data, from.length, frame.payload.begin());
    const bool restarts = frame.time < last - data::kClockRestart;
    if (!std::isnan(frame.time)) last = frame.time;
    ++frames;
    judge->add(frame, restarts);
  }

  const decision::ScoreOptions options;
  const std::unique_ptr<decision::StreamModel> model;
  std::unique_ptr<decision::LogJudge> judge;
  std::deque<AlarmEvent> waiting;
  std::string error, line;
  int64_t frames = 0, dropped = 0;
  double last = -std::numeric_limits<double>::infinity();
  bool is_finished = false;
};

extern "C" {

kdgat_detect* kdgat_detect_open(const char* model, const char* options, char* why, size_t size) {
  kdgat_detect* out = nullptr;
  const std::string fault = fault_of([&] {
    if (model == nullptr) throw Error(ExitCode::kUsage, "no model is named");
    out = new kdgat_detect(model, options);
  });
  if (why != nullptr && size > 0) {
    const std::size_t length = std::min(fault.size(), size - 1);
    std::memcpy(why, fault.data(), length);
    why[length] = '\0';
  }
  return out;
}

int32_t kdgat_detect_push(kdgat_detect* detect, const kdgat_frame* frame) {
  if (detect == nullptr) return -1;
  return detect->answer([&] {
    if (frame == nullptr) throw Error(ExitCode::kUsage, "no frame is given");
    detect->push(*frame);
  });
}

int32_t kdgat_detect_finish(kdgat_detect* detect) {
  if (detect == nullptr) return -1;
  return detect->answer([&] {
    if (!std::exchange(detect->is_finished, true)) detect->judge->finish();
  });
}

int32_t kdgat_detect_poll(kdgat_detect* detect, kdgat_detect_alarm* alarm) {
  if (detect == nullptr) return -1;
  if (alarm == nullptr) {
    detect->error = "there is no place for the alarm";
    return -1;
  }
  if (detect->waiting.empty()) return 0;
  const AlarmEvent event = std::move(detect->waiting.front());
  detect->waiting.pop_front();
  detect->error = fault_of(
      [&] { detect->line = json(event).dump(-1, ' ', false, json::error_handler_t::replace); });
  *alarm = {event.alarm,           event.open ? 1 : 0, seconds_of(event.begin),
            seconds_of(event.end), event.first_window, event.last_window,
            event.windows,         event.peak,         detect->line.c_str()};
  return 1;
}

void kdgat_detect_count(const kdgat_detect* detect, kdgat_detect_counts* counts) {
  if (counts == nullptr) return;
  *counts = {};
  if (detect == nullptr) return;
  const decision::LogJudge& judge = *detect->judge;
  *counts = {detect->frames,    judge.windows(), judge.flagged(),
             judge.alarms(),    detect->dropped, judge.is_learning() ? 1 : 0,
             judge.last_score()};
}

const char* kdgat_detect_error(const kdgat_detect* detect) {
  return detect == nullptr ? "no detector is open" : detect->error.c_str();
}
const char* kdgat_detect_model(const kdgat_detect* detect) {
  return detect == nullptr ? "" : detect->model->hash().c_str();
}
void kdgat_detect_close(kdgat_detect* detect) { delete detect; }
const char* kdgat_detect_version(void) { return KDGAT_VERSION; }

}  // extern "C"
