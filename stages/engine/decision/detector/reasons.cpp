#include "engine/decision/detector/reasons.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "engine/data/can/vehicles/stored_log.h"
#include "kdgat/text.h"

namespace kdgat::decision {
namespace {

using data::ByteMoves;
using data::ComparedFrame;
using data::IdProfile;
using data::Relative;
using nlohmann::json;

constexpr double kMilliseconds = 1000;
constexpr double kMoreFrames = 1.3, kMoreTime = 1.3;  // times what is usual is worth a word
constexpr float kRareBits = 8;      // a move of a byte that one frame in 256 makes
constexpr double kNearlyAll = 0.9;  // of the frames

/// The columns in which a kind of oddness shows.
bool fell(const BlamedIds& part, std::initializer_list<Relative> columns) {
  return std::any_of(columns.begin(), columns.end(),
                     [&](Relative which) { return part.columns[static_cast<std::size_t>(which)]; });
}
bool fell_in_times(const BlamedIds& part) {
  return fell(part, {Relative::kCrowd, Relative::kSurplus, Relative::kCrowdOff,
                     Relative::kCrowdOff2, Relative::kOffShare, Relative::kCrowdBack,
                     Relative::kCrowdNew, Relative::kOffNew, Relative::kOffBack});
}
bool fell_in_payloads(const BlamedIds& part) {
  return fell(part, {Relative::kCrowdBack, Relative::kCrowdNew, Relative::kOffNew,
                     Relative::kOffBack, Relative::kNew, Relative::kBack});
}

/// "0.48", "12", "1210"
std::string rounded(double value) {
  return format_number(std::abs(value) < 1 ? "%.2g" : value < 100 ? "%.3g" : "%.0f", value);
}

std::string frames_text(int64_t frames) {
  return grouped(frames) + (frames == 1 ? " frame" : " frames");
}

/// " (EngineSpeed Torque)": the signals of these bytes, each once; "" where none is known.
std::string signals_text(const std::vector<int>& bytes, const IdFacts& facts) {
  constexpr std::size_t kToldSignals = 3;
  std::vector<std::string> names;
  for (const int byte : bytes) {
    const auto found = facts.signals.find(byte);
    if (found == facts.signals.end()) continue;
    for (const std::string& name : found->second) {
      if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
    }
  }
  std::string out;
  for (std::size_t i = 0; i < std::min(names.size(), kToldSignals); ++i) {
    out += (i == 0 ? " (" : " ") + names[i];
  }
  if (names.size() > kToldSignals) {
    out += " and " + std::to_string(names.size() - kToldSignals) + " more";
  }
  return out.empty() ? out : out + ")";
}

/// "byte 5", "bytes 2-3 and 6 (EngineSpeed)"
std::string bytes_text(const std::vector<int>& bytes, const IdFacts& facts) {
  std::vector<std::string> runs;
  for (std::size_t i = 0; i < bytes.size();) {
    std::size_t end = i + 1;
    while (end < bytes.size() && bytes[end] == bytes[end - 1] + 1) ++end;
    runs.push_back(std::to_string(bytes[i]));
    if (end - i > 1) runs.back() += "-" + std::to_string(bytes[end - 1]);
    i = end;
  }
  std::string out = bytes.size() == 1 ? "byte " : "bytes ";
  for (std::size_t i = 0; i < runs.size(); ++i) {
    out += (i == 0 ? "" : i + 1 == runs.size() ? " and " : " ") + runs[i];
  }
  return out + signals_text(bytes, facts);
}

std::string lengths_text(const std::vector<int>& lengths) {
  std::string out;
  for (const int length : lengths) out += (out.empty() ? "" : " or ") + std::to_string(length);
  return out;
}

/// What the frames of one id, in the order of the log, say of its payload.
class PayloadMoves {
 public:
  explicit PayloadMoves(const IdProfile& usual) : usual_(usual) {}

  void add(const data::CanFrame& from, const data::CanFrame& to) {
    ++moves_;
    const std::size_t length =
        std::min<std::size_t>({from.length, to.length, usual_.bytes.size(), bytes_.size()});
    for (std::size_t i = 0; i < length; ++i) {
      const ByteMoves& byte = usual_.bytes[i];
      const int bin = ByteMoves::bin(from.payload[i], to.payload[i]);
      Byte& seen = bytes_[i];
      if (bin == 0) {
        ++seen.stayed;
      } else if (byte.counts()[0] == byte.total()) {
        seen.never = true;
      } else if (byte.surprise(bin) > kRareBits) {
        seen.far = true;
      }
    }
  }

  void tell(IdFacts& out) const {
    for (std::size_t i = 0; i < std::min(usual_.bytes.size(), bytes_.size()); ++i) {
      const ByteMoves& byte = usual_.bytes[i];
      const auto at = static_cast<int>(i);
      if (bytes_[i].never) out.constant_moved.push_back(at);
      if (bytes_[i].far) out.jumped.push_back(at);
      const auto rests = static_cast<double>(byte.counts()[0]);
      const bool is_lively = rests < (1 - kNearlyAll) * static_cast<double>(byte.total());
      constexpr int64_t kEnough = 3;
      if (is_lively && moves_ >= kEnough && 2 * bytes_[i].stayed > moves_) out.stood.push_back(at);
    }
  }

