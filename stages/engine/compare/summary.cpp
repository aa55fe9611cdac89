#include "engine/compare/summary.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <optional>

#include "engine/arrays/random.h"
#include "engine/decision/detector/alarms.h"
#include "engine/train/metrics/metrics.h"

namespace kdgat::compare {
namespace {

using nlohmann::json;

constexpr double kHour = 3600;
constexpr int64_t kSameAttack = 20;  // attacked windows no further apart are of one attack
constexpr float kNever = -std::numeric_limits<float>::infinity();

/// Attacks of a log: attacked windows, those near one another together.
struct Found {
  int64_t events = 0, found = 0, false_events = 0;
  std::vector<double> delays;
};

/// What counts of the windows that a method judged.
struct Pool {
  std::vector<float> above;  // the threshold: logs may have different ones
  std::vector<int64_t> labels;
  std::vector<train::Confusion> files;
  int64_t outside_shadows = 0;
  double hours = 0;
  double alarm_hours = 0;  // of these under alarm
  Found found;
  std::optional<FrameCounts> frames;
};

void count_alarms(const JudgedLog& log, const Verdicts& said, bool without_suspects, Found& out) {
  const std::size_t first = log.first_of(said);
  bool open = false, is_found = false;
  int64_t since_attack = kSameAttack;
  decision::AlarmStream benign(said.threshold);  // an alarm next to an attack is that attack's
  double begin = 0, now = 0;
  for (std::size_t i = 0; i < said.scores.size(); ++i) {
    const std::size_t w = i + first;
    const bool flagged = said.scores[i] > said.threshold;
    if (log.labels[w] == 1) {
      if (!open || since_attack >= kSameAttack) {
        ++out.events;
        begin = log.attacked[w];
        is_found = false;
      }
      open = true;
      since_attack = 0;
      if (flagged && !is_found) {
        is_found = true;
        ++out.found;
        // Of a log without times nothing is known; where a clock steps back, no time has passed.
        if (const double delay = log.end[w] - begin; !std::isnan(delay)) {
          out.delays.push_back(std::max(0.0, delay));
        }
      }
    } else {
      ++since_attack;
    }
    const bool beside = open && since_attack <= kSameAttack;
    const bool left_out = beside || (without_suspects && log.suspect[w] > 0);
    now += log.seconds[w];
    const auto change = benign.add(static_cast<int64_t>(i), left_out ? kNever : said.scores[i],
                                   now - log.seconds[w], now);
    out.false_events += change == decision::AlarmStream::Change::kOpened ? 1 : 0;
  }
}

Pool pool(const JudgedLogs& logs, const std::string& method, bool without_suspects) {
  Pool out;
  for (const JudgedLog* log : logs) {
    const Verdicts* said = log->find(method);
    if (said == nullptr) continue;
    train::Confusion& file = out.files.emplace_back();
    if (said->frames) {
      if (!out.frames) out.frames.emplace();
      out.frames->found += said->frames->found;
      out.frames->missed += said->frames->missed;
      out.frames->wrong += said->frames->wrong;
    }
    decision::TimeUnderAlarm under_alarm;
    for (std::size_t i = 0; i < said->scores.size(); ++i) {
      const std::size_t w = i + log->first_of(*said);
      if (without_suspects && log->suspect[w] > 0) continue;
      const auto above = static_cast<float>(said->scores[i] - said->threshold);
      const bool flagged = above > 0;
      under_alarm.add(log->seconds[w], flagged && log->labels[w] != 1);
      out.above.push_back(above);
      out.labels.push_back(log->labels[w]);
      if (log->labels[w] == 1) {
        ++(flagged ? file.tp : file.fn);
        continue;
      }
      ++(flagged ? file.fp : file.tn);
      out.outside_shadows += flagged && log->shadow[w] == 0 ? 1 : 0;
      out.hours += log->seconds[w] / kHour;
    }
    out.alarm_hours += under_alarm.seconds() / kHour;
    count_alarms(*log, *said, without_suspects, out.found);
  }
  return out;
}

double f1_of(const train::Confusion& c) {
  const int64_t wrong = c.fp + c.fn;
  return c.tp == 0 ? 0 : 2.0 * static_cast<double>(c.tp) / static_cast<double>(2 * c.tp + wrong);
}

/// 95 % of the F1 of files drawn with replacement.
decision::Interval spread(const std::vector<train::Confusion>& files) {
  arrays::Random random(kBootstrapSeed, 17);
  std::vector<double> drawn;
  for (int64_t draw = 0; draw < kBootstrapDraws; ++draw) {
    train::Confusion sum;
    for (std::size_t i = 0; i < files.size(); ++i) {
      const train::Confusion& one = files[random.below(files.size())];
      sum.tp += one.tp;
      sum.fp += one.fp;
      sum.fn += one.fn;
    }
    drawn.push_back(f1_of(sum));
  }
  std::sort(drawn.begin(), drawn.end());
  const std::size_t tail = drawn.size() / 40;
  return {drawn[tail], drawn[drawn.size() - 1 - tail]};
}

/// Recall at the lowest threshold with no more false windows than `per_hour` allows.
double recall_at(const Pool& pool, double per_hour) {
  std::vector<float> benign;
  for (std::size_t i = 0; i < pool.labels.size(); ++i) {
    if (pool.labels[i] != 1) benign.push_back(pool.above[i]);
  }
  std::sort(benign.begin(), benign.end(), std::greater<>());
  const auto allowed = static_cast<std::size_t>(per_hour * pool.hours + 1e-9);
  const float threshold = allowed < benign.size() ? benign[allowed] : kNever;
  int64_t attacks = 0, found = 0;
  for (std::size_t i = 0; i < pool.labels.size(); ++i) {
    if (pool.labels[i] != 1) continue;
    ++attacks;
    found += pool.above[i] > threshold ? 1 : 0;
  }
  return attacks > 0 ? static_cast<double>(found) / static_cast<double>(attacks) : 0;
}

}  // namespace

json summarise(const JudgedLogs& logs, const std::string& method, bool without_suspects) {
  Pool all = pool(logs, method, without_suspects);
  const train::Confusion c = train::confusion(all.above, all.labels, 0);
  const json rates = train::rates(c);
  const decision::Interval interval = decision::poisson_interval(c.fp);
  const auto per_hour = [&](double count) { return all.hours > 0 ? count / all.hours : 0.0; };
  const auto attacks = c.tp + c.fn;
  std::vector<double>& delays = all.found.delays;
  std::sort(delays.begin(), delays.end());
  json out = {
      {"n_samples", c.total()},
      {"attacks", attacks},
      {"prevalence",
       c.total() > 0 ? static_cast<double>(attacks) / static_cast<double>(c.total()) : 0.0},
      {"files", all.files.size()},
      {"auc", train::auc(all.above, all.labels)},
      {"pr_auc", train::pr_auc(all.above, all.labels)},
      {"f1", rates.at("f1")},
      {"f1_low", json()},
      {"f1_high", json()},
      {"mcc", rates.at("mcc")},
      {"recall_at_1_per_hour", recall_at(all, 1)},
      {"recall_at_10_per_hour", recall_at(all, 10)},
      {"false_windows", c.fp},
      {"false_outside_shadows", all.outside_shadows},
      {"missed_windows", c.fn},
      {"benign_hours", all.hours},
      {"false_per_hour", per_hour(static_cast<double>(c.fp))},
      {"false_per_hour_low", per_hour(interval.low)},
      {"false_per_hour_high", per_hour(interval.high)},
      {"time_under_alarm", all.hours > 0 ? std::min(1.0, all.alarm_hours / all.hours) : 0.0},
      {"false_events", all.found.false_events},
      {"events", all.found.events},
      {"events_found", all.found.found},
      {"events_missed", all.found.events - all.found.found},
      {"time_to_alarm", delays.empty() ? json() : json(delays[delays.size() / 2])},
      {"worst_time_to_alarm", delays.empty() ? json() : json(delays.back())}};
  if (all.frames) {
    const train::Confusion frames{all.frames->found, all.frames->wrong, 0, all.frames->missed};
    out["frames"] = {
        {"f1", f1_of(frames)}, {"found", frames.tp}, {"missed", frames.fn}, {"false", frames.fp}};
  }
  if (all.files.size() > 1) {
    const decision::Interval f1 = spread(all.files);
    out["f1_low"] = f1.low;
    out["f1_high"] = f1.high;
  }
  return out;
}

double f1_where(const JudgedLogs& logs, const std::string& method, const std::string& other) {
  train::Confusion sum;
  for (const JudgedLog* log : logs) {
    const Verdicts *of = log->find(method), *with = log->find(other);
    if (of == nullptr || with == nullptr) continue;
    const std::size_t begin = std::max(log->first_of(*of), log->first_of(*with));
    for (std::size_t w = begin; w < log->labels.size(); ++w) {
      const bool flagged = of->scores[w - log->first_of(*of)] > of->threshold;
      if (log->labels[w] == 1) {
        ++(flagged ? sum.tp : sum.fn);
      } else {
        sum.fp += flagged ? 1 : 0;
      }
    }
  }
  return f1_of(sum);
}

}  // namespace kdgat::compare
