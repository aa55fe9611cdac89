// Runs the replicates of a run: each `kdgat run` in a process of its own, several at once, by the
// rule of Admission. Owns the processes and what run.json says of each replicate; that one is a run
// like any other, it does not know how.
//
// The process reads a ReplicateRequest from standard input and writes ReplicateLines to kEventsFd.
// Signals ask it to stop.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "pipeline/run/artifacts.h"
#include "pipeline/run/replicates.h"
#include "pipeline/show/status.h"

namespace kdgat {

/// What one process holds beside the tensors of its stage: LibTorch and the program.
inline constexpr int64_t kReplicateBytes = int64_t{256} << 20;

struct ReplicateRequest {
  std::vector<std::string> words;
  int64_t seed = 0;
  int threads = 1;
  std::string replicate_of;  ///< id of the run of replicates
  std::string command;       ///< as it was typed

  static auto keys() {
    using T = ReplicateRequest;
    return std::tuple{key("words", &T::words), key("seed", &T::seed), key("threads", &T::threads),
                      key("replicate_of", &T::replicate_of), key("command", &T::command)};
  }
};

/// One of the replicate's own, or one of --progress jsonl.
struct ReplicateLine {
  std::optional<std::string> run{};  ///< its id, once it has begun
  std::optional<int> answer{};       ///< the exit code, at the end
  std::optional<std::string> error{};
  std::optional<std::string> event{}, level{}, text{};
  std::optional<uint64_t> memory{};
  std::optional<nlohmann::json> failure{};

  static auto keys() {
    using T = ReplicateLine;
    return std::tuple{key("run", &T::run),
                      key("answer", &T::answer),
                      key("error", &T::error),
                      key("event", &T::event),
                      key("level", &T::level),
                      key("text", &T::text),
                      key("memory_bytes", &T::memory),
                      key("failure", &T::failure)};
  }
};

struct ReplicateSettings {
  std::filesystem::path executable = "/proc/self/exe";
  ReplicateRequest request{};              ///< what the processes are told, but for the seed
  std::vector<std::string> environment{};  ///< of theirs, see ChildSpec
  std::size_t at_once = 1;                 ///< at least 1
  int64_t room = 0;   ///< bytes for all of them; 0 = not known: at_once alone counts
  int64_t bytes = 0;  ///< that one is expected to need; not more than the room
};

/// How many replicates run at once and with how many threads each: on a CPU as many as there are
/// cores, each with its share of them; on a card one after another. `threads`: 0 = not given.
struct ReplicatePlan {
  std::size_t at_once = 1;
  int threads = 1;
};
ReplicatePlan plan_replicates(std::size_t seeds, int cores, int threads, int nproc, bool is_cpu,
                              int at_once);

/// Runs every replicate of `list` that has not ended well, and keeps the document of `group` up to
/// date. Returns the exit code: 0 only if all ended well; that of a signal; else of the first in
/// the list that did not.
int run_replicates(Run& group, std::vector<Replicate>& list, Status& status,
                   const ReplicateSettings& settings);

}  // namespace kdgat
