#!/usr/bin/env python3
"""The head of docs/options.md: the options that matter first, and all of them by purpose. scripts/docs calls it with the
program and its stages. A name that no stage has any more ends with an error."""
import collections
import json
import subprocess
import sys

FIRST = [
    ("max_epochs", "How long to train; `patience` ends it earlier. For a first look 20."),
    ("lr", "The learning rate. Where training does not get better, or jumps, try a third of it, or three times as much."),
    ("batch_size", "Graphs of a step: an upper bound, the plan takes what memory allows."),
    ("patience", "Epochs without improvement after which training stops."),
    ("hidden", "Width of the layers. Memory and time grow with it. An autoencoder has `hidden_dims`."),
    ("layers", "Number of layers. Two or three are usual."),
    ("dropout", "More of it where training is good and validation is not."),
    ("sampling", "Which training windows an epoch has, where one class is rare."),
    ("use_kd", "Learn from a trained teacher beside the data."),
    ("false_alarms", "What a detector, or a calibrated threshold, may raise."),
]
# Names, and beginnings of names that end with *. A name belongs to the first purpose that takes it.
PURPOSES = [
    ("Length of training", "max_epochs patience monitor_* stop min_delta fusion_episodes validate_every"),
    ("Optimiser", "lr fusion_lr learning_rate optimizer weight_decay gradient_clip accumulate_grad_batches "
                  "use_scheduler scheduler_*"),
    ("Batch and memory", "batch_size optimize_batch_size min_steps_per_epoch safety_factor memory_estimation "
                         "gradient_checkpointing cache_policy clear_cache_every_n precision scoring_chunk path_budget "
                         "synchronize_every"),
    ("Size and form of the model", "hidden hidden_* layers num_layers heads num_attention_heads embedding_dim latent_dim "
                                   "fc_layers dropout conv jk norm norm_type aggregation aggregator readout pooling_type "
                                   "id_* standardise act output_dim head trees leaves vgae_* model hops interactions"),
    ("Learning from a teacher or a trained encoder", "use_kd kd_* temperature teacher teacher_path use_teacher_cache "
                                                     "offload_teacher_to_cpu encoder_path freeze_encoder"),
    ("Loss", "loss loss_fn *_weight focal_* mse_weight lambda_order delta_margin order_negative"),
    ("Which data are learned from", "sampling curriculum_* difficulty_* hard_buffer_share momentum_tau use_vgae_mining "
                                    "train_on train_on_healthy_only label_fraction inject use_labels val_ratio"),
    ("Thresholds and alarms", "false_alarms threshold calibrate calibrate_seconds calibration_windows budget "
                              "fallback_quantile alarm_* channel_false_alarms"),
    ("Judging and comparing", "parts ablate baselines top_k full_ranking relevant_rating write_predictions"),
    ("Progress and repeating a run", "log_every_n_steps checkpoint_seconds deterministic"),
]


def matches(pattern, name):
    if pattern.startswith("*"):
        return name.endswith(pattern[1:])
    return name.startswith(pattern[:-1]) if pattern.endswith("*") else name == pattern


def main():
    program, *stages = sys.argv[1:]
    of = collections.defaultdict(list)
    for stage in stages:
        schema = json.loads(subprocess.check_output([program, "config", "schema", stage, "--json"]))
        for name in schema["properties"]:
            of[name].append(stage)

    print("## The ten that matter first\n\n| option | what to know | stages |\n|---|---|---|")
    for name, words in FIRST:
        if not of.get(name):
            sys.exit(f"docs: no stage has the option {name}, which scripts/site/options.py lists")
        stages = ", ".join(f"[{stage}](#{stage})" for stage in of[name])
        print(f"| `{name}` | {words} | {stages} |")

    print("\n## By purpose\n\nOptions that several stages have, and the most used ones of one stage. The words of each stand below, by "
          "stage.\n\n| purpose | options |\n|---|---|")
    left = dict(of)
    for title, patterns in PURPOSES:
        taken = []
        for pattern in patterns.split():
            found = sorted(name for name in left if matches(pattern, name))
            if not any(matches(pattern, name) for name in of):
                sys.exit(f"docs: no stage has an option {pattern}, which scripts/site/options.py lists")
            taken += found
            for name in found:
                del left[name]
        print(f"| {title} | {', '.join(f'`{name}`' for name in taken)} |")


main()
