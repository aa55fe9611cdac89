# Test programs. Included by the CMakeLists.txt of the project; paths are from its folder.
enable_testing()
list(APPEND CMAKE_MODULE_PATH ${Catch2_DIR})
include(Catch)
add_library(kdgat_test_main STATIC tests/support/catch_main.cpp)
kdgat_optimise_nothing(kdgat_test_main)
target_link_libraries(kdgat_test_main PUBLIC Catch2::Catch2)

include(${CMAKE_CURRENT_LIST_DIR}/add_tests.cmake)

kdgat_add_tests(kdgat_graph_tests
  SOURCES
    tests/unit/engine/data/can/logs/can_log_test.cpp
    tests/unit/engine/data/can/logs/can_table_test.cpp
    tests/unit/engine/data/can/logs/can_table_labels_test.cpp
    tests/unit/engine/data/can/logs/time_reading_test.cpp
    tests/unit/engine/data/can/frames/channel_choice_test.cpp
    tests/unit/engine/data/can/channels_test.cpp
    tests/unit/engine/data/can/logs/asc_test.cpp
    tests/unit/engine/data/can/logs/binary_logs_test.cpp
    tests/unit/engine/data/can/logs/dbc_test.cpp
    tests/unit/engine/data/can/logs/label_intervals_test.cpp
    tests/unit/engine/data/can/logs/every_record_test.cpp
    tests/unit/engine/data/can/logs/round_trip_test.cpp
    tests/unit/engine/data/can/logs/text_logs_test.cpp
    tests/unit/engine/data/core/dataset_files_test.cpp
    tests/unit/engine/data/core/domain_suite_test.cpp
    tests/unit/engine/data/can/fuzz_can_log_test.cpp
    tests/unit/engine/data/graphs/fuzz_graphs_test.cpp
    tests/unit/engine/data/graphs/graph_guards_test.cpp
    tests/unit/engine/data/graphs/graphs_import_test.cpp
    tests/unit/fields/space/data/fuzz_neurons_test.cpp
    tests/unit/engine/file/base64_test.cpp
    tests/unit/engine/file/fuzz_safetensors_test.cpp
    tests/unit/fields/texts/data/fuzz_texts_test.cpp
    tests/unit/engine/graph/graph_store_test.cpp
    tests/unit/engine/data/core/import_test.cpp
    tests/unit/engine/data/can/synthetic/inject_test.cpp
    tests/unit/engine/data/can/synthetic/masquerade_test.cpp
    tests/unit/engine/data/core/recognise_test.cpp
    tests/unit/engine/data/core/store_flips_test.cpp
    tests/unit/fields/space/data/space_flips_test.cpp
    tests/unit/fields/texts/data/text_flips_test.cpp
    tests/unit/fields/ratings/data/ratings_flips_test.cpp
    tests/unit/fields/molecules/data/molecule_flips_test.cpp
    tests/unit/engine/file/line_reader_test.cpp
    tests/unit/engine/data/can/logs/stored_frames_test.cpp
    tests/unit/engine/data/can/log_forms_test.cpp
    tests/unit/engine/data/can/windows/log_windows_test.cpp
    tests/unit/engine/data/can/frames/protocol_ids_test.cpp
    tests/unit/engine/data/can/windows/payload_laws_test.cpp
    tests/unit/engine/data/can/relative_graphs_test.cpp
    tests/unit/engine/data/can/windows/relative_graph_test.cpp
    tests/unit/engine/data/can/windows/relative_early_test.cpp
    tests/unit/engine/data/can/windows/relative_times_test.cpp
    tests/unit/engine/data/can/windows/relative_windows_test.cpp
    tests/unit/engine/arrays/bit_space_test.cpp
    tests/unit/engine/arrays/column_test.cpp
    tests/unit/engine/graph/pack_test.cpp
    tests/unit/engine/arrays/paths_test.cpp
    tests/unit/fields/molecules/data/amber_test.cpp
    tests/unit/fields/molecules/data/fuzz_molecules_test.cpp
    tests/unit/fields/molecules/data/molecule_graph_test.cpp
    tests/unit/fields/molecules/data/molecule_import_test.cpp
    tests/unit/fields/molecules/data/structure_test.cpp
    tests/unit/fields/ratings/data/fuzz_ratings_test.cpp
    tests/unit/fields/ratings/data/rating_forms_test.cpp
    tests/unit/fields/ratings/data/ratings_test.cpp
    tests/unit/engine/graph/rewire_test.cpp
    tests/unit/engine/file/safetensors_test.cpp
    tests/unit/engine/graph/shape_test.cpp
    tests/unit/fields/space/data/spatial_import_test.cpp
    tests/unit/engine/graph/section_faults_test.cpp
    tests/unit/engine/graph/sections_test.cpp
    tests/unit/engine/arrays/spatial_test.cpp
    tests/unit/engine/graph/split_test.cpp
    tests/unit/fields/space/data/swc_test.cpp
    tests/unit/fields/space/data/synth_trees_test.cpp
    tests/unit/engine/data/can/synthetic/synth_logs_test.cpp
    tests/unit/engine/file/tar_test.cpp
    tests/unit/engine/file/text_kind_test.cpp
    tests/unit/fields/texts/data/recognise_texts_test.cpp
    tests/unit/fields/texts/data/text_clean_test.cpp
    tests/unit/fields/texts/data/text_forms_test.cpp
    tests/unit/fields/texts/data/text_golden_test.cpp
    tests/unit/fields/texts/data/text_graph_test.cpp
    tests/unit/fields/texts/data/text_import_test.cpp
    tests/unit/fields/texts/data/text_store_test.cpp
    tests/unit/engine/data/can/windows/vehicle_profile_test.cpp
    tests/unit/engine/data/can/windows/windows_test.cpp
    tests/unit/engine/trees/boosted_trees_test.cpp
    tests/unit/engine/trees/isolation_forest_test.cpp
    tests/unit/engine/trees/tree_grower_test.cpp
    tests/unit/engine/trees/tree_json_test.cpp
    tests/unit/engine/trees/tree_reference_test.cpp
  LINK kdgat_graph ${ZSTD} ZLIB::ZLIB
  HEADER tests/support/precompiled.h
  PARTS 2)

