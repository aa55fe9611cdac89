#include "engine/export/c/detector_c.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cctype>
#include <cmath>
#include <map>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "engine/data/can/windows/relative_windows.h"
#include "engine/decision/stream/log_scorer.h"
#include "engine/export/c/detector_vectors.h"
#include "engine/export/c/number_tables.h"
#include "engine/export/c/runtime_texts.h"
#include "engine/export/c/tree_tables.h"
#include "kdgat/error.h"

namespace kdgat::exporting {
namespace {

using data::ByteMoves;
using data::IdProfile;
using data::VehicleProfile;
using decision::DetectorModel;
using decision::Vehicle;

/// A comment must not end within a name.
std::string in_comment(std::string text) {
  std::replace(text.begin(), text.end(), '*', '_');
  std::replace_if(
      text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < ' '; }, ' ');
  return text;
}

[[noreturn]] void refuse(const Vehicle& vehicle, const std::string& why, const std::string& hint) {
  throw Error(ExitCode::kData, "the profile of " + vehicle.name + " cannot be exported: " + why,
              hint);
}

void check(const DetectorModel& model, const Vehicle& vehicle, const DetectorCOptions& options) {
  const VehicleProfile& profile = vehicle.profile;
  if (profile.ids.empty()) refuse(vehicle, "it has no id", "learn it from benign traffic");
  const data::TrafficRules& rules = profile.rules;
  if (!(rules.channels && rules.diagnostic && rules.quiet && rules.j1939 && rules.clock)) {
    refuse(vehicle, "it tells less traffic apart than a detector does", "take the usual rules");
  }
  const auto ascending = [](const IdProfile& a, const IdProfile& b) { return a.key() >= b.key(); };
  if (std::adjacent_find(profile.ids.begin(), profile.ids.end(), ascending) != profile.ids.end()) {
    refuse(vehicle, "its ids do not ascend", "read it from a detector's file");
  }
  constexpr int64_t kMostWindow = 10'000;  // rows have numbers of 16 bits
  if (model.window < 2 || model.window > kMostWindow) {
    throw Error(ExitCode::kData, "windows of " + std::to_string(model.window) +
                                     " frames cannot be exported, only those of 2 to 10000");
  }
  if (model.classifier.columns() != static_cast<int64_t>(data::kRelativeColumns)) {
    throw Error(ExitCode::kData, "trees over other columns than a detector's cannot be exported");
  }
  if (const std::string problem = c_name_problem(options.name); !problem.empty()) {
    throw Error(ExitCode::kUsage, "'" + options.name + "' " + problem, "letters, digits and _");
  }
  if (std::isnan(options.threshold)) throw Error(ExitCode::kUsage, "the threshold is no number");
}

/// The tables of one export, part by part, and the macros that go with them.
class DetectorSource {
 public:
  DetectorSource(const DetectorModel& model, const Vehicle& vehicle,
                 const DetectorCOptions& options, std::span<const float> units)
      : model_(model),
        vehicle_(vehicle),
        profile_(vehicle.profile),
        options_(options),
        decision_(model.decision(vehicle.own)) {
    check(model, vehicle, options);
    numbers();
    buses();
    ids();
    const TreeTables trees = add_trees(model.classifier, units, tables_);
    macros_ += trees.macros;
    depth_ = trees.depth;
    tails();
  }

  CSource source() const {
    const std::map<std::string, std::string> names{{"NAME", options_.name}};
    CSource out{{{options_.name + ".c", c()}, {options_.name + ".h", h()}}};
    for (const char* text : {"main.c", "check.c", "CMakeLists.txt"}) {
      out.files[text] = runtime_text(text, names);
    }
    out.files["vectors.h"] = detector_vectors(model_, vehicle_, options_.threshold);
    return out;
  }

  DetectorCSize size() const {
    constexpr int64_t kCode = 10240;  // of instructions, at -O3; half of it for ARM at -Os
    constexpr int64_t kStack = 512;   // of the calls' frames, with any compiler's options
    DetectorCSize out;
    out.tables = tables_.bytes();
    out.flash = out.tables + kCode;
    out.state = state();
    out.stack = kStack;
    out.operations = operations();
    return out;
  }

 private:
  static std::string whole(std::size_t number) { return std::to_string(number); }

  /// What the header's struct takes where 8 bytes are aligned to 8.
  int64_t state() const {
    constexpr int64_t kAlarms = 88, kSender = 104, kBus = 48, kRest = 112, kRow = 28, kAlign = 8;
    const int64_t bytes = kAlarms + kSender * std::ssize(profile_.ids) + kBus * buses_ + kRest +
                          int64_t{16} * model_.alarm_rule.n + kRow * 3 * model_.window +
                          2 * claimed_ + 4 * payloads_ + 1;
    return (bytes + kAlign - 1) / kAlign * kAlign;
  }

