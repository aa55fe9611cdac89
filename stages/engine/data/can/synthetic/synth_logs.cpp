#include "engine/data/can/synthetic/synth_logs.h"

#include <algorithm>
#include <cmath>

#include "engine/arrays/random.h"
#include "engine/data/can/logs/format_log.h"
#include "engine/data/can/synthetic/attack_kinds.h"
#include "engine/data/can/synthetic/synth_attacks.h"
#include "engine/data/can/synthetic/synth_traffic.h"
#include "engine/data/core/folder_files.h"
#include "kdgat/atomic_file.h"
#include "kdgat/error.h"

namespace kdgat::data {
namespace {

constexpr int64_t kStartSeconds = 1'672'531'200;  // where the can-train-and-test logs begin

/// Names a drive: the same vehicle, attack and number give the same one.
uint64_t drive_seed(const CanSynthOptions& options, int64_t vehicle, int attack, int64_t drive) {
  uint64_t seed = arrays::Random(static_cast<uint64_t>(options.seed), 3).next();
  for (const uint64_t part : {static_cast<uint64_t>(vehicle), static_cast<uint64_t>(attack),
                              static_cast<uint64_t>(drive)}) {
    seed = arrays::Random(seed, part).next();
  }
  return seed;
}

/// Writes the logs of one folder; makes the folder.
class FolderWriter {
 public:
  FolderWriter(const std::filesystem::path& folder, const CanSynthOptions& options,
               const std::function<bool()>& cancelled)
      : folder_(folder), options_(options), cancelled_(cancelled) {
    make_folder(folder);
  }

  void write(int64_t vehicle, const std::string& attack, int64_t drive) const {
    if (cancelled_ && cancelled_()) throw Error(ExitCode::kInterrupted, "interrupted");
    const std::string name = (attack.empty() ? "attack-free" : attack) + "-vehicle" +
                             std::to_string(vehicle + 1) + log_extension(options_.format);
    write_file(folder_ / name,
               format_log(synthesize(options_, vehicle, attack, drive), options_.format));
  }

 private:
  std::filesystem::path folder_;
  CanSynthOptions options_;
  std::function<bool()> cancelled_;
};

}  // namespace

std::vector<CanFrame> synthesize(const CanSynthOptions& options, int64_t vehicle,
                                 const std::string& attack, int64_t drive) {
  const int number = attack.empty() ? 0 : synth_attack(attack).number;
  const uint64_t seed = drive_seed(options, vehicle, number, drive);
  const int64_t duration_us = std::llround(options.seconds * 1e6);
  const std::vector<Message> messages = make_vehicle(static_cast<uint64_t>(options.seed), vehicle);
  std::vector<Transmission> wanted = make_drive(messages, seed, duration_us, options.ageing);
  if (!attack.empty()) add_attack(attack, messages, arrays::Random(seed, 1), duration_us, wanted);
  const int64_t start_seconds = kStartSeconds + vehicle * 86'400 + drive * 7'200;
  return transmit(std::move(wanted), start_seconds * 1'000'000);
}

void stream_synthetic_log(const CanSynthOptions& options,
                          const std::function<void(std::string_view)>& write,
                          const std::function<bool()>& cancelled) {
  constexpr double kPiece = 60;  // seconds that are made at a time
  if (options.vehicles > kMostChannels) {
    throw Error(ExitCode::kUsage, "vehicles: " + std::to_string(options.vehicles) +
                                      " in one log of at most " + std::to_string(kMostChannels) +
                                      " buses");
  }
  const RowWriter append = row_writer("candump");
  std::vector<std::vector<Message>> vehicles;
  for (int64_t vehicle = 0; vehicle < options.vehicles; ++vehicle) {
    vehicles.push_back(make_vehicle(static_cast<uint64_t>(options.seed), vehicle));
  }
  double last = 0;
  const auto pieces = static_cast<int64_t>(std::ceil(options.seconds / kPiece));
  for (int64_t piece = 0; piece < pieces; ++piece) {
    if (cancelled && cancelled()) throw Error(ExitCode::kInterrupted, "interrupted");
    const double seconds = std::min(kPiece, options.seconds - static_cast<double>(piece) * kPiece);
    const int64_t start = kStartSeconds * 1'000'000 + piece * std::llround(kPiece * 1e6);
    std::vector<CanFrame> frames;
    for (std::size_t vehicle = 0; vehicle < vehicles.size(); ++vehicle) {
      const uint64_t seed = drive_seed(options, static_cast<int64_t>(vehicle), 0, piece);
      for (CanFrame& frame : transmit(
               make_drive(vehicles[vehicle], seed, std::llround(seconds * 1e6), options.ageing),
               start)) {
        frame.channel = static_cast<uint8_t>(vehicle);
        frames.push_back(frame);
      }
    }
    std::stable_sort(frames.begin(), frames.end(),
                     [](const CanFrame& a, const CanFrame& b) { return a.time < b.time; });
    std::string text;
    for (CanFrame& frame : frames) {
      // What still waited for the bus at the end of a piece comes ahead of the next one.
      frame.time = last = std::max(last, frame.time);
      append(text, frame);
    }
    write(text);
  }
}

void write_synthetic_logs(const std::filesystem::path& folder, const CanSynthOptions& options,
                          const std::function<bool()>& cancelled) {
  const int64_t known = std::max<int64_t>(1, options.vehicles - 1);
  CanSynthOptions test = options;
  test.seconds = options.seconds / 2;

  const FolderWriter benign(folder / "train_01_attack_free", options, cancelled);
  for (int64_t vehicle = 0; vehicle < known; ++vehicle) benign.write(vehicle, "", 0);
  if (options.attacks.empty()) return;

  const FolderWriter train(folder / "train_02_with_attacks", options, cancelled);
  const FolderWriter test_known(folder / "test_01_known_vehicle_known_attack", test, cancelled);
  int64_t vehicle = 0;
  for (const std::string& attack : options.attacks) {
    train.write(vehicle, attack, 0);
    vehicle = (vehicle + 1) % known;
    test_known.write(vehicle, attack, 1);
  }
  if (options.vehicles < 2) return;
  const FolderWriter test_unknown(folder / "test_02_unknown_vehicle_known_attack", test, cancelled);
  for (const std::string& attack : options.attacks) test_unknown.write(known, attack, 1);
}

}  // namespace kdgat::data