kdgat_add_tests(kdgat_native_tests
  SOURCES
    tests/unit/engine/live/bus_address_test.cpp
    tests/unit/engine/live/bus_reader_test.cpp
    tests/unit/engine/live/clock_steps_test.cpp
    tests/unit/engine/live/frame_queue_test.cpp
    tests/unit/engine/live/replay_test.cpp
    tests/unit/stages/watch/own_frames_test.cpp
    tests/unit/stages/watch/traffic_report_test.cpp
  LINK kdgat_native kdgat_stage_watch
  HEADERS_OF kdgat_graph_tests)

# The kernels of the card, run as loops on the CPU: arithmetic, bounds and barriers.
add_library(kdgat_test_cuda STATIC tests/support/cards/cuda_kernels.cpp)
target_include_directories(kdgat_test_cuda PUBLIC stages tests)
target_link_libraries(kdgat_test_cuda PUBLIC kdgat_graph)
target_compile_options(kdgat_test_cuda PRIVATE -ffp-contract=off)  # products are rounded where the kernels say so
add_library(kdgat_fake_cuda MODULE tests/support/cards/fake_cuda.cpp)
target_link_libraries(kdgat_fake_cuda PRIVATE kdgat_test_cuda)
kdgat_add_tests(kdgat_cuda_tests
  SOURCES
    tests/unit/engine/kernels/cuda/card_test.cpp
    tests/unit/engine/kernels/cuda/gat_kernels_test.cpp
    tests/unit/engine/kernels/cuda/head_kernels_test.cpp
    tests/unit/engine/kernels/cuda/norm_kernels_test.cpp
    tests/unit/engine/kernels/cuda/path_kernels_test.cpp
    tests/unit/engine/kernels/cuda/product_kernels_test.cpp
    tests/unit/engine/kernels/cuda/sum_kernels_test.cpp
  LINK kdgat_test_cuda kdgat_cuda
  HEADERS_OF kdgat_graph_tests)