  int64_t operations() const {
    constexpr int64_t kFrame = 100, kColumns = 40, kSilence = 12, kNear = 4;
    const auto search = static_cast<int64_t>(std::bit_width(profile_.ids.size()));
    return model_.window * (kFrame + kColumns + search + 3 * kNear * longest_) +
           kSilence * std::ssize(profile_.ids) + int64_t{3} * depth_;
  }

  void numbers() {
    const decision::PartScores usual = model_.scores_of({});
    std::vector<float> rare = data::unknown_columns(profile_, model_.window);
    // From some number of frames on all are the same.
    while (rare.size() > 1 && rare.back() == rare[rare.size() - 2]) rare.pop_back();
    std::vector<std::string> entries;
    entries.reserve(rare.size());
    for (const float one : rare) entries.push_back(c_float(one));
    macros_ += c_define("KDGAT_K", model_.alarm_rule.k);
    macros_ += c_define("KDGAT_MOST_EXCUSED", data::most_excused(model_.window));
    macros_ += c_define("KDGAT_RARE", std::ssize(rare));
    macros_ += c_define("KDGAT_LOG_10", c_double(std::log(10.0)));
    macros_ += c_define("KDGAT_CLASSIFIER_THRESHOLD", c_double(decision_.classifier));
    macros_ += c_define("KDGAT_TAILS_THRESHOLD", c_double(decision_.tails));
    macros_ += c_define("KDGAT_USUAL_CLASSIFIER", c_double(usual.classifier));
    macros_ += c_define("KDGAT_USUAL_TAILS", c_double(usual.tails));
    macros_ += c_define("KDGAT_THRESHOLD", c_double(options_.threshold));
    macros_ += c_define("KDGAT_DEADBAND", c_double(decision::kDeadband));
    tables_.add(kCFloat, "kdgat_rare", entries);
  }

  void buses() {
    const data::BusActivity::Rates rates = profile_.rates();
    const std::map<uint8_t, data::J1939Senders> networks = data::j1939_senders(profile_);
    std::array<int, data::kMostChannels> numbers;
    numbers.fill(-1);
    for (const IdProfile& one : profile_.ids) numbers[one.channel] = 0;
    std::vector<std::string> buses, messages, homes;
    for (std::size_t channel = 0; channel < numbers.size(); ++channel) {
      if (numbers[channel] < 0) continue;
      numbers[channel] = static_cast<int>(buses_++);
      const std::size_t first_message = messages.size(), first_home = homes.size();
      const auto network = networks.find(static_cast<uint8_t>(channel));
      if (network != networks.end()) {
        for (const auto& [message, sender] :
             std::map(network->second.begin(), network->second.end())) {
          messages.push_back(
              c_braced({std::to_string(message) + "u", std::to_string(sender) + "u"}));
        }
        std::map<uint64_t, uint8_t> known;  // the last address of a name counts
        for (const data::AddressName& one : profile_.names) {
          if (one.channel == channel) known[one.name] = one.address;
        }
        for (const auto& [name, address] : known) {
          homes.push_back(c_braced({std::to_string(name) + "u", std::to_string(address)}));
        }
      }
      buses.push_back(c_braced(
          {c_double(rates[channel]), network == networks.end() ? "-1" : std::to_string(networks_++),
           whole(first_message), whole(messages.size()), whole(first_home), whole(homes.size())}));
    }
    claimed_ = std::max<int64_t>(1, kAddresses * networks_);
    macros_ += c_define("KDGAT_NETWORKS", networks_);
    macros_ += c_define("KDGAT_FIRST_BUS", profile_.ids.front().channel);
    tables_.add({"kdgat_usual_bus", 32}, "kdgat_usual_buses", buses);
    tables_.add_numbers(kCInt8, "kdgat_key_bus", std::vector<int>(numbers.begin(), numbers.end()));
    if (networks_ == 0) return;
    tables_.add({"kdgat_message", 8}, "kdgat_messages", messages, "{0, 0}");
    tables_.add({"kdgat_home", 16}, "kdgat_homes", homes, "{0, 0}");
  }

  /// Of a byte the place of its values in `bits_`, times 8, and how many there are, less one.
  std::size_t moves_of(const ByteMoves& byte) {
    int bins = ByteMoves::kBins - 1;
    while (bins > 1 && byte.counts()[static_cast<std::size_t>(bins)] == 0) --bins;
    std::vector<float> values;
    for (int bin = 1; bin <= bins; ++bin) values.push_back(byte.surprise(bin));
    constexpr float kMostBits = 14;
    for (int bin = bins + 1; bin < ByteMoves::kBins; ++bin) {
      const float beyond = std::min(kMostBits, values.back() + static_cast<float>(bin - bins));
      if (beyond != byte.surprise(bin)) {
        throw std::logic_error("a byte's surprises are not those of its moves");
      }
    }
    const auto [at, is_new] = places_.try_emplace(values, bits_.size());
    if (is_new) bits_.insert(bits_.end(), values.begin(), values.end());
    return at->second << 3 | static_cast<std::size_t>(bins - 1);
  }

