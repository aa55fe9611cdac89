#include "pipeline/run/journal.h"

#include <algorithm>
#include <cmath>
#include <ctime>
#include <fstream>

#include "kdgat/measure.h"
#include "kdgat/parse_json.h"
#include "kdgat/small_file.h"
#include "pipeline/show/json_lookup.h"

namespace kdgat {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr double kGiB = 1 << 30;
/// A line of this program is far shorter, and a page shows no more warnings.
constexpr std::size_t kLongestLine = 1 << 20, kMostWarnings = 1000;

/// Collects what a journal says, event after event.
class JournalGathering {
 public:
  StepJournal take() { return std::move(journal_); }

  void add(const json& event) {
    const double now = number(event, "unix", 0);
    switch (kind_of(event)) {
      case EventKind::kStart:
        journal_.attempts.push_back({now, {}, {}});
        journal_.memory = {};
        return;
      case EventKind::kMetrics:
        add_epoch(event.get<MetricsEvent>());
        add_memory(event.get<MetricsEvent>(), since_start(now));
        break;
      case EventKind::kLog:
        if (const LogEvent log = event.get<LogEvent>();
            log.level != "info" && journal_.warnings.size() < kMostWarnings) {
          journal_.warnings.push_back(log.level + ": " + log.message);
        }
        break;
      case EventKind::kEnd:
        if (journal_.attempts.empty()) journal_.attempts.emplace_back();
        journal_.attempts.back().ended = now;
        journal_.attempts.back().end = event.get<EndEvent>();
        break;
      case EventKind::kProgress:
      case EventKind::kWindow:
      case EventKind::kAlarm:
      case EventKind::kOther:
        break;
    }
    if (const double at = since_start(now); at >= 0) journal_.memory.seconds = at;
  }

 private:
  /// -1: it does not say, or nothing began.
  double since_start(double now) const {
    const double started = journal_.attempts.empty() ? 0 : journal_.attempts.back().started;
    return now > 0 && started > 0 ? now - started : -1;
  }

  void add_epoch(const MetricsEvent& event) {
    if ((event.what != kEpoch && event.what != kEpisode) || event.index < 0) return;
    if (!event.values.is_object()) return;
    journal_.unit = event.what;
    const auto index = static_cast<double>(event.index);
    for (const auto& [name, value] : event.values.items()) {
      if (!value.is_number()) continue;
      Series& series = journal_.series[name];
      // A continued step says again what came after its checkpoint.
      while (!series.empty() && series.back().first >= index) series.pop_back();
      series.emplace_back(index, value.get<double>());
    }
  }

  void add_memory(const MetricsEvent& event, double at) {
    if (at < 0) return;
    if (event.what == kMemory) {
      const std::string kind = word(event.values, "event");
      if (!kind.empty() && kind != kMemoryPlan) journal_.memory.events.emplace_back(at, kind);
    } else if (event.what == kEpoch) {
      const json held = below(event.values, "memory");
      const auto add = [&](Series& to, const char* peak, const char* now) {
        const double bytes = number(held, peak, number(held, now));
        if (bytes >= 0) to.emplace_back(at, bytes);
      };
      add(journal_.memory.tensors, "peak_allocated", "allocated");
      add(journal_.memory.reserved, "peak_reserved", "reserved");
    }
  }

  StepJournal journal_;
};

/// Numbers by the names in which they are recorded; what is not finite is left out.
class Numbers {
 public:
  void add(const std::string& name, const json& value) {
    if (!value.is_number() || !std::isfinite(value.get<double>())) return;
    list_.emplace_back(name, value.get<double>());
  }
  /// The numbers of an object, those of objects inside of it under "outer.inner".
  void add_all(const std::string& prefix, const json& values) {
    for (const auto& [name, value] : values.items()) {
      if (value.is_object()) {
        add_all(prefix + name + ".", value);
      } else {
        add(prefix + name, value);
      }
    }
  }
  /// What tensors and the process hold, as an epoch ends.
  void add_memory(const json& held, bool is_on_gpu) {
    const auto gib = [&](const char* name, const char* key) {
      const json bytes = below(held, key);
      if (bytes.is_number()) add(name, bytes.get<double>() / kGiB);
    };
    gib("process_mem_gb", "rss_anon");
    if (!is_on_gpu) return;
    gib("gpu_mem_allocated_gb", "allocated");
    gib("gpu_mem_reserved_gb", "reserved");
    gib("gpu_mem_max_allocated_gb", "peak_allocated");
  }
  std::vector<std::pair<std::string, double>> take() { return std::move(list_); }