add_dependencies(kdgat_cuda_tests kdgat_fake_cuda)

# They compile what is exported, with the compilers that are there.
kdgat_add_tests(kdgat_export_tests
  SOURCES
    tests/unit/engine/export/c/c_math_test.cpp
    tests/unit/engine/export/c/network_alarms_test.cpp
    tests/unit/engine/export/c/network_c_test.cpp
    tests/unit/engine/export/onnx/onnx_example_test.cpp
    tests/unit/engine/export/onnx/onnx_network_test.cpp
    tests/unit/engine/export/onnx/proto_writer_test.cpp
  LINK kdgat_export
  HEADERS_OF kdgat_graph_tests
  PARTS 2)
# Training of a detector, which needs no LibTorch, for tests of what becomes of its models.
set(learning cross_fit frame_sample learning left_out network_source sentences training)
list(TRANSFORM learning REPLACE "(.+)" "stages/detector/\\1.cpp")
list(APPEND learning stages/engine/compare/rule.cpp)
add_library(kdgat_test_detector STATIC ${learning})
kdgat_join(kdgat_test_detector 6 ${learning})
target_link_libraries(kdgat_test_detector PUBLIC kdgat_native)
kdgat_add_tests(kdgat_export_detector_tests
  SOURCES
    tests/unit/engine/export/c/detector_c_test.cpp
    tests/unit/engine/export/c/detector_network_c_test.cpp
  LINK kdgat_export kdgat_test_detector ZLIB::ZLIB
  HEADERS_OF kdgat_graph_tests
  PARTS 2)

