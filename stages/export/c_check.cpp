#include "export/c_check.h"

#include <unistd.h>

#include <cmath>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "engine/data/can/logs/can_log.h"
#include "engine/data/can/logs/frame_writer.h"
#include "engine/decision/stream/stream_model.h"
#include "engine/export/c/portable_level.h"
#include "engine/train/metrics/metrics.h"
#include "export/made_up_frames.h"
#include "export/run_program.h"
#include "kdgat/error.h"
#include "kdgat/program_path.h"
#include "kdgat/text.h"

namespace kdgat::exporting {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr int64_t kCheckFrames = 50'000;

void compile(const std::string& compiler, const fs::path& folder, const std::string& name,
             const char* program, const fs::path& to) {
  const Ran ran = run_program({compiler, "-std=c99", "-O2", "-ffp-contract=off", "-o", to.string(),
                               (folder / (std::string(program) + ".c")).string(),
                               (folder / (name + ".c")).string()});
  if (ran.code == 0) return;
  throw Error(ExitCode::kData, "the C file that was made does not compile: " + ran.output,
              "please report it");
}

/// What either side says of a log.
struct Said {
  struct Window {
    float score;
    bool is_flagged;
  };
  std::vector<Window> windows;
  std::vector<json> alarms;  ///< what both sides know of each change

  void add_alarm(const json& of) {
    json alarm;
    for (const char* key :
         {"alarm", "open", "begin", "end", "first_window", "last_window", "windows", "peak"}) {
      alarm[key] = of.at(key);
    }
    alarm["peak"] = alarm["peak"].get<float>();
    alarms.push_back(std::move(alarm));
  }
};

Said said_by_program(const fs::path& program, const fs::path& log, const fs::path& to) {
  const Ran ran = run_program({program.string(), "--windows"}, log, to);
  if (ran.code != 0) {
    throw Error(ExitCode::kData,
                "the C program ended with " + std::to_string(ran.code) + ": " + ran.output);
  }
  Said out;
  std::ifstream stream(to);
  for (std::string line; std::getline(stream, line);) {
    const json event = json::parse(line);
    if (event.at("event") == "alarm") {
      out.add_alarm(event);
    } else {
      out.windows.push_back({event.at("score").get<float>(), event.at("decision") == "attack"});
    }
  }
  return out;
}

}  // namespace

std::optional<std::string> CCheck::compiler() {
  for (const char* name : {"cc", "gcc", "clang"}) {
    if (!program_path(name).empty()) return name;
  }
  return std::nullopt;
}

CCheck::CCheck(const fs::path& folder, std::string name, fs::path model,
               decision::ScoreOptions options, bool is_exact)
    : folder_(fs::absolute(folder)),
      model_(std::move(model)),
      name_(std::move(name)),
      options_(std::move(options)),
      is_exact_(is_exact) {
  std::string work = (fs::absolute(fs::temp_directory_path()) / "kdgat_export.XXXXXX").string();
  if (::mkdtemp(work.data()) == nullptr) {
    throw Error(ExitCode::kData, "cannot make a folder for temporary files", "", work);
  }
  work_ = work;
  compile(compiler().value(), folder_, name_, "main", work_ / "detect");
}

CCheck::~CCheck() {
  std::error_code ignored;
  fs::remove_all(work_, ignored);
}

void CCheck::run_vectors() const {
  compile(compiler().value(), folder_, name_, "check", work_ / "check");
  const Ran ran = run_program({(work_ / "check").string()});
  if (ran.code == 0) return;
  throw Error(ExitCode::kData, "the test vectors do not hold: " + ran.output, "please report it");
}

std::optional<MeasuredSize> CCheck::size() const {
  return measured_size(folder_, name_, compiler().value(), work_);
}

Check CCheck::run_made_up(std::span<const int64_t> keys, double threshold) const {
  const std::vector<data::CanFrame> frames = made_up_frames(keys, kCheckFrames);
  std::size_t at = 0;
  return run(
      [&](data::CanFrame& frame) {
        if (at == frames.size()) return false;
        frame = frames[at++];
        return true;
      },
      "made-up traffic", threshold);
}

