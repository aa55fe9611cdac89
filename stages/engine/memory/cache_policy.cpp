#include "engine/memory/cache_policy.h"

#include <charconv>
#include <chrono>
#include <utility>

#include "engine/memory/meter.h"
#include "kdgat/text.h"

namespace kdgat::memory {
namespace {

// Of `auto`: reserved over allocated, and the share of the device that is free.
constexpr double kFragmented = 1.3;
constexpr double kLittleFree = 0.1;

/// The number after "name:"; 0 if there is none or it is not positive.
double argument(const std::string& word) {
  const std::size_t colon = word.find(':');
  double value = 0;
  const char* end = word.data() + word.size();
  const auto [rest, error] = std::from_chars(word.data() + colon + 1, end, value);
  return colon != std::string::npos && error == std::errc() && rest == end ? value : 0;
}

}  // namespace

CachePolicy CachePolicy::parse(const std::vector<std::string>& words,
                               std::vector<Diagnostic>& problems) {
  CachePolicy out;
  bool never = false;
  for (const std::string& word : words) {
    const std::string name = word.substr(0, word.find(':'));
    const double value = argument(word);
    if (word == "never") {
      never = true;
    } else if (word == "auto") {
      out.automatic = true;
    } else if (word == "epoch") {
      out.epoch = true;
    } else if (word == "chunk") {
      out.chunk = true;
    } else if (word == "checkpoint") {
      out.checkpoint = true;
    } else if (word == "stage") {
      out.stage = true;
    } else if (word == "hygiene") {
      out.every = 5;
      out.checkpoint = out.epoch = true;
      out.synchronize_every = 20;
    } else if (name == "every" && value >= 1 &&
               value == static_cast<double>(static_cast<int64_t>(value))) {
      out.every = static_cast<int64_t>(value);
    } else if (name == "fragmentation" && value > 1) {
      out.fragmentation = value;
    } else {
      problems.push_back({"", "cache_policy: \"" + word + "\" is not a policy",
                          "never, every:N, epoch, chunk, checkpoint, stage, fragmentation:P (a "
                          "ratio above 1), auto or hygiene"});
    }
  }
  if (never && words.size() > 1) {
    problems.push_back({"", "cache_policy: never excludes the others", ""});
  }
  return out;
}

Cache::Cache(MemoryMeter& meter, const CachePolicy& policy,
             std::function<void(const std::string&)> note)
    : meter_(meter), policy_(policy), note_(std::move(note)) {}

void Cache::after_step(int64_t step) {
  if (policy_.synchronize_every > 0 && step % policy_.synchronize_every == 0) {
    meter_.synchronize();
  }
  if (policy_.every > 0 && step % policy_.every == 0) return release();
  constexpr int64_t kSteps = 32;  // in which what others hold may have changed
  if (step % kSteps == 0) looked_at_ = 0;
  release_if_fragmented();
}

void Cache::after_epoch() {
  if (policy_.epoch) release();
}

void Cache::after_chunk() {
  if (policy_.chunk) release();
}

void Cache::after_checkpoint() {
  if (policy_.checkpoint || policy_.automatic) release();
}

void Cache::after_stage() {
  if (policy_.stage || policy_.automatic) release();
}

void Cache::release() {
  const auto start = std::chrono::steady_clock::now();
  meter_.synchronize();
  bytes_ += meter_.trim();
  ++releases_;
  seconds_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

void Cache::release_if_fragmented() {
  if (!policy_.automatic && policy_.fragmentation <= 0) return;
  // Between steps little is allocated: what counts is how much the peak needed.
  const Counters now = meter_.counters();
  const auto reserved = static_cast<double>(now.reserved);
  const auto needed = static_cast<double>(now.peak_allocated);
  const bool over = policy_.fragmentation > 0 && reserved > policy_.fragmentation * needed;
  bool fragmented = false;
  if (policy_.automatic && reserved > kFragmented * needed && now.reserved != looked_at_) {
    looked_at_ = now.reserved;  // to ask a device what is free takes longer than a small step
    const int64_t limit = meter_.limit();
    const double device = static_cast<double>(limit > 0 ? limit : meter_.total());
    const double free = limit > 0 ? device - reserved : static_cast<double>(meter_.free());
    fragmented = free < kLittleFree * device;
  }
  if (!over && !fragmented) return;
  const int64_t before = bytes_;
  release();
  if (!note_) return;
  note_("fragmented memory: gave back " + mebibytes(bytes_ - before) + ", " +
        format_number("%.2f", reserved / needed) + " of the peak's need");
}

nlohmann::json Cache::totals() const {
  return {{"releases", releases_}, {"released_bytes", bytes_}, {"release_seconds", seconds_}};
}

}  // namespace kdgat::memory
