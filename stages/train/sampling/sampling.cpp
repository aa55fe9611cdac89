#include "train/sampling/sampling.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "kdgat/text.h"
#include "train/sampling/class_sampler.h"
#include "train/sampling/difficulty.h"

namespace kdgat::train {
namespace {

bool uses_difficulty(const SamplingOptions& options) {
  return options.sampling == "curriculum" && options.use_vgae_mining;
}

bool is_given(const Request& request) {
  const auto found = request.inputs.find(difficulty_port().name);
  return found != request.inputs.end() && !found->second.empty();
}

/// What a ratio schedule comes to: its pool shrinks as published while the ratio grows, so that the
/// pool decides in the end.
std::string outlook(const SamplingOptions& options, int64_t max_epochs, const Windows& windows) {
  const auto attacks = static_cast<int64_t>(windows.attacks.size());
  const auto benign = static_cast<int64_t>(windows.benign.size());
  const auto effective = [&](int64_t epoch) {
    const RatioStep step = ratio_step(options, max_epochs, attacks, benign, epoch);
    return static_cast<double>(std::min(step.wanted, benign - step.rank)) /
           static_cast<double>(attacks);
  };
  int64_t best = 0;
  for (int64_t epoch = 1; epoch < max_epochs; ++epoch) {
    if (effective(epoch) > effective(best)) best = epoch;
  }
  const double asked = ratio_step(options, max_epochs, attacks, benign, max_epochs - 1).ratio;
  const double last = effective(max_epochs - 1);
  std::string out = "curriculum: " + grouped(attacks) + " attack windows, for each " +
                    format_number("%.2f", effective(0)) + " benign in the first epoch, at most " +
                    format_number("%.2f", effective(best)) + " (epoch " + std::to_string(best + 1) +
                    "), " + format_number("%.2f", last) + " in the last";
  if (last < 0.99 * asked) {
    out += "; asked for are " + format_number("%.2f", asked) +
           ", but the pool of hard windows holds no more (see difficulty_percentile_end)";
  }
  return out;
}

}  // namespace

void check_sampling(const SamplingOptions& options, const Request& request) {
  if (!uses_difficulty(options) || is_given(request)) return;
  throw Error(ExitCode::kUsage,
              request.step +
                  ": sampling=curriculum needs the difficulty of the training windows, "
                  "and no step gives it",
              "add to the profile a step \"curriculum\" after the autoencoder, and \"needs: "
              "[curriculum]\" to " +
                  request.step + " (as --preset curriculum does); or use_vgae_mining=false");
}

int64_t sampled_batch_size(const SamplingOptions& options, int64_t batch_size) {
  if (options.sampling != "curriculum") return batch_size;
  const double size = static_cast<double>(batch_size) * options.curriculum_memory_multiplier;
  return std::max<int64_t>(1, static_cast<int64_t>(size));
}

std::unique_ptr<Sampler> make_sampler(const SamplingOptions& options, int64_t max_epochs,
                                      const Data& data, const std::vector<int64_t>& ids,
                                      CurriculumSampler::Score score, const Request& request,
                                      const Host& host) {
  check_sampling(options, request);
  if (is_given(request) && !uses_difficulty(options)) {
    host.log("warning", "the difficulty of windows is not used: sampling=" + options.sampling +
                            (options.use_vgae_mining ? "" : ", use_vgae_mining=false"));
  }
  if (options.sampling == "natural") return nullptr;
  if (is_labelled_graphs(data.store)) {
    if (options.sampling != "balanced") {
      throw Error(ExitCode::kUsage,
                  "sampling=" + options.sampling +
                      " chooses by the difficulty of windows of logs; these are labelled graphs",
                  "use sampling=balanced or natural");
    }
    return std::make_unique<ClassSampler>(ids, data.labels(ids),
                                          static_cast<uint64_t>(request.seed));
  }
  Windows windows{data.with_label(ids, 1), data.with_label(ids, 0), {}};
  const auto seed = static_cast<uint64_t>(request.seed);
  if (options.sampling == "balanced") {
    return std::make_unique<BalancedSampler>(std::move(windows), seed);
  }
  if (options.use_vgae_mining) {
    const std::filesystem::path folder = request.input(difficulty_port().name).path;
    windows.difficulty =
        values_of(load_difficulty(folder / kDifficultyFile, data.store), windows.benign);
  }
  if (options.curriculum_schedule == "ratio") {
    host.log("info", outlook(options, max_epochs, windows));
  }
  return std::make_unique<CurriculumSampler>(options, max_epochs, std::move(windows), seed,
                                             std::move(score));
}

}  // namespace kdgat::train