Check CCheck::run_log(const data::LogFile& log, const data::LogReading& reading, double threshold,
                      const std::function<bool()>& cancelled, data::Notes& notes) const {
  data::CanLog from(file::ByteReader(log.path, cancelled), "auto", false, data::kAllChannels,
                    reading);
  Check check = run(
      [&](data::CanFrame& frame) {
        do {
          if (cancelled()) throw Error(ExitCode::kInterrupted, "interrupted; nothing was written");
          if (!from.next(frame)) return false;
        } while (frame.channel != 0);
        if (std::isnan(frame.time)) {
          throw Error(ExitCode::kData, "a log without times: an export cannot be checked on it", "",
                      log.path.string());
        }
        return true;
      },
      log.name, threshold);
  for (data::Note& note : from.problems()) notes.push_back(std::move(note));
  return check;
}

Check CCheck::run(const NextFrame& next, const std::string& where, double threshold) const {
  const fs::path log = work_ / "frames.log", said = work_ / "said.jsonl";
  std::vector<int64_t> labels;  // of frames
  bool is_labelled = false;
  {
    const auto writer = data::frame_writer(log.string());
    std::ofstream stream(log, std::ios::binary);
    std::string text;
    for (data::CanFrame frame; next(frame); text.clear()) {
      labels.push_back(frame.label);
      is_labelled |= frame.label >= 0;
      writer->add(frame, text);
      stream << text;
    }
    if (!stream.flush()) {
      throw Error(ExitCode::kData, "cannot write the frames to check on", "", log.string());
    }
  }
  const Said by_c = said_by_program(work_ / "detect", log, said);
  const PortableLevel portable;
  Said by_native;
  std::vector<int64_t> label_of;  // of windows
  const auto model = decision::open_stream_model(model_, options_, {});
  std::vector<int64_t> rows;
  decision::JudgeSink sink;
  sink.window = [&](const WindowEvent& window) {
    by_native.windows.push_back({window.score, window.decision == "attack"});
    rows.push_back(window.row);
  };
  sink.alarm = [&](const AlarmEvent& alarm) { by_native.add_alarm(alarm); };
  sink.log = [](const std::string&, const std::string&) {};
  sink.cancelled = [] { return ExitCode::kOk; };
  const auto judge = model->judge(where, sink);
  data::CanLog frames(file::ByteReader(log), "candump", true);
  for (data::CanFrame frame; frames.next(frame);) judge->add(frame, frames.restarted());
  judge->finish();

  Check check;
  check.what = "the C file, compiled, against the native engine";
  check.where = where;
  check.is_exact = is_exact_;
  const std::size_t windows = std::min(by_c.windows.size(), by_native.windows.size());
  std::vector<float> exact, rounded;
  for (std::size_t w = 0; w < windows; ++w) {
    const Said::Window &a = by_c.windows[w], &b = by_native.windows[w];
    check.add(a.score, b.score, threshold, a.is_flagged, b.is_flagged);
    exact.push_back(b.score);
    rounded.push_back(a.score);
    const auto begin = labels.begin() + rows[w];
    const auto end = w + 1 < rows.size() ? labels.begin() + rows[w + 1] : labels.end();
    label_of.push_back(std::find(begin, end, 1) != end ? 1 : 0);
  }
  check.finish();
  if (by_c.windows.size() != by_native.windows.size()) {
    throw Error(ExitCode::kData,
                where + ": the C program judged " + grouped(std::ssize(by_c.windows)) +
                    " windows, the native "
                    "engine " +
                    grouped(std::ssize(by_native.windows)),
                "please report it");
  }
  if (is_exact_ && by_c.alarms != by_native.alarms) {
    throw Error(ExitCode::kData, where + ": the C program has other alarms than the native engine",
                "please report it");
  }
  check.more =
      grouped(std::ssize(by_c.alarms)) + " changes of alarms" + (is_exact_ ? ", all the same" : "");
  if (!is_exact_ && is_labelled) {
    const auto f1 = [&](std::span<const float> scores) {
      return train::rates(train::confusion(scores, label_of, threshold)).value("f1", 0.0);
    };
    const double exact_auc = train::auc(exact, label_of), auc = train::auc(rounded, label_of);
    check.kept = {
        {"exact_auc", exact_auc}, {"auc", auc}, {"exact_f1", f1(exact)}, {"f1", f1(rounded)}};
    check.more += format_number("; AUC %.4f", exact_auc) + format_number(" becomes %.4f", auc) +
                  format_number(", F1 %.4f", f1(exact)) +
                  format_number(" becomes %.4f", f1(rounded));
  }
  return check;
}

}  // namespace kdgat::exporting