  void ids() {
    std::vector<std::string> usuals;
    std::vector<uint32_t> keys;
    std::vector<std::size_t> moves;
    std::map<std::string, std::size_t> lengths;
    std::vector<std::string> sets;
    for (const IdProfile& one : profile_.ids) {
      const data::UsualTimes times = data::usual_times(one);
      const int flags = (one.regular() ? kRegular : 0) | (one.period > 0 ? kKeepsTimes : 0);
      const auto [set, is_new] = lengths.try_emplace(length_set(one), lengths.size());
      if (is_new) sets.push_back(set->first);
      usuals.push_back(
          c_braced({c_double(one.period), c_double(times.longest), c_double(times.pause),
                    c_float(times.early), c_float(times.late), c_float(times.tolerance),
                    c_float(times.trust), c_float(one.change), whole(moves.size()),
                    whole(set->second), whole(one.bytes.size()), std::to_string(flags)}));
      keys.push_back(one.key());
      for (const ByteMoves& byte : one.bytes) moves.push_back(moves_of(byte));
      longest_ = std::max(longest_, std::ssize(one.bytes));
    }
    payloads_ = std::ssize(moves);
    tables_.add_numbers(kCUint32, "kdgat_keys", keys);
    tables_.add({"kdgat_usual", 56}, "kdgat_usuals", usuals);
    tables_.add({"kdgat_length_set", 9}, "kdgat_lengths", sets);
    tables_.add_numbers(c_type_below(bits_.size() << 3), "kdgat_moves", moves);
    std::vector<std::string> bits;
    for (const float one : bits_) bits.push_back(c_float(one));
    tables_.add(kCFloat, "kdgat_bits", bits, "0.0f");
  }

  static std::string length_set(const IdProfile& one) {
    std::array<int, data::kMostPayload / 8 + 1> bytes{};
    for (std::size_t i = 0; i <= data::kMostPayload; ++i) {
      if (one.lengths.test(i)) bytes[i / 8] |= 1 << i % 8;
    }
    std::vector<std::string> texts;
    texts.reserve(bytes.size());
    for (const int byte : bytes) texts.push_back(std::to_string(byte));
    return c_braced(texts);
  }

  void tails() {
    std::vector<std::string> columns, values, rare;
    for (const decision::Tails::Column& one : model_.tails.columns()) {
      const std::size_t first = values.size();
      for (const float value : one.values) values.push_back(c_float(value));
      for (const double value : one.rare) rare.push_back(c_double(value));
      columns.push_back(
          c_braced({c_double(one.excess), whole(one.place), whole(first), whole(values.size())}));
    }
    const auto count = static_cast<double>(columns.size());
    macros_ += c_define("KDGAT_TAILS", std::ssize(columns));
    macros_ += c_define("KDGAT_TAILS_LOG", c_double(std::log10(std::max<double>(1, count))));
    tables_.add({"kdgat_tail", 24}, "kdgat_tails", columns, "{0, 0, 0, 0}");
    tables_.add(kCFloat, "kdgat_tail_values", values, "0.0f");
    tables_.add(kCDouble, "kdgat_tail_rare", rare, "0.0");
  }

  /// What both files begin with.
  std::string about() const {
    const DetectorCSize needs = size();
    std::string out =
        "/*\n * " + options_.name +
        ": judges the traffic of the CAN bus of one vehicle by a detector of kdgat. Written by "
        "`kdgat export`;\n * change the model, not this.\n *\n";
    const auto line = [&](const std::string& what, const std::string& text) {
      out += " *   " + what + std::string(13 - what.size(), ' ') + text + "\n";
    };
    line("model", options_.hash.empty() ? "-" : in_comment(options_.hash));
    line("vehicle", in_comment(vehicle_.name) + ", " + std::to_string(profile_.ids.size()) +
                        " ids" + (buses_ == 1 ? "" : " on " + std::to_string(buses_) + " buses") +
                        (networks_ == 0 ? "" : ", J1939"));
    line("windows", std::to_string(model_.window) + " frames" +
                        (model_.alarm_rule.is_single()
                             ? std::string()
                             : "; flagged by " + std::to_string(model_.alarm_rule.k) +
                                   " of the last " + std::to_string(model_.alarm_rule.n)));
    line("trees", std::to_string(model_.classifier.trees()) + ", leaves of " +
                      (options_.int8 ? "one byte" : "floats"));
    line("state", std::to_string(needs.state) + " bytes: all that is written to");
    line("flash", "about " + std::to_string(needs.flash) +
                      " bytes: " + std::to_string(needs.tables) + " of tables, and code");
    line("stack", "at most " + std::to_string(needs.stack) + " bytes");
    line("a window", "at most " + std::to_string(needs.operations) + " comparisons and sums");
    return out +
           " *\n * C99 alone: no heap, no libm. Fused multiply-add, where a target has it, is to "
           "be "
           "off (-ffp-contract=off) for the\n * same bits everywhere; check.c shows whether they "
           "are.\n */\n";
  }

