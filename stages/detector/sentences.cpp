#include "detector/sentences.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "kdgat/text.h"

namespace kdgat::detector {
namespace {

/// "54 s", "12 min", "3.2 h".
std::string span_text(double seconds) {
  constexpr double kMinute = 60, kHour = 3600;
  if (seconds < 10 * kMinute) return format_number("%.0f s", seconds);
  if (seconds < 3 * kHour) return format_number("%.0f min", seconds / kMinute);
  return format_number("%.1f h", seconds / kHour);
}

/// "3.2/h", "110/h".
std::string rate_text(double per_hour) {
  return format_number(per_hour < 10 ? "%.2g/h" : "%.0f/h", per_hour);
}

std::string labels_text(std::span<const data::StoredLog> logs,
                        const std::vector<std::size_t>& some) {
  int64_t attacked = 0, attack_rows = 0;
  bool is_labelled = false;
  for (const std::size_t index : some) {
    const data::StoredLog& log = logs[index];
    int64_t rows = 0;
    for (int64_t row = 0; row < log.rows(); ++row) rows += log.is_attack(row) ? 1 : 0;
    attacked += rows > 0 ? 1 : 0;
    attack_rows += rows;
    is_labelled = is_labelled || log.is_labelled();
  }
  if (!is_labelled) return "no labels, all of it taken as benign";
  if (attacked == 0) return "no row is labelled as an attack";
  return grouped(attack_rows) + " rows labelled as attacks, in " + data::counted(attacked, "log");
}

std::string sentence_of(std::span<const data::StoredLog> logs, const std::vector<std::size_t>& some,
                        const data::Vehicle& vehicle) {
  const data::VehicleProfile& profile = vehicle.profile;
  std::set<uint8_t> buses;
  for (const data::IdProfile& one : profile.ids) buses.insert(one.channel);
  std::string out = "vehicle of " + vehicle.name + ": " +
                    data::counted(static_cast<int64_t>(some.size()), "log") + ", " +
                    data::counted(std::ssize(profile.ids), "id");
  if (buses.size() > 1) {
    out += " on " + data::counted(static_cast<int64_t>(buses.size()), "channel");
  }
  if (profile.seconds > 0) {
    const double rate = static_cast<double>(profile.frames) / profile.seconds;
    out += ", " + span_text(profile.seconds) + " of benign traffic at " +
           grouped(std::llround(rate)) + " frames a second";
  } else {
    out += ", " + grouped(profile.frames) + " benign frames without times";
  }
  return out + "; " + labels_text(logs, some);
}

std::string listed(const std::vector<std::string>& words) {
  std::string out;
  for (const std::string& word : words) out += (out.empty() ? "" : ", ") + word;
  return out;
}

/// The first ones, and how many more `thing`s there are.
std::string first_of(std::vector<std::string> words, const char* thing) {
  constexpr std::size_t kTold = 8;
  const std::size_t more = words.size() - std::min(kTold, words.size());
  words.resize(words.size() - more);
  return listed(words) +
         (more == 0 ? "" : " and " + data::counted(static_cast<int64_t>(more), thing) + " more");
}

}  // namespace

std::vector<std::string> sentences_of_logs(std::span<const data::StoredLog> logs,
                                           const std::vector<std::vector<std::size_t>>& vehicles,
                                           std::span<const data::Vehicle> known) {
  constexpr std::size_t kTold = 8;
  std::vector<std::string> out;
  for (std::size_t v = 0; v < std::min(kTold, vehicles.size()); ++v) {
    out.push_back(sentence_of(logs, vehicles[v], known[v]));
  }
  if (vehicles.size() > kTold) {
    out.push_back("and " + data::counted(static_cast<int64_t>(vehicles.size() - kTold), "vehicle") +
                  " more");
  }
  return out;
}

std::string sentence_of_unlabelled(std::span<const data::StoredLog> logs) {
  std::vector<std::string> found;
  bool has_labels = false;
  for (const data::StoredLog& log : logs) {
    const int64_t rows = log.unlabelled();
    has_labels = has_labels || rows < log.rows();
    if (rows == 0) continue;
    found.push_back(log.name() + (rows == log.rows()
                                      ? " (no labels)"
                                      : " (" + grouped(rows) + " of " + grouped(log.rows()) +
                                            " rows without a label)"));
  }
  if (!has_labels || found.empty()) return "";
  return "taken as benign: " + first_of(std::move(found), "log") +
         ". Attacks in them become part of what is usual: label them, or leave such logs out";
}

std::string sentence_of_attacked(const data::StoredLog& log, const FlaggedCount& count) {
  return "not learned from: " + log.name() + ", which has no labels and looks attacked: of " +
         grouped(count.windows) + " windows " + format_number("%.0f %%", 100 * count.share()) +
         " are flagged by a model of the other logs. Label it to have it learned from";
}

std::string sentence_of_odd_benign(const LeftOut& left_out, const decision::DetectorModel& model) {
  constexpr int64_t kFew = 10;  // windows
  constexpr double kFarBeyond = 10;
  constexpr double kUsual = 0.01;  // of the windows, also with a budget of 0
  double budget = 0;
  for (const auto& [own, decision] : model.decisions) {
    budget = std::max(budget, decision.budget.per_hour);
  }
  const auto odd = static_cast<double>(left_out.odd_benign);
  const double usual = std::max(kFarBeyond * budget * left_out.benign_hours,
                                kUsual * static_cast<double>(left_out.benign.windows));
  if (left_out.odd_benign < kFew || odd <= usual) return "";
  return grouped(left_out.odd_benign) + " of " + grouped(left_out.benign.windows) +
         " windows that are taken as benign look like attacks to models of the other logs, " +
         rate_text(odd / left_out.benign_hours) + ". To keep the budget of " + rate_text(budget) +
         " the threshold is higher than most of them, and than attacks like them. The logs may "
         "hold "
         "attacks without a label";
}

std::string sentence_of_reach(const LeftOut& left_out) {
  constexpr double kFound = 0.95, kBlind = 0.5;
  std::vector<std::string> found, partly, blind;
  for (const auto& [kind, count] : left_out.injected) {
    if (count.windows == 0) continue;
    const double share = static_cast<double>(count.detector) / static_cast<double>(count.windows);
    (share >= kFound ? found : share >= kBlind ? partly : blind).push_back(kind);
  }
  std::string out;
  const auto add = [&](const char* what, const std::vector<std::string>& kinds) {
    if (!kinds.empty()) out += (out.empty() ? "" : "; ") + (what + listed(kinds));
  };
  add("finds ", found);
  add("finds in part ", partly);
  add("is blind to ", blind);
  if (out.empty()) return "";
  return "of injected attacks left out of training the detector " + out +
         " (95 % of the windows, half of them, fewer)";
}

std::string sentence_of_little(const std::vector<std::vector<std::size_t>>& vehicles,
                               std::span<const data::Vehicle> known) {
  std::vector<std::string> few;
  for (std::size_t v = 0; v < vehicles.size(); ++v) {
    const double seconds = known[v].profile.seconds;
    const bool is_one = vehicles[v].size() == 1;
    if (seconds <= 0 || (!is_one && seconds >= kFewSeconds)) continue;
    few.push_back(known[v].name + " (" + (is_one ? "one drive, " : "") + span_text(seconds) + ")");
  }
  if (few.empty()) return "";
  return "one drive alone, or less than " + span_text(kFewSeconds) +
         " of benign traffic, was learned of " + first_of(std::move(few), "vehicle") +
         ". What these vehicles do at other times, as driving where they stood, may be flagged";
}

std::string sentence_of_laws(const std::vector<std::vector<std::size_t>>& vehicles,
                             std::span<const data::Vehicle> known) {
  std::vector<std::string> found;
  int64_t without = 0;
  for (std::size_t v = 0; v < vehicles.size(); ++v) {
    int64_t counters = 0, checks = 0;
    for (const data::IdProfile& one : known[v].profile.ids) {
      if (!one.laws) continue;
      counters += one.laws->counters != 0 ? 1 : 0;
      checks += one.laws->has_checks() ? 1 : 0;
    }
    if (counters + checks == 0) {
      ++without;
      continue;
    }
    found.push_back("counters of " + data::counted(counters, "id") + " and checksums of " +
                    std::to_string(checks) + " of " + known[v].name);
  }
  std::string rest = "no counter and no checksum is known of " + data::counted(without, "vehicle") +
                     ": they are learned where two drives or more agree";
  if (found.empty()) return rest;
  return "knows " + first_of(std::move(found), "vehicle") + (without == 0 ? "" : "; " + rest);
}

std::string sentence_of_choice(const Learning& learning, const DetectorOptions& options) {
  const LearningSet& rows = learning.rows;
  int64_t labelled = 0, injected = 0, benign = 0;
  for (std::size_t i = 0; i < rows.labels.size(); ++i) {
    const bool is_attack = rows.labels[i] == 1;
    (!is_attack ? benign : rows.kinds[i] < 0 ? labelled : injected) += 1;
  }
  std::string out = "learns what is usual from " + data::counted(benign, "benign window") +
                    ", and what attacks look like from ";
  if (labelled > 0) out += grouped(labelled) + " labelled and ";
  out += grouped(injected) + " injected ones (" + listed(options.inject) + ")";
  if (labelled == 0) {
    out += options.use_labels ? "; no attack is labelled" : "; labels are not used";
  }
  if (learning.windows > options.most_windows) {
    out += "; of " + grouped(learning.windows) + " windows of the logs, " +
           grouped(options.most_windows) + " in pieces from everywhere";
  }
  return out;
}

std::string sentence_of_network(const Learning& learning,
                                const decision::RelativeNetwork& network) {
  int64_t held_out = 0;
  for (const Held& held : learning.held) held_out += std::ssize(held.network);
  return "the classifier is a network of " + grouped(network.parameters()) +
         " parameters; its thresholds follow from " + data::counted(held_out, "benign window") +
         " that it was not trained on";
}

std::string sentence_of_thresholds(const decision::DetectorModel& model,
                                   const DetectorOptions& options) {
  double least = 0;
  std::string out;
  for (const auto& [own, decision] : model.decisions) {
    least = std::max(least, decision.budget.per_hour);
    out += (out.empty() ? "" : ", ") + rate_text(decision.budget.per_hour) + " from " +
           span_text(decision.budget.hours * 3600) + " of benign traffic " +
           (own == 0 ? "for these vehicles"
                     : "for vehicles known by " + grouped(own) + " windows of their own");
  }
  const bool is_taken = options.false_alarms == 0 || least > options.false_alarms;
  return "thresholds for a budget of false windows" +
         std::string(is_taken ? ", the smallest that the benign traffic supports: " : ": ") + out +
         (model.alarm_rule.is_single()
              ? ""
              : "; flagged by " + std::to_string(model.alarm_rule.k) + " of the last " +
                    std::to_string(model.alarm_rule.n) + " windows");
}

}  // namespace kdgat::detector
