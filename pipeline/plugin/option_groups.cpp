#include "pipeline/plugin/option_groups.h"

#include <algorithm>
#include <set>
#include <sstream>

#include "pipeline/plugin/schema.h"

namespace kdgat {

using nlohmann::json;

namespace {

using Names = std::vector<std::string>;

bool is_like(const std::string& name, const std::string& pattern) {
  if (pattern.front() == '*') {
    const std::size_t size = pattern.size() - 1;
    return name.size() >= size && name.compare(name.size() - size, size, pattern, 1, size) == 0;
  }
  if (pattern.back() == '*')
    return name.compare(0, pattern.size() - 1, pattern, 0, pattern.size() - 1) == 0;
  return name == pattern;
}

Names words_of_line(const std::string& line) {
  std::istringstream words(line);
  Names out;
  for (std::string word; words >> word;) out.push_back(word);
  return out;
}

Names own_names(const json& schema) {
  Names out;
  const auto properties = schema.find("properties");
  if (properties == schema.end()) return out;
  for (const auto& [name, option] : properties->items()) out.push_back(name);
  return out;
}

}  // namespace

const std::vector<FirstOption>& first_options() {
  static const std::vector<FirstOption> options = {
      {"max_epochs", "How long to train; `patience` ends it earlier. For a first look 20."},
      {"lr",
       "The learning rate. Where training does not get better, or jumps, try a third of it, or "
       "three times as much."},
      {"batch_size", "Graphs of a step: an upper bound, the plan takes what memory allows."},
      {"patience", "Epochs without improvement after which training stops."},
      {"hidden",
       "Width of the layers. Memory and time grow with it. An autoencoder has `hidden_dims`."},
      {"layers", "Number of layers. Two or three are usual."},
      {"dropout", "More of it where training is good and validation is not."},
      {"sampling", "Which training windows an epoch has, where one class is rare."},
      {"use_kd", "Learn from a trained teacher beside the data."},
      {"false_alarms", "What a detector, or a calibrated threshold, may raise."},
  };
  return options;
}

const std::vector<OptionPurpose>& option_purposes() {
  static const std::vector<OptionPurpose> purposes = [] {
    const std::pair<const char*, const char*> table[] = {
        {"Length of training",
         "max_epochs patience monitor_* stop min_delta fusion_episodes validate_every"},
        {"Optimiser",
         "lr fusion_lr learning_rate optimizer weight_decay gradient_clip accumulate_grad_batches "
         "use_scheduler scheduler_*"},
        {"Batch and memory",
         "batch_size optimize_batch_size min_steps_per_epoch safety_factor memory_estimation "
         "gradient_checkpointing cache_policy clear_cache_every_n precision scoring_chunk "
         "path_budget synchronize_every"},
        {"Size and form of the model",
         "hidden hidden_* layers num_layers heads num_attention_heads embedding_dim latent_dim "
         "fc_layers dropout conv jk norm norm_type aggregation aggregator readout pooling_type "
         "id_* "
         "standardise act output_dim head trees leaves vgae_* model hops interactions"},
        {"Learning from a teacher or a trained encoder",
         "use_kd kd_* temperature teacher teacher_path use_teacher_cache offload_teacher_to_cpu "
         "encoder_path freeze_encoder"},
        {"Loss",
         "loss loss_fn *_weight focal_* mse_weight lambda_order delta_margin order_negative"},
        {"Which data are learned from",
         "sampling curriculum_* difficulty_* hard_buffer_share momentum_tau use_vgae_mining "
         "train_on train_on_healthy_only label_fraction inject use_labels val_ratio"},
        {"Thresholds and alarms",
         "false_alarms threshold calibrate calibrate_seconds calibration_windows budget "
         "fallback_quantile alarm_* channel_false_alarms"},
        {"Judging and comparing",
         "parts ablate baselines top_k full_ranking relevant_rating write_predictions"},
        {"Progress and repeating a run", "log_every_n_steps checkpoint_seconds deterministic"},
    };
    std::vector<OptionPurpose> out;
    for (const auto& [title, patterns] : table) out.push_back({title, words_of_line(patterns)});
    return out;
  }();
  return purposes;
}

std::vector<OptionGroup> grouped_options(const Names& names) {
  std::set<std::string> left(names.begin(), names.end());
  std::vector<OptionGroup> out;
  for (const OptionPurpose& purpose : option_purposes()) {
    OptionGroup group{purpose.title, {}};
    for (const std::string& pattern : purpose.patterns) {
      for (auto name = left.begin(); name != left.end();) {
        if (is_like(*name, pattern)) {
          group.names.push_back(*name);
          name = left.erase(name);
        } else {
          ++name;
        }
      }
    }
    if (!group.names.empty()) out.push_back(std::move(group));
  }
  if (!left.empty()) out.push_back({"Others", {left.begin(), left.end()}});
  return out;
}

Names unknown_in_groups(const Names& names) {
  Names out;
  const auto check = [&](const std::string& pattern) {
    const bool is_known = std::any_of(names.begin(), names.end(), [&](const std::string& name) {
      return is_like(name, pattern);
    });
    if (!is_known) out.push_back(pattern);
  };
  for (const FirstOption& option : first_options()) check(option.name);
  for (const OptionPurpose& purpose : option_purposes()) {
    for (const std::string& pattern : purpose.patterns) check(pattern);
  }
  return out;
}

Names first_of(const json& schema) {
  const Names own = own_names(schema);
  Names out;
  for (const FirstOption& option : first_options()) {
    if (std::find(own.begin(), own.end(), option.name) != own.end()) out.push_back(option.name);
  }
  return out;
}

std::string options_text_of(const json& schema, const Names& names) {
  std::string out;
  for (const std::string& name : names) {
    out += options_text({{"properties", {{name, option_schema(schema, name)}}}});
  }
  return out;
}

std::string options_by_purpose(const json& schema) {
  const Names own = own_names(schema);
  if (own.empty()) return options_text(schema);
  std::string out;
  for (const OptionGroup& group : grouped_options(own)) {
    out += (out.empty() ? "" : "\n") + group.title + "\n" + options_text_of(schema, group.names);
  }
  return out;
}

}  // namespace kdgat