  std::string h() const {
    std::string guard = "KDGAT_EXPORTED_" + options_.name + "_H";
    std::transform(guard.begin(), guard.end(), guard.begin(),
                   [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
    std::string out = about() + "#ifndef " + guard + "\n#define " + guard + "\n\n";
    out += c_define("KDGAT_FRAMES", model_.window) + c_define("KDGAT_ROWS", 3 * model_.window) +
           c_define("KDGAT_IDS", std::ssize(profile_.ids)) + c_define("KDGAT_BUSES", buses_) +
           c_define("KDGAT_OF", model_.alarm_rule.n) + c_define("KDGAT_CLAIMED", claimed_) +
           c_define("KDGAT_PAYLOADS", payloads_) + c_define("KDGAT_STATE_BYTES", state()) +
           c_define("KDGAT_MODEL", "\"" + options_.hash + "\"") + "\n";
    return out + std::string(runtime_text("api.h")) +
           std::string(runtime_text("detector_state.h")) + "\n#endif\n";
  }

  std::string c() const {
    std::string out = about() + "#include \"" + options_.name +
                      ".h\"\n\n#include <float.h>\n#include <string.h>\n\n";
    out += c_define("KDGAT_NEEDS_EXPF", "0") + c_define("KDGAT_NEEDS_LOGF", "0") +
           c_define("KDGAT_NEEDS_SQRTF", "0") + macros_;
    out += "\n" + std::string(runtime_text("kdgat_math.c")) + "\n" +
           std::string(runtime_text("detector_tables.h")) + "\n" + tables_.text() + "\n" +
           std::string(runtime_text("alarms.c")) + "\n" + std::string(runtime_text("detector.c"));
    return out;
  }

  static constexpr int kRegular = 1, kKeepsTimes = 2;
  static constexpr int64_t kAddresses = 256;

  const DetectorModel& model_;
  const Vehicle& vehicle_;
  const VehicleProfile& profile_;
  const DetectorCOptions& options_;
  const decision::Decision& decision_;
  NumberTables tables_;
  std::string macros_;
  int64_t buses_ = 0, networks_ = 0, claimed_ = 1;
  int64_t payloads_ = 0;  // bytes of payloads, one of each id
  int64_t longest_ = 0;   // of these
  int64_t depth_ = 0;     // of all trees
  std::vector<float> bits_;
  std::map<std::vector<float>, std::size_t> places_;  // of lists of values in bits_
};

/// What `ask` says of the source, made of the model that its numbers are.
template <class Ask>
auto with_source(const DetectorModel& model, const Vehicle& vehicle,
                 const DetectorCOptions& options, Ask ask) {
  if (!options.int8) return ask(DetectorSource(model, vehicle, options, {}));
  RoundedTrees rounded = rounded_trees(model.classifier);
  DetectorModel other = model;
  other.classifier = std::move(rounded.model);
  return ask(DetectorSource(other, vehicle, options, rounded.units));
}

}  // namespace

CSource detector_c(const DetectorModel& model, const Vehicle& vehicle,
                   const DetectorCOptions& options) {
  return with_source(model, vehicle, options, [](const auto& one) { return one.source(); });
}

CSource detector_c(const DetectorModel& model, const std::string& vehicle,
                   const DetectorCOptions& options) {
  if (model.vehicles.empty()) {
    throw Error(ExitCode::kUsage, "the detector has no vehicle",
                "an export is of one that it knows: kdgat watch --save learns one");
  }
  return detector_c(model, decision::vehicle_named(model, vehicle), options);
}

DetectorCSize detector_c_size(const DetectorModel& model, const Vehicle& vehicle,
                              const DetectorCOptions& options) {
  return with_source(model, vehicle, options, [](const auto& one) { return one.size(); });
}

DetectorModel rounded_detector(const DetectorModel& model) {
  DetectorModel out = model;
  out.classifier = rounded_trees(model.classifier).model;
  return out;
}

}  // namespace kdgat::exporting