 private:
  struct Byte {
    int64_t stayed = 0;
    bool never = false, far = false;
  };
  const IdProfile& usual_;
  std::array<Byte, data::kMostPayload> bytes_{};
  int64_t moves_ = 0;
};

void tell_payload(const Evidence& evidence, uint32_t key, const IdProfile& usual, IdFacts& out) {
  const auto compared = evidence.windows.frames();
  PayloadMoves moves(usual);
  const data::CanFrame* before = nullptr;
  for (std::size_t i = 0; i < evidence.first + compared.size(); ++i) {
    const LogRow& row = evidence.rows[i];
    if (row.restarts) before = nullptr;
    const bool is_inside = i >= evidence.first;
    // In the window an id of J1939 may come with another priority.
    if ((is_inside ? compared[i - evidence.first].key : row.frame.key()) != key) continue;
    if (is_inside && before != nullptr) moves.add(*before, row.frame);
    before = &row.frame;
  }
  moves.tell(out);
}

void insert_once(std::vector<int>& list, int value) {
  if (std::find(list.begin(), list.end(), value) == list.end()) list.push_back(value);
}

/// Names of the message, and of the signals of the bytes that are told.
void name_parts(const data::DbcMessage& message, IdFacts& facts) {
  facts.name = message.name;
  for (const auto* bytes : {&facts.constant_moved, &facts.jumped, &facts.stood}) {
    for (const int byte : *bytes) {
      std::vector<std::string> names = message.signals_at(byte);
      if (!names.empty()) facts.signals[byte] = std::move(names);
    }
  }
}

IdFacts facts_of(const BlamedIds& part, uint32_t key, const Evidence& evidence) {
  IdFacts out;
  out.id = data::id_text(key);
  const auto compared = evidence.windows.frames();
  const IdProfile* usual = evidence.profile.find(key);
  float shortest = INFINITY, longest = 0, distance = 0;
  for (std::size_t i = 0; i < compared.size(); ++i) {
    const ComparedFrame& frame = compared[i];
    if (frame.key != key) continue;
    ++out.frames;
    if (frame.kind() != ComparedFrame::Kind::kKnown) out.is_known = false;
    if (frame.gap >= 0) shortest = std::min(shortest, frame.gap);
    if (frame.gap >= 0) longest = std::max(longest, frame.gap);
    if (frame.off > 0) distance = std::max(distance, frame.distance);
    out.next_is_early = frame.crowd > frame.early;
    if (frame.wrong_length()) {
      insert_once(out.wrong_lengths, evidence.rows[evidence.first + i].frame.length);
    }
  }
  if (!out.is_known || usual == nullptr) return out;
  if (usual->period > 0) {
    const double seconds = evidence.windows.window().seconds;
    out.usual_gap = kMilliseconds * usual->period;
    out.usual_frames = seconds / usual->period;
    if (std::isfinite(shortest)) out.shortest_gap = kMilliseconds * static_cast<double>(shortest);
    if (longest > 0) out.longest_gap = kMilliseconds * static_cast<double>(longest);
    if (distance > 0) out.off = kMilliseconds * static_cast<double>(distance) * usual->period;
  }
  for (const data::Silence& silence : evidence.windows.silences()) {
    if (silence.key == key && fell(part, {Relative::kSilence})) {
      out.silent = kMilliseconds * static_cast<double>(silence.seconds);
    }
  }
  for (std::size_t length = 0; length < usual->lengths.size(); ++length) {
    if (usual->lengths.test(length)) out.usual_lengths.push_back(static_cast<int>(length));
  }
  if (fell_in_payloads(part)) tell_payload(evidence, key, *usual, out);
  return out;
}

/// What a known id did, in words, the plainest first.
std::string words_of(const BlamedIds& part, const IdFacts& facts, const IdProfile& usual) {
  std::vector<std::string> said;
  const std::string gap = facts.usual_gap ? rounded(*facts.usual_gap) + " ms" : "";
  if (facts.silent) {
    said.push_back("silent for " + rounded(*facts.silent) + " ms where a frame every " + gap +
                   " is usual");
  }
  if (fell_in_times(part) && facts.usual_frames) {
    const double frames = std::round(std::max(1.0, *facts.usual_frames));
    if (static_cast<double>(facts.frames) > kMoreFrames * frames) {
      said.push_back(frames_text(facts.frames) + " where " + rounded(frames) +
                     (frames == 1 ? " is usual" : " are usual"));
    }
    const bool is_early = facts.shortest_gap &&
                          *facts.shortest_gap < static_cast<double>(usual.early) * *facts.usual_gap;
    if (is_early) {
      said.push_back("gap of " + rounded(*facts.shortest_gap) + " ms where " + gap + " is usual");
    } else if (facts.off) {
      said.push_back("sent " + rounded(*facts.off) + " ms away from when it is due every " + gap);
    } else if (facts.next_is_early) {
      said.push_back("its next frame comes early");
    }
  }
  if (fell(part, {Relative::kSilence}) && facts.longest_gap &&
      *facts.longest_gap > kMoreTime * *facts.usual_gap) {
    said.push_back("gap of " + rounded(*facts.longest_gap) + " ms where " + gap + " is usual");
  }
  if (fell(part, {Relative::kLength}) && !facts.wrong_lengths.empty()) {
    said.push_back(lengths_text(facts.wrong_lengths) + " bytes long where " +
                   lengths_text(facts.usual_lengths) + " is usual");
  }
  if (part.laws) said.push_back("its counter or checksum does not fit");
  if (!facts.constant_moved.empty()) {
    said.push_back(bytes_text(facts.constant_moved, facts) + " changed and never did before");
  }
  if (!facts.jumped.empty()) {
    said.push_back(bytes_text(facts.jumped, facts) + " jumped farther than usual");
  }
  if (!facts.stood.empty()) {
    said.push_back("payload repeated where " + bytes_text(facts.stood, facts) + " change");
  }
  if (said.empty() && fell_in_payloads(part)) said.push_back("payload unlike those beside it");
  if (said.empty()) said.push_back(frames_text(facts.frames) + " at unusual times");
  std::string out;
  for (const std::string& one : said) out += (out.empty() ? "" : "; ") + one;
  return out;
}

json number_of(const std::optional<double>& value) { return value ? json(*value) : json(); }

json json_of(const IdFacts& facts) {
  json out = {{"id", facts.id},
              {"known", facts.is_known},
              {"frames", facts.frames},
              {"usual_frames", number_of(facts.usual_frames)},
              {"shortest_gap_ms", number_of(facts.shortest_gap)},
              {"longest_gap_ms", number_of(facts.longest_gap)},
              {"usual_gap_ms", number_of(facts.usual_gap)},
              {"off_ms", number_of(facts.off)},
              {"silent_ms", number_of(facts.silent)},
              {"wrong_lengths", facts.wrong_lengths},
              {"usual_lengths", facts.usual_lengths},
              {"constant_bytes_changed", facts.constant_moved},
              {"bytes_jumped", facts.jumped},
              {"bytes_repeated", facts.stood}};
  if (!facts.name.empty()) out["name"] = facts.name;
  for (const auto& [byte, names] : facts.signals) out["signals"][std::to_string(byte)] = names;
  return out;
}

}  // namespace

std::string Reason::names() const {
  std::string out;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const bool is_last = i > 0 && i + 1 == ids.size() && more == 0;
    out += (i == 0 ? "" : is_last ? " and " : " ") + ids[i].id;
    if (!ids[i].name.empty()) out += " (" + ids[i].name + ")";
  }
  return more == 0 ? out : out + " and " + grouped(more) + " more";
}