kdgat_add_tests(kdgat_host_tests
  SOURCES
    tests/unit/pipeline/alarms/alarm_queue_test.cpp
    tests/unit/pipeline/verbs/completion_at_test.cpp
    tests/unit/pipeline/verbs/completion_test.cpp
    tests/unit/pipeline/verbs/json_forms_test.cpp
    tests/unit/pipeline/verbs/watch_view_test.cpp
    tests/unit/pipeline/alarms/alarm_sinks_test.cpp
    tests/unit/pipeline/alarms/alarm_words_test.cpp
    tests/unit/pipeline/alarms/metrics_test.cpp
    tests/unit/pipeline/alarms/mqtt_test.cpp
    tests/unit/pipeline/run/artifacts_test.cpp
    tests/unit/pipeline/show/chart_svg_test.cpp
    tests/unit/pipeline/show/printable_stream_test.cpp
    tests/unit/pipeline/show/quantity_test.cpp
    tests/unit/pipeline/run/odd_records_test.cpp
    tests/unit/pipeline/cli/cli_test.cpp
    tests/unit/pipeline/data/data_test.cpp
    tests/unit/fields/space/data/profile_space_test.cpp
    tests/unit/fields/texts/data/profile_texts_test.cpp
    tests/unit/pipeline/run/find_model_test.cpp
    tests/unit/pipeline/slurm/job_failure_test.cpp
    tests/unit/pipeline/slurm/job_script_test.cpp
    tests/unit/pipeline/memory/legacy_estimate_test.cpp
    tests/unit/pipeline/system/clock_test.cpp
    tests/unit/pipeline/system/git_test.cpp
    tests/unit/pipeline/system/program_test.cpp
    tests/unit/pipeline/system/json_file_test.cpp
    tests/unit/pipeline/system/record_test.cpp
    tests/unit/pipeline/system/machine_test.cpp
    tests/unit/pipeline/system/parallel_test.cpp
    tests/unit/pipeline/system/secrets_test.cpp
    tests/unit/pipeline/system/signals_test.cpp
    tests/unit/pipeline/system/temporary_test.cpp
    tests/unit/pipeline/system/tensor_file_test.cpp
    tests/unit/pipeline/memory/memory_test.cpp
    tests/unit/pipeline/verbs/memory_verb_test.cpp
    tests/unit/pipeline/profile/path_options_test.cpp
    tests/unit/pipeline/run/plan_test.cpp
    tests/unit/pipeline/plugin/plugin_host_test.cpp
    tests/unit/pipeline/profile/profile_steps_test.cpp
    tests/unit/pipeline/profile/profile_test.cpp
    tests/unit/pipeline/profile/profile_values_test.cpp
    tests/unit/pipeline/profile/seed_words_test.cpp
    tests/unit/pipeline/profile/version_requirement_test.cpp
    tests/unit/pipeline/profile/published_sizes_test.cpp
    tests/unit/pipeline/execute/ranks_test.cpp
    tests/unit/pipeline/report/report_figures_test.cpp
    tests/unit/pipeline/report/report_test.cpp
    tests/unit/pipeline/run/journal_test.cpp
    tests/unit/pipeline/run/replicates_test.cpp
    tests/unit/pipeline/run/requirements_test.cpp
    tests/unit/pipeline/run/run_index_test.cpp
    tests/unit/pipeline/run/run_labels_test.cpp
    tests/unit/pipeline/run/run_record_test.cpp
    tests/unit/pipeline/run/seed_statistics_test.cpp
    tests/unit/pipeline/run/step_metrics_test.cpp
    tests/unit/pipeline/verbs/dry_run_test.cpp
    tests/unit/pipeline/verbs/require_test.cpp
    tests/unit/pipeline/verbs/run_killed_test.cpp
    tests/unit/pipeline/verbs/run_test.cpp
    tests/unit/pipeline/execute/runner_test.cpp
    tests/unit/pipeline/verbs/runs_verb_test.cpp
    tests/unit/pipeline/plugin/option_groups_test.cpp
    tests/unit/pipeline/plugin/schema_test.cpp
    tests/unit/pipeline/data/data_headline_test.cpp
    tests/unit/fields/space/data/space_headline_test.cpp
    tests/unit/fields/texts/data/texts_headline_test.cpp
    tests/unit/fields/ratings/data/ratings_headline_test.cpp
    tests/unit/pipeline/sdk/atomic_file_test.cpp
    tests/unit/pipeline/sdk/host_memory_test.cpp
    tests/unit/pipeline/sdk/result_test.cpp
    tests/unit/pipeline/sdk/small_file_test.cpp
    tests/unit/pipeline/show/markdown_test.cpp
    tests/unit/pipeline/show/status_test.cpp
    tests/unit/pipeline/show/table_test.cpp
    tests/unit/pipeline/show/text_test.cpp
    tests/unit/pipeline/slurm/submit_test.cpp
    tests/unit/pipeline/tune/tune_test.cpp
  LINK kdgat_core
  HEADERS_OF kdgat_graph_tests
  PARTS 4)
add_dependencies(kdgat_host_tests kdgat kdgat_plugin_example)
if(TARGET kdgat_mqtt)
  add_dependencies(kdgat_host_tests kdgat_mqtt)
endif()
# Beside the others, as the HTTP library of its servers takes longer to load than most of their
# cases take to run. Another than the program's: what one gets wrong the other does not expect.
find_library(HTTPLIB cpp-httplib REQUIRED)
# The library's classes look as it was built, and it says so nowhere but in its .pc file.
add_library(httplib INTERFACE)
target_link_libraries(httplib INTERFACE ${HTTPLIB} ssl crypto)
target_compile_definitions(httplib INTERFACE CPPHTTPLIB_OPENSSL_SUPPORT CPPHTTPLIB_ZLIB_SUPPORT
                                             CPPHTTPLIB_BROTLI_SUPPORT)
