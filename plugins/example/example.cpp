// A stage from outside, built against the SDK alone: counts to `steps`, resting in between.
#include <chrono>
#include <fstream>
#include <thread>

#include "kdgat/atomic_file.h"
#include "kdgat/stage.h"

struct Example {
  struct Options {
    int64_t steps = 3;
    double seconds = 0;
    static auto table() {
      return std::tuple{
          kdgat::field("steps", &Options::steps, "How far to count.").range(1, 1000000),
          kdgat::field("seconds", &Options::seconds, "Rest after each step.")
              .range(0, 3600)
              .runtime()};
    }
  };
  static kdgat::StageInfo info() {
    return {"example", 1, "Counts; shows how a stage is made.", {}, {{"count", "data"}}, {}};
  }
  static nlohmann::json plan(const Options& options, const kdgat::Request&) {
    // Figures of its own names: what `kdgat run --require "example.count>=3"` may ask for.
    return {{"count", options.steps}, {"figures", {"count"}}};
  }
  static nlohmann::json run(const Options& options, const kdgat::Request& request,
                            kdgat::Host& host) {
    const std::filesystem::path checkpoint = request.run_dir / "checkpoint.json";
    int64_t step = 0;
    if (std::ifstream in(checkpoint); in) step = nlohmann::json::parse(in).at("step");
    for (; step < options.steps; ++step) {
      if (const kdgat::ExitCode code = host.cancelled(); code != kdgat::ExitCode::kOk) {
        throw kdgat::Error(code, "checkpoint at step " + std::to_string(step));
      }
      std::this_thread::sleep_for(std::chrono::duration<double>(options.seconds));
      kdgat::write_file(checkpoint, nlohmann::json{{"step", step + 1}}.dump());
      host.metrics("step", step + 1, {{"count", step + 1}});
      host.progress("", "step", step + 1, options.steps);
    }
    kdgat::write_file(request.run_dir / "count.json", nlohmann::json{{"count", step}}.dump());
    std::filesystem::remove(checkpoint);
    kdgat::Figure count("count", static_cast<double>(step));
    count.place = 1;
    return {{"facts", {{"count", step}}},
            {"metrics", {{"count", step}}},
            {"figures", nlohmann::json::array({count})},
            {"summary", "counted to " + std::to_string(step)}};
  }
};

KDGAT_STAGE(Example)