json Reason::json() const {
  nlohmann::json list = nlohmann::json::array();
  for (const IdFacts& one : ids) list.push_back(json_of(one));
  return {
      {"contribution", score}, {"ids", list}, {"more", more}, {"frames", frames}, {"words", words}};
}

Reason reason_of(const BlamedIds& part, const Evidence& evidence) {
  using Kind = ComparedFrame::Kind;
  Reason out;
  out.score = part.score;
  const std::size_t told = std::min(kToldIds, part.keys.size());
  for (std::size_t i = 0; i < told; ++i) {
    const uint32_t key = part.keys[i];
    out.ids.push_back(facts_of(part, key, evidence));
    const data::DbcMessage* message =
        evidence.names != nullptr ? evidence.names->of_key(key) : nullptr;
    if (message != nullptr) name_parts(*message, out.ids.back());
  }
  out.more = static_cast<int64_t>(part.keys.size() - told);
  int64_t known = 0, excused = 0;
  for (const ComparedFrame& frame : evidence.windows.frames()) {
    const auto found = std::find(part.keys.begin(), part.keys.end(), frame.key);
    if (found == part.keys.end()) continue;
    ++out.frames;
    known += frame.kind() == Kind::kKnown ? 1 : 0;
    excused += frame.kind() == Kind::kExcused ? 1 : 0;
  }
  const IdFacts& first = out.ids.front();
  const IdProfile* usual = evidence.profile.find(part.keys.front());
  const bool is_unknown = !first.is_known || usual == nullptr;
  const bool is_mixed = part.keys.size() > 1 && !(is_unknown && known == 0);
  if (!is_unknown) {
    out.words = words_of(part, first, *usual);
  } else if (excused > 0) {
    out.words = "more frames of testers than there ever are; ";
  } else {
    out.words = "not in the profile of this vehicle; ";
  }
  if (is_unknown) out.words += frames_text(is_mixed ? first.frames : out.frames);
  if (is_mixed) out.words = "each is odd enough alone; the first: " + out.words;
  return out;
}

}  // namespace kdgat::decision
