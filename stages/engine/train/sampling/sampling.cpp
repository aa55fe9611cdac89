#include "engine/train/sampling/sampling.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "engine/train/sampling/class_curriculum.h"
#include "engine/train/sampling/class_sampler.h"
#include "engine/train/sampling/difficulty.h"
#include "kdgat/text.h"

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

/// What a curriculum of classes comes to.
std::string outlook(const ClassCurriculum& sampler, int64_t max_epochs) {
  const int64_t last = max_epochs - 1, smallest = sampler.smallest(), largest = sampler.largest();
  const auto range = [&](int64_t epoch) {
    const int64_t least = sampler.count(smallest, epoch), most = sampler.count(largest, epoch);
    return grouped(least) + (most > least ? " to " + grouped(most) : "");
  };
  return "curriculum: " + std::to_string(sampler.classes()) + " classes, " + grouped(smallest) +
         " graphs in the smallest and " + grouped(largest) + " in the largest; of each " +
         range(0) + " in the first epoch, " + range(last) + " in the last";
}

Difficulty given(const Data& data, const Request& request) {
  const std::filesystem::path folder = request.input(difficulty_port().name).path;
  return load_difficulty(folder / kDifficultyFile, data.store);
}

std::unique_ptr<Sampler> make_class_sampler(const SamplingOptions& options, int64_t max_epochs,
                                            const Data& data, const std::vector<int64_t>& ids,
                                            DifficultyScore score, const Request& request,
                                            const Host& host) {
  const auto seed = static_cast<uint64_t>(request.seed);
  if (options.sampling == "balanced") {
    return std::make_unique<ClassSampler>(ids, data.labels(ids), seed);
  }
  LabelledGraphs graphs{ids, data.labels(ids), {}};
  if (options.use_vgae_mining) {
    graphs.difficulty = values_of(given(data, request), ids, "training graphs");
  }
  auto out = std::make_unique<ClassCurriculum>(options, max_epochs, std::move(graphs), seed,
                                               std::move(score));
  host.log("info", outlook(*out, max_epochs));
  if (out->count(out->largest(), 0) == out->largest()) {
    host.log("warning",
             "curriculum: the first epoch has all graphs already, as no class is larger than is "
             "asked for; with curriculum_start_ratio below 1 it has the hardest of each class");
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
              "add to the profile a step \"curriculum\" after the autoencoder (of labelled graphs: "
              "after another classifier), and \"needs: [curriculum]\" to " +
                  request.step + " (as --preset curriculum does); or use_vgae_mining=false");
}

int64_t sampled_batch_size(const SamplingOptions& options, int64_t batch_size) {
  if (options.sampling != "curriculum") return batch_size;
  const double size = static_cast<double>(batch_size) * options.curriculum_memory_multiplier;
  return std::max<int64_t>(1, static_cast<int64_t>(size));
}

std::unique_ptr<Sampler> make_sampler(const SamplingOptions& options, int64_t max_epochs,
                                      const Data& data, const std::vector<int64_t>& ids,
                                      DifficultyScore score, const Request& request,
                                      const Host& host) {
  check_sampling(options, request);
  if (is_given(request) && !uses_difficulty(options)) {
    host.log("warning", "the difficulty of windows is not used: sampling=" + options.sampling +
                            (options.use_vgae_mining ? "" : ", use_vgae_mining=false"));
  }
  if (options.sampling == "natural") return nullptr;
  if (is_labelled_graphs(data.store)) {
    return make_class_sampler(options, max_epochs, data, ids, std::move(score), request, host);
  }
  Windows windows{data.with_label(ids, 1), data.with_label(ids, 0), {}};
  const auto seed = static_cast<uint64_t>(request.seed);
  if (options.sampling == "balanced") {
    return std::make_unique<BalancedSampler>(std::move(windows), seed);
  }
  if (options.use_vgae_mining) windows.difficulty = values_of(given(data, request), windows.benign);
  if (options.curriculum_schedule == "ratio") {
    host.log("info", outlook(options, max_epochs, windows));
  }
  return std::make_unique<CurriculumSampler>(options, max_epochs, std::move(windows), seed,
                                             std::move(score));
}

}  // namespace kdgat::train
