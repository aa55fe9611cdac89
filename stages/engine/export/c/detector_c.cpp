#include "engine/export/c/detector_c.h"

#include <algorithm>
#include <bit>
#include <cctype>
#include <cmath>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "engine/data/can/windows/relative_windows.h"
#include "engine/data/can/windows/vehicle_tables.h"
#include "engine/decision/stream/log_scorer.h"
#include "engine/export/c/detector_vectors.h"
#include "engine/export/c/node_network.h"
#include "engine/export/c/number_tables.h"
#include "engine/export/c/runtime_texts.h"
#include "engine/export/c/tree_tables.h"
#include "kdgat/error.h"

namespace kdgat::exporting {
namespace {

using data::IdProfile;
using data::Vehicle;
using data::VehicleProfile;
using decision::DetectorModel;

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

/// Its profile, or what is thrown where it cannot be exported.
const VehicleProfile& checked(const DetectorModel& model, const Vehicle& vehicle,
                              const DetectorCOptions& options) {
  const VehicleProfile& profile = vehicle.profile;
  if (profile.ids.empty()) refuse(vehicle, "it has no id", "learn it from benign traffic");
  const auto ascending = [](const IdProfile& a, const IdProfile& b) { return a.key() >= b.key(); };
  if (std::adjacent_find(profile.ids.begin(), profile.ids.end(), ascending) != profile.ids.end()) {
    refuse(vehicle, "its ids do not ascend", "read it from a detector's file");
  }
  if (model.window < 2 || model.window > data::kMostWindow) {
    throw Error(ExitCode::kData, "windows of " + std::to_string(model.window) +
                                     " frames cannot be exported, only those of 2 to 10000");
  }
  if (model.classifier.network() != nullptr && options.int8) {
    throw Error(ExitCode::kUsage, "the network of a detector has floats in C", "leave out int8");
  }
  if (model.classifier.network() == nullptr &&
      model.classifier.trees().columns() != static_cast<int64_t>(data::kRelativeColumns)) {
    throw Error(ExitCode::kData, "trees over other columns than a detector's cannot be exported");
  }
  if (const std::string problem = c_name_problem(options.name); !problem.empty()) {
    throw Error(ExitCode::kUsage, "'" + options.name + "' " + problem, "letters, digits and _");
  }
  if (std::isnan(options.threshold)) throw Error(ExitCode::kUsage, "the threshold is no number");
  return profile;
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
        decision_(model.decision(vehicle.own)),
        of_(checked(model, vehicle, options), model.window) {
    numbers();
    usual();
    if (const decision::RelativeNetwork* network = model.classifier.network()) {
      network_ = node_network(*network);
    } else {
      const TreeTables trees = add_trees(model.classifier.trees(), units, tables_);
      macros_ += trees.macros;
      depth_ = trees.depth;
    }
    tails();
    floors();
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
    constexpr int64_t kOfNetwork = 4096;
    constexpr int64_t kStack = 512;  // of the calls' frames, with any compiler's options
    DetectorCSize out;
    out.tables = tables_.bytes() + (network_ ? network_->bytes : 0);
    out.flash = out.tables + kCode + (network_ ? kOfNetwork : 0);
    out.state = state();
    out.stack = kStack;
    out.operations = operations();
    return out;
  }

 private:
  static std::string whole(std::size_t number) { return std::to_string(number); }
  static std::string word(uint64_t bits) { return std::to_string(bits) + "u"; }

  /// What the header's struct takes where 8 bytes are aligned to 8.
  int64_t state() const {
    constexpr int64_t kAlign = 8, kClock = 16, kCounts = 16;
    const int64_t seconds = network_ ? 24 : 0;
    const int64_t times = 64 + seconds;  // and windows judged
    // Silences, the score, the place of the filter.
    const int64_t numbers = (20 + of_network() + kAlign - 1) / kAlign * kAlign;
    const int64_t windows = sizeof(kdgat_sender) * of_.keys.size() +
                            sizeof(kdgat_bus) * of_.buses.size() + kClock + kCounts +
                            sizeof(kdgat_row) * 3 * static_cast<std::size_t>(model_.window) +
                            sizeof(int16_t) * claimed() + KDGAT_NEAR * of_.moves.size() + 1 +
                            sizeof(kdgat_law_state) * lawful();
    return static_cast<int64_t>(sizeof(kdgat_alarms)) + (windows + kAlign - 1) / kAlign * kAlign +
           times + numbers + int64_t{16} * model_.alarm_rule.n;
  }
  /// Bytes of the state that a network needs, but for its times.
  int64_t of_network() const {
    if (!network_) return 0;
    const int64_t floats =
        3 * std::ssize(profile_.ids) + 2 * network_->widest + 2 * network_->pooled;
    return int64_t{sizeof(float)} * floats + int64_t{sizeof(int16_t)} * 3 * model_.window;
  }

  /// Addresses of J1939 buses; an array of C has an entry at least.
  std::size_t claimed() const { return std::max<std::size_t>(1, 256 * std::size_t{networks()}); }
  std::size_t lawful() const { return std::max<std::size_t>(1, of_.lawful.size()); }
  uint32_t networks() const { return of_.view().networks; }

  int64_t operations() const {
    constexpr int64_t kFrame = 100, kColumns = 40, kSilence = 12;
    const auto search = static_cast<int64_t>(std::bit_width(profile_.ids.size()));
    int64_t longest = 0;  // payload
    for (const kdgat_usual& one : of_.usuals) longest = std::max<int64_t>(longest, one.bytes);
    return model_.window * (kFrame + kColumns + search + int64_t{3} * KDGAT_NEAR * longest) +
           kSilence * std::ssize(profile_.ids) + int64_t{3} * depth_ +
           (network_ ? network_->of_window +
                           (1 + std::ssize(profile_.ids)) * (network_->of_node + model_.window)
                     : 0);
  }

  void numbers() {
    const decision::PartScores usual = model_.scores_of({});
    macros_ += c_define("KDGAT_K", model_.alarm_rule.k);
    macros_ += c_define("KDGAT_CLASSIFIER_THRESHOLD", c_double(decision_.classifier));
    macros_ += c_define("KDGAT_TAILS_THRESHOLD", c_double(decision_.tails));
    macros_ += c_define("KDGAT_USUAL_CLASSIFIER", c_double(usual.classifier));
    macros_ += c_define("KDGAT_USUAL_TAILS", c_double(usual.tails));
    macros_ += c_define("KDGAT_THRESHOLD", c_double(options_.threshold));
    macros_ += c_define("KDGAT_FIRST_BUS", profile_.ids.front().channel);
  }

  void usual() {
    std::vector<std::string> usuals, sets, buses, messages, homes, lawful_ids, sums;
    for (const kdgat_usual& one : of_.usuals) {
      usuals.push_back(
          c_braced({c_double(one.period), c_double(one.longest), c_double(one.pause),
                    c_float(one.early), c_float(one.shortest), c_float(one.tolerance),
                    c_float(one.trust), c_float(one.change), whole(one.moves), whole(one.lengths),
                    whole(one.bytes), whole(one.flags), whole(one.lawful)}));
    }
    for (const kdgat_length_set& one : of_.lengths) {
      std::vector<std::string> bytes;
      for (const uint8_t byte : one.bits) bytes.push_back(whole(byte));
      sets.push_back(c_braced({c_braced(bytes)}));
    }
    for (const kdgat_usual_bus& one : of_.buses) {
      buses.push_back(
          c_braced({c_double(one.rate), std::to_string(one.network), whole(one.first_message),
                    whole(one.message_end), whole(one.first_home), whole(one.home_end)}));
    }
    for (const kdgat_message& one : of_.messages) {
      messages.push_back(c_braced({whole(one.message) + "u", whole(one.sender) + "u"}));
    }
    for (const kdgat_home& one : of_.homes) {
      homes.push_back(c_braced({word(one.name), whole(one.address)}));
    }
    for (const kdgat_lawful& one : of_.lawful) {
      lawful_ids.push_back(
          c_braced({word(one.payload), word(one.still), word(one.slow), word(one.counters),
                    word(one.counter_ends), word(one.counter_tops), whole(one.first),
                    whole(one.first_check), whole(one.end), whole(one.bytes)}));
    }
    for (const uint64_t one : of_.sums) sums.push_back(word(one));
    const kdgat_vehicle& view = of_.view();
    const CType move = c_type_below(of_.bits.size() << 3);
    macros_ += c_define("KDGAT_MOVE", move.name);
    tables_.add_numbers(kCUint32, "kdgat_keys", of_.keys);
    tables_.add({"kdgat_usual", sizeof(kdgat_usual)}, "kdgat_usuals", usuals);
    tables_.add({"kdgat_length_set", sizeof(kdgat_length_set)}, "kdgat_lengths", sets);
    tables_.add_numbers(move, "kdgat_moves", of_.moves);
    tables_.add(kCFloat, "kdgat_bits", floats(of_.bits), "0.0f");
    tables_.add(kCFloat, "kdgat_rare", floats(of_.rare));
    tables_.add({"kdgat_usual_bus", sizeof(kdgat_usual_bus)}, "kdgat_usual_buses", buses);
    tables_.add_numbers(kCInt16, "kdgat_bus_of",
                        std::vector<int>(of_.bus_of.begin(), of_.bus_of.end()));
    if (!messages.empty()) {
      tables_.add({"kdgat_message", sizeof(kdgat_message)}, "kdgat_messages", messages);
    }
    if (!homes.empty()) tables_.add({"kdgat_home", sizeof(kdgat_home)}, "kdgat_homes", homes);
    if (!lawful_ids.empty()) {
      tables_.add({"kdgat_lawful", sizeof(kdgat_lawful)}, "kdgat_lawful_ids", lawful_ids);
      tables_.add({"uint64_t", sizeof(uint64_t)}, "kdgat_sums", sums, "0");
    }
    tables_.add_struct(
        "kdgat_vehicle", "kdgat_this_vehicle",
        {"kdgat_keys", "kdgat_usuals", "kdgat_lengths", "kdgat_moves", "kdgat_bits", "kdgat_rare",
         "kdgat_usual_buses", "kdgat_bus_of", messages.empty() ? "0" : "kdgat_messages",
         homes.empty() ? "0" : "kdgat_homes", lawful_ids.empty() ? "0" : "kdgat_lawful_ids",
         lawful_ids.empty() ? "0" : "kdgat_sums", whole(view.ids), whole(view.bus_count),
         whole(view.rare_count), whole(view.networks), whole(view.frames),
         whole(view.most_excused)});
  }

  static std::vector<std::string> floats(std::span<const float> values) {
    std::vector<std::string> out;
    out.reserve(values.size());
    for (const float one : values) out.push_back(c_float(one));
    return out;
  }

  void tails() {
    const decision::Tails& tails = model_.tails;
    std::vector<std::string> columns, rare;
    for (const kdgat_tail& one : tails.tails()) {
      columns.push_back(
          c_braced({c_double(one.excess), whole(one.column), whole(one.first), whole(one.end)}));
    }
    for (const double one : tails.rare()) rare.push_back(c_double(one));
    tables_.add({"kdgat_tail", sizeof(kdgat_tail)}, "kdgat_tails_of", columns, "{0, 0, 0, 0}");
    tables_.add(kCFloat, "kdgat_tail_values", floats(tails.values()), "0.0f");
    tables_.add(kCDouble, "kdgat_tail_rare", rare, "0.0");
    tables_.add_struct("kdgat_tails", "kdgat_these_tails",
                       {"kdgat_tails_of", "kdgat_tail_values", "kdgat_tail_rare",
                        c_double(tails.view().log_count), whole(columns.size())});
  }

  void floors() {
    std::vector<std::string> all;
    for (const kdgat_floor& one : model_.floors.all()) {
      all.push_back(c_braced({whole(one.column), c_float(one.least)}));
    }
    tables_.add({"kdgat_floor", sizeof(kdgat_floor)}, "kdgat_floors", all);
    macros_ += c_define("KDGAT_FLOORS", std::ssize(all));
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
    line("vehicle",
         in_comment(vehicle_.name) + ", " + std::to_string(profile_.ids.size()) + " ids" +
             (of_.buses.size() == 1 ? "" : " on " + std::to_string(of_.buses.size()) + " buses") +
             (networks() == 0 ? "" : ", J1939"));
    line("windows", std::to_string(model_.window) + " frames" +
                        (model_.alarm_rule.is_single()
                             ? std::string()
                             : "; flagged by " + std::to_string(model_.alarm_rule.k) +
                                   " of the last " + std::to_string(model_.alarm_rule.n)));
    if (network_) {
      line("network", std::to_string(model_.parameters()) + " weights");
    } else {
      line("trees", std::to_string(model_.classifier.trees().trees()) + ", leaves of " +
                        (options_.int8 ? "one byte" : "floats"));
    }
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
           c_define("KDGAT_IDS", std::ssize(profile_.ids)) +
           c_define("KDGAT_BUSES", std::ssize(of_.buses)) +
           c_define("KDGAT_OF", model_.alarm_rule.n) +
           c_define("KDGAT_CLAIMED", static_cast<int64_t>(claimed())) +
           c_define("KDGAT_PAYLOADS", std::ssize(of_.moves)) +
           c_define("KDGAT_LAWFUL", static_cast<int64_t>(lawful())) +
           c_define("KDGAT_NETWORK", network_ ? 1 : 0) +
           c_define("KDGAT_WIDEST", network_ ? network_->widest : 1) +
           c_define("KDGAT_POOLED", network_ ? network_->pooled : 1) +
           c_define("KDGAT_STATE_BYTES", state()) +
           c_define("KDGAT_MODEL", "\"" + options_.hash + "\"") + "\n";
    for (const char* text :
         {"alarm_types.h", "api.h", "bus_types.h", "window_types.h", "detector_state.h"}) {
      out += portable_text(text);
    }
    return out + "\n#endif\n";
  }

  std::string c() const {
    std::string out = about() + "#include \"" + options_.name +
                      ".h\"\n\n#include <float.h>\n#include <string.h>\n\n";
    out += macros_ + texts_of({"compiler.c", "numbers.h", "ids.h", "bus.h", "vehicle.h", "laws.h",
                               "moves.h", "windows.h", "evidence.h", "tails.h", "alarms.h"});
    if (network_) {
      out += texts_of({"roots.c", "math.h", "layers.h", "window_nodes.h", "nodes.c"}) + "\n" +
             network_->tables + network_->functions;
    } else {
      out += texts_of({"trees.h"});
    }
    return out + "\n" + tables_.text() + "\n" + std::string(runtime_text("detector.c"));
  }

  const DetectorModel& model_;
  const Vehicle& vehicle_;
  const VehicleProfile& profile_;
  const DetectorCOptions& options_;
  const decision::Decision& decision_;
  data::VehicleTables of_;
  NumberTables tables_;
  std::string macros_;
  int64_t depth_ = 0;                   // of all trees
  std::optional<NodeNetwork> network_;  // in their place
};

/// What `ask` says of the source, made of the model that its numbers are.
template <class Ask>
auto with_source(const DetectorModel& model, const Vehicle& vehicle,
                 const DetectorCOptions& options, Ask ask) {
  if (!options.int8 || model.classifier.network() != nullptr) {
    return ask(DetectorSource(model, vehicle, options, {}));
  }
  RoundedTrees rounded = rounded_trees(model.classifier.trees());
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
  out.classifier = rounded_trees(model.classifier.trees()).model;
  return out;
}

}  // namespace kdgat::exporting