kdgat_add_tests(kdgat_records_tests
  SOURCES
    tests/unit/pipeline/records/http_test.cpp
    tests/unit/pipeline/records/mlflow_test.cpp
    tests/unit/pipeline/records/secret_words_test.cpp
    tests/unit/pipeline/records/recorder_test.cpp
    tests/unit/pipeline/records/records_test.cpp
  LINK kdgat_core httplib
  HEADERS_OF kdgat_graph_tests
  PARTS 2)
add_dependencies(kdgat_records_tests kdgat kdgat_plugin_example)

set(KDGAT_CLI_TESTS
    tests/cli/data_verb_test.cpp
    tests/cli/fields/ratings/ratings_data_test.cpp
    tests/cli/fields/space/spatial_data_test.cpp
    tests/cli/fields/texts/text_data_test.cpp
    tests/cli/logs/convert_test.cpp
    tests/cli/logs/inject_test.cpp)
if(KDGAT_ENGINE)
  list(APPEND KDGAT_CLI_TESTS
    tests/cli/config_test.cpp
    tests/cli/device_test.cpp
    tests/cli/distill_test.cpp
    tests/cli/docs_test.cpp
    tests/cli/export_test.cpp
    tests/cli/fields/molecules/pockets_test.cpp
    tests/cli/fields/ratings/recommender_test.cpp
    tests/cli/fields/space/next_neurons_test.cpp
    tests/cli/fields/texts/textgcn_test.cpp
    tests/cli/graphs_test.cpp
    tests/cli/regression_test.cpp
    tests/cli/hostile_test.cpp
    tests/cli/installed_test.cpp
    tests/cli/json_test.cpp
    tests/cli/logs/alarm_rule_test.cpp
    tests/cli/logs/detector_file_test.cpp
    tests/cli/logs/detector_score_test.cpp
    tests/cli/logs/shipped_detector_test.cpp
    tests/cli/logs/fit_test.cpp
    tests/cli/logs/joined_score_test.cpp
    tests/cli/logs/named_score_test.cpp
    tests/cli/logs/relative_features_test.cpp
    tests/cli/logs/score_test.cpp
    tests/cli/logs/watch_bus_test.cpp
    tests/cli/logs/watch_test.cpp
    tests/cli/import_account_test.cpp
    tests/cli/made_before_test.cpp
    tests/cli/memory_test.cpp
    tests/cli/next_test.cpp
    tests/cli/odd_names_test.cpp
    tests/cli/programs_test.cpp
    tests/cli/ranks_test.cpp
    tests/cli/records_test.cpp
    tests/cli/report_test.cpp
    tests/cli/require_test.cpp
    tests/cli/run_record_test.cpp
    tests/cli/seeds_test.cpp
    tests/cli/stages_test.cpp
    tests/cli/startup_test.cpp
    tests/cli/terminal_test.cpp
    tests/cli/tune_test.cpp
    tests/cli/wrong_domain_test.cpp)
endif()
kdgat_add_tests(kdgat_cli_tests
  SOURCES ${KDGAT_CLI_TESTS}
  LINK kdgat_graph
  HEADERS_OF kdgat_graph_tests
  PARTS 8)
add_dependencies(kdgat_cli_tests kdgat_all)