 private:
  std::vector<std::pair<std::string, double>> list_;
};

/// The name a number was published under: the classifier's accuracy has a short one.
std::string published_name(const std::string& what, const std::string& name) {
  return what == kEpoch && name == "val_accuracy" ? "val_acc" : name;
}

/// The bytes of the next line with its end; 0 if the file ends before. Of a line that is longer
/// than any event, `text` holds the beginning.
int64_t next_line(std::streambuf& in, std::string& text) {
  constexpr int kEnd = std::streambuf::traits_type::eof();
  text.clear();
  int64_t length = 0;
  for (int c = in.sbumpc(); c != kEnd; c = in.sbumpc()) {
    ++length;
    if (c == '\n') return length;
    if (text.size() <= kLongestLine) text += static_cast<char>(c);
  }
  return 0;
}

}  // namespace

std::vector<JournalReader::Line> JournalReader::read() {
  std::vector<Line> lines;
  std::error_code none;
  const auto size = fs::file_size(file_, none);
  if (none || static_cast<int64_t>(size) <= offset_) return lines;
  std::ifstream in = regular_file(file_);
  in.seekg(offset_);
  std::string text;
  while (const int64_t length = next_line(*in.rdbuf(), text)) {
    offset_ += length;
    if (text.size() > kLongestLine) continue;
    json event = json_or_none(text);
    if (event.is_object()) lines.push_back({std::move(event), offset_});
  }
  return lines;
}

std::string time_of(const json& event) { return word(event, "time"); }

double unix_of(const json& event) {
  if (const json unix = below(event, "unix"); unix.is_number()) return unix;
  std::tm utc{};  // a journal of an early version has nothing else
  if (::strptime(time_of(event).c_str(), "%Y-%m-%dT%H:%M:%SZ", &utc) == nullptr) return 0;
  return static_cast<double>(::timegm(&utc));
}

double StepJournal::seconds() const {
  double out = 0;
  for (const JournalAttempt& one : attempts) {
    if (one.started > 0 && one.ended) out += std::max(0.0, *one.ended - one.started);
  }
  return out;
}

StepJournal read_journal(const fs::path& step_folder) {
  JournalGathering out;
  for (const auto& line : JournalReader(step_folder / kJournalFile).read()) out.add(line.event);
  return out.take();
}

Curve curve_of(const std::string& series) {
  if (series == "lr") return Curve::kLearningRate;
  if (series == "train_loss" || series == "val_loss") return Curve::kLoss;
  if (!series.starts_with(kOfValidation)) return Curve::kNone;
  const std::string name = series.substr(kOfValidation.size());
  if (name == "threshold" || name == "n_samples") return Curve::kNone;
  for (const char* share : {"auc", "f1", "accuracy"}) {
    if (name == share) return Curve::kShare;
  }
  return name == "mae" || name == "rmse" ? Curve::kError : Curve::kTerm;
}

const std::vector<std::string>& compared_series() {
  static const std::vector<std::string> names = {"train_loss", "val_loss", "val_auc", "val_f1"};
  return names;
}

std::vector<std::pair<std::string, double>> recorded_numbers(const MetricsEvent& event,
                                                             bool is_on_gpu) {
  Numbers out;
  // Those of memory are plans and repairs, not series.
  if (event.what == kMemory || event.index < 0 || !event.values.is_object()) return {};
  for (const auto& [name, value] : event.values.items()) {
    if (name == "memory" && value.is_object()) {
      out.add_memory(value, is_on_gpu);
    } else if (value.is_object()) {
      out.add_all(name + ".", value);
    } else {
      out.add(published_name(event.what, name), value);
    }
  }
  return out.take();
}

json announced_plan(const MetricsEvent& event) {
  const bool is_plan = event.what == kMemory && word(event.values, "event") == kMemoryPlan;
  return is_plan ? below(event.values, "plan") : json();
}

MetricsEvent memory_event(const Machine& machine, int64_t index) {
  const auto total = static_cast<double>(machine.memory_total());
  const auto available = static_cast<double>(machine.memory_available());
  json values = json::object();
  if (total > 0) {
    values = {{"cpu_mem_percent", 100 * (total - available) / total},
              {"cpu_mem_used_gb", (total - available) / kGiB},
              {"cpu_mem_available_gb", available / kGiB}};
  }
  return {kMachine, index, std::move(values)};
}

}  // namespace kdgat
