#include "engine/train/progress.h"

#include <cmath>

namespace kdgat::train {

namespace {

double seconds_from(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace

Log log_of(const Host* host) {
  if (host == nullptr) return {};
  return [host](const std::string& level, const std::string& text) { host->log(level, text); };
}

bool Progress::judge(const nlohmann::json& metrics, bool is_better) {
  if (best_epoch > 0 && !is_better) {
    ++standing;
    return false;
  }
  standing = 0;
  best_epoch = epoch;
  best = metrics;
  return true;
}

std::string Progress::place(const char* before_step) const {
  return "epoch " + std::to_string(epoch + 1) + ", " + before_step + std::to_string(step);
}

void Progress::check_finite(double value, const std::string& name, const std::string& hint) const {
  if (std::isfinite(value)) return;
  throw Error(ExitCode::kStageFailed, name + " is not finite (" + place("step ") + ")", hint);
}

void Progress::leave(ExitCode code) const {
  throw Error(code, has_checkpoint() ? "checkpoint at " + place("step ")
                                     : "stopped in " + place("after step "));
}

bool Progress::is_due(double seconds) const {
  return has_checkpoint() && seconds_from(saved_) >= seconds;
}

void Progress::save(const NamedTensors& tensors, const nlohmann::json& more,
                    CheckpointWriter* writer) {
  const auto start = std::chrono::steady_clock::now();
  nlohmann::json state = {{"identity", identity_}, {"seed", seed_},
                          {"epoch", epoch},        {"step", step},
                          {"standing", standing},  {"best_epoch", best_epoch},
                          {"best", best}};
  state.update(more);
  if (writer != nullptr) {
    writer->save(checkpoint_, tensors, state);
  } else {
    save_checkpoint(checkpoint_, tensors, state);
  }
  saved_ = std::chrono::steady_clock::now();
  ++saves_;
  save_seconds_ += seconds_from(start);
}

std::optional<nlohmann::json> Progress::read() const {
  return has_checkpoint() ? read_checkpoint_state(checkpoint_) : std::nullopt;
}

bool Progress::resume(const nlohmann::json& state, const Log& log) {
  // Each loop once kept what it needed of these; where the seed is missing, the identity has it.
  if (state.at("identity") != identity_ || state.value("seed", seed_) != seed_) {
    if (log) log("warning", "the checkpoint is of other options or data: starting over");
    return false;
  }
  state.at("epoch").get_to(epoch);
  step = state.value("step", epoch);
  standing = state.value("standing", int64_t{0});
  state.at("best_epoch").get_to(best_epoch);
  best = state.at("best");
  if (log) log("info", "continues from the checkpoint at " + place("step "));
  return true;
}

}  // namespace kdgat::train