# By itself: what it links is the small library alone, and nothing of the program.
if(KDGAT_ENGINE)
  kdgat_add_tests(kdgat_detect_tests
    SOURCES tests/unit/engine/decision/library/detect_test.cpp
    LINK kdgat_detect nlohmann_json::nlohmann_json)
  add_dependencies(kdgat_detect_tests kdgat_all)

  kdgat_add_tests(kdgat_engine_tests
    SOURCES
      tests/unit/engine/native/networks_test.cpp
      tests/unit/engine/memory/arena_test.cpp
      tests/unit/engine/memory/device_blocks_test.cpp
      tests/unit/engine/memory/gpu_test.cpp
      tests/unit/engine/memory/meter_test.cpp
      tests/unit/engine/memory/memory_plan_test.cpp
      tests/unit/engine/model/networks/footprint_test.cpp
      tests/unit/engine/model/networks/forms_test.cpp
      tests/unit/engine/model/networks/monotone_test.cpp
      tests/unit/engine/model/layers/convs_test.cpp
      tests/unit/engine/model/layers/full_precision_test.cpp
      tests/unit/engine/model/layers/layer_test.cpp
      tests/unit/engine/model/layers/gin_test.cpp
      tests/unit/engine/model/layers/linear_test.cpp
      tests/unit/engine/model/layers/rounded_linear_test.cpp
      tests/unit/fields/space/model/growth_test.cpp
      tests/unit/engine/kernels/families_test.cpp
      tests/unit/engine/kernels/kernels_test.cpp
      tests/unit/engine/model/networks/model_test.cpp
      tests/unit/fields/ratings/model/sage_test.cpp
      tests/unit/fields/space/model/sgmp_test.cpp
      tests/unit/engine/objective/class_autoencoder_test.cpp
      tests/unit/engine/objective/distillation_test.cpp
      tests/unit/fields/space/objective/graph_objective_test.cpp
      tests/unit/engine/objective/lying_models_test.cpp
      tests/unit/engine/objective/mixed_precision_test.cpp
      tests/unit/engine/objective/number_objective_test.cpp
      tests/unit/engine/objective/objective_test.cpp
      tests/unit/fields/space/objective/tree_objective_test.cpp
      tests/unit/fields/space/objective/tree_pairs_test.cpp
      tests/unit/stages/class_autoencoder_test.cpp
      tests/unit/stages/class_curriculum_test.cpp
      tests/unit/stages/class_fusion_test.cpp
      tests/unit/stages/curriculum/curriculum_test.cpp
      tests/unit/stages/distill/distill_test.cpp
      tests/unit/stages/evaluate/evaluate_ablation_test.cpp
      tests/unit/stages/evaluate/evaluate_beside_test.cpp
      tests/unit/stages/fusion/fusion_test.cpp
      tests/unit/stages/network_channel_test.cpp
      tests/unit/fields/ratings/graphsage/graphsage_test.cpp
      tests/unit/stages/stages_test.cpp
      tests/unit/fields/space/tree_stages_test.cpp
      tests/unit/engine/train/calibration_test.cpp
      tests/unit/engine/train/metrics/class_metrics_test.cpp
      tests/unit/engine/train/sampling/class_curriculum_test.cpp
      tests/unit/engine/train/sampling/curriculum_sampler_test.cpp
      tests/unit/engine/train/memory_test.cpp
      tests/unit/engine/train/metrics/metrics_test.cpp
      tests/unit/engine/train/optimizer_test.cpp
      tests/unit/engine/train/precision_test.cpp
      tests/unit/engine/train/progress_test.cpp
      tests/unit/engine/train/rank_group_test.cpp
      tests/unit/engine/train/trainer_test.cpp
    LINK kdgat_stage_autoencoder kdgat_stage_classifier kdgat_stage_curriculum kdgat_stage_detector
         kdgat_stage_distill kdgat_stage_finetune kdgat_stage_graphsage kdgat_stage_gtssl
         kdgat_stage_evaluate kdgat_stage_fusion
    HEADER tests/support/catch_torch.h
    PARTS 4)

  # Beside the engine's, which take minutes to link and build.
  kdgat_add_tests(kdgat_text_tests
    SOURCES
      tests/unit/fields/texts/model/sparse_product_test.cpp
      tests/unit/fields/texts/model/text_gcn_test.cpp
      tests/unit/fields/texts/textgcn/textgcn_test.cpp
    LINK kdgat_stage_textgcn kdgat_stage_autoencoder kdgat_stage_classifier
    HEADERS_OF kdgat_engine_tests
    PARTS 2)

  # The same kernels with tensors and autograd. Its headers are its own: those of the engine's tests
  # would have them built as well.
  kdgat_add_tests(kdgat_cuda_engine_tests
    SOURCES tests/unit/engine/kernels/cuda/card_memory_test.cpp
            tests/unit/engine/kernels/cuda/card_plan_test.cpp
            tests/unit/engine/kernels/cuda/cuda_families_test.cpp
            tests/unit/engine/kernels/cuda/launches_test.cpp
            tests/unit/fields/molecules/model/card_product_test.cpp
            tests/unit/fields/space/model/card_space_memory_test.cpp
    LINK kdgat_engine kdgat_test_cuda)

  # Beside them for the same reason.
  kdgat_add_tests(kdgat_detector_tests
    SOURCES
      tests/unit/stages/adapt/adapt_test.cpp
      tests/unit/stages/detector/detector_alarm_rule_test.cpp
      tests/unit/stages/detector/detector_baselines_test.cpp
      tests/unit/stages/detector/detector_cases_test.cpp
      tests/unit/stages/detector/detector_figures_test.cpp
      tests/unit/stages/detector/detector_frames_test.cpp
      tests/unit/stages/detector/detector_input_test.cpp
      tests/unit/stages/detector/detector_memory_test.cpp
      tests/unit/stages/detector/detector_network_test.cpp
      tests/unit/stages/detector/detector_pictures_test.cpp
      tests/unit/stages/detector/detector_reasons_test.cpp
      tests/unit/stages/detector/detector_test.cpp
      tests/unit/stages/detector/detector_evidence_test.cpp
      tests/unit/stages/detector/detector_training_test.cpp
      tests/unit/engine/decision/detector/window_scorer_test.cpp
    LINK kdgat_stage_adapt kdgat_stage_detector kdgat_stage_score
    HEADERS_OF kdgat_engine_tests
    PARTS 4)

  kdgat_add_tests(kdgat_molecule_tests
    SOURCES tests/unit/fields/molecules/model/pocket_encoder_test.cpp
            tests/unit/fields/molecules/model/pocket_footprint_test.cpp
            tests/unit/fields/molecules/model/pocket_model_test.cpp
            tests/unit/fields/molecules/model/tensor_product_test.cpp
            tests/unit/fields/molecules/objective/pocket_loss_test.cpp
            tests/unit/fields/molecules/equivariant/equivariant_test.cpp
    LINK kdgat_stage_equivariant
    HEADERS_OF kdgat_engine_tests
    PARTS 2)

  # Forks the processes that its stages run in.
  kdgat_add_tests(kdgat_contract_tests
    SOURCES tests/unit/stages/contract_test.cpp
            tests/unit/fields/space/gtssl/gtssl_contract_test.cpp
            tests/unit/fields/space/finetune/finetune_contract_test.cpp
            tests/unit/fields/molecules/equivariant/equivariant_contract_test.cpp
            tests/unit/fields/texts/textgcn/textgcn_contract_test.cpp
            tests/unit/fields/ratings/graphsage/graphsage_contract_test.cpp
    LINK kdgat_stage_adapt kdgat_stage_autoencoder kdgat_stage_classifier kdgat_stage_curriculum
         kdgat_stage_detector kdgat_stage_distill kdgat_stage_equivariant kdgat_stage_evaluate
         kdgat_stage_finetune kdgat_stage_fusion kdgat_stage_graphsage kdgat_stage_gtssl
         kdgat_stage_score kdgat_stage_textgcn
    HEADERS_OF kdgat_engine_tests
    PARTS 4)

  include(tests/slurm/slurm.cmake)
endif()

kdgat_choose_tests()

include(tests/bench/bench.cmake)
include(tests/scripts/scripts.cmake)
