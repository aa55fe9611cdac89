# Tests, fuzzers and what scripts/bench measures. Included by the CMakeLists.txt of the project;
# paths are from its folder.
enable_testing()
list(APPEND CMAKE_MODULE_PATH ${Catch2_DIR})
include(Catch)
add_library(kdgat_test_main STATIC tests/support/catch_main.cpp)
kdgat_optimise_nothing(kdgat_test_main)
target_link_libraries(kdgat_test_main PUBLIC Catch2::Catch2)

# kdgat_add_tests(name SOURCES ... LINK ... [HEADER file | HEADERS_OF target]): an executable whose
# test cases are tests of ctest; the header is precompiled for it, or those of another of these
# executables are used.
function(kdgat_add_tests name)
  cmake_parse_arguments(ARG "" "HEADER;HEADERS_OF" "SOURCES;LINK" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  kdgat_join(${name} 4 ${ARG_SOURCES})
  if(KDGAT_PRECOMPILE AND ARG_HEADER)
    target_precompile_headers(${name} PRIVATE <${ARG_HEADER}>)
  elseif(KDGAT_PRECOMPILE AND ARG_HEADERS_OF)
    target_precompile_headers(${name} REUSE_FROM ${ARG_HEADERS_OF})
  endif()
  target_include_directories(${name} PRIVATE . tests)
  kdgat_optimise_nothing(${name})
  target_link_libraries(${name} PRIVATE ${ARG_LINK} kdgat_test_main)
  catch_discover_tests(${name} WORKING_DIRECTORY ${CMAKE_SOURCE_DIR} TEST_PREFIX "${name}: "
                       PROPERTIES ENVIRONMENT "OMP_NUM_THREADS=1" TIMEOUT 900)
endfunction()

kdgat_add_tests(kdgat_graph_tests
  SOURCES
    tests/unit/data/can/can_log_test.cpp
    tests/unit/data/can/channel_choice_test.cpp
    tests/unit/data/can/channels_test.cpp
    tests/unit/data/can/dbc_test.cpp
    tests/unit/data/dataset_files_test.cpp
    tests/unit/data/domain_suite_test.cpp
    tests/unit/data/can/fuzz_can_log_test.cpp
    tests/unit/data/graphs/fuzz_graphs_test.cpp
    tests/unit/data/graphs/graphs_import_test.cpp
    tests/unit/data/space/fuzz_neurons_test.cpp
    tests/unit/file/fuzz_safetensors_test.cpp
    tests/unit/data/texts/fuzz_texts_test.cpp
    tests/unit/graph/graph_store_test.cpp
    tests/unit/data/import_test.cpp
    tests/unit/data/can/inject_test.cpp
    tests/unit/data/recognise_test.cpp
    tests/unit/data/store_flips_test.cpp
    tests/unit/file/line_reader_test.cpp
    tests/unit/data/can/frame_rows_test.cpp
    tests/unit/data/can/log_forms_test.cpp
    tests/unit/data/can/log_windows_test.cpp
    tests/unit/data/can/protocol_ids_test.cpp
    tests/unit/data/can/relative_windows_test.cpp
    tests/unit/graph/column_test.cpp
    tests/unit/graph/pack_test.cpp
    tests/unit/graph/paths_test.cpp
    tests/unit/data/molecules/amber_test.cpp
    tests/unit/data/molecules/fuzz_molecules_test.cpp
    tests/unit/data/molecules/molecule_graph_test.cpp
    tests/unit/data/molecules/molecule_import_test.cpp
    tests/unit/data/molecules/structure_test.cpp
    tests/unit/data/ratings/ratings_test.cpp
    tests/unit/graph/rewire_test.cpp
    tests/unit/file/safetensors_test.cpp
    tests/unit/graph/shape_test.cpp
    tests/unit/data/space/spatial_import_test.cpp
    tests/unit/graph/section_faults_test.cpp
    tests/unit/graph/sections_test.cpp
    tests/unit/graph/spatial_test.cpp
    tests/unit/graph/split_test.cpp
    tests/unit/data/space/swc_test.cpp
    tests/unit/data/can/synth_logs_test.cpp
    tests/unit/file/tar_test.cpp
    tests/unit/file/text_kind_test.cpp
    tests/unit/data/texts/text_clean_test.cpp
    tests/unit/data/texts/text_golden_test.cpp
    tests/unit/data/texts/text_graph_test.cpp
    tests/unit/data/texts/text_import_test.cpp
    tests/unit/data/texts/text_store_test.cpp
    tests/unit/data/can/vehicle_profile_test.cpp
    tests/unit/data/can/windows_test.cpp
    tests/unit/stages/trees/boosted_trees_test.cpp
    tests/unit/stages/trees/contributions_test.cpp
    tests/unit/stages/trees/isolation_forest_test.cpp
    tests/unit/stages/trees/tree_json_test.cpp
    tests/unit/stages/trees/tree_reference_test.cpp
  LINK kdgat_graph ${ZSTD} ZLIB::ZLIB
  HEADER tests/support/precompiled.h)

kdgat_add_tests(kdgat_native_tests
  SOURCES
    tests/unit/live/bus_address_test.cpp
    tests/unit/live/bus_reader_test.cpp
    tests/unit/live/clock_steps_test.cpp
    tests/unit/live/frame_queue_test.cpp
    tests/unit/live/replay_test.cpp
    tests/unit/watch/own_frames_test.cpp
    tests/unit/watch/traffic_report_test.cpp
  LINK kdgat_native kdgat_stage_watch
  HEADERS_OF kdgat_graph_tests)

# The kernels of the card, run as loops on the CPU: arithmetic, bounds and barriers.
add_library(kdgat_test_cuda STATIC tests/support/cuda_kernels.cpp)
target_include_directories(kdgat_test_cuda PUBLIC stages tests)
target_link_libraries(kdgat_test_cuda PUBLIC kdgat_graph)
target_compile_options(kdgat_test_cuda PRIVATE -ffp-contract=off)  # products are rounded where the kernels say so
add_library(kdgat_fake_cuda MODULE tests/support/fake_cuda.cpp)
target_link_libraries(kdgat_fake_cuda PRIVATE kdgat_test_cuda)
kdgat_add_tests(kdgat_cuda_tests
  SOURCES
    tests/unit/model/kernels/cuda/card_test.cpp
    tests/unit/model/kernels/cuda/gat_kernels_test.cpp
    tests/unit/model/kernels/cuda/head_kernels_test.cpp
    tests/unit/model/kernels/cuda/norm_kernels_test.cpp
    tests/unit/model/kernels/cuda/path_kernels_test.cpp
    tests/unit/model/kernels/cuda/product_kernels_test.cpp
    tests/unit/model/kernels/cuda/sum_kernels_test.cpp
  LINK kdgat_test_cuda kdgat_cuda
  HEADERS_OF kdgat_graph_tests)
add_dependencies(kdgat_cuda_tests kdgat_fake_cuda)

# They compile what is exported, with the compilers that are there.
kdgat_add_tests(kdgat_export_tests
  SOURCES
    tests/unit/stages/export/c_math_test.cpp
    tests/unit/stages/export/network_alarms_test.cpp
    tests/unit/stages/export/network_c_test.cpp
    tests/unit/stages/export/onnx/onnx_example_test.cpp
    tests/unit/stages/export/onnx/onnx_network_test.cpp
    tests/unit/stages/export/onnx/proto_writer_test.cpp
  LINK kdgat_export
  HEADERS_OF kdgat_graph_tests)
# Training of a detector, which needs no LibTorch, for tests of what becomes of its models.
set(learning cross_fit learning learning_size left_out rule sentences training)
list(TRANSFORM learning REPLACE "(.+)" "stages/detector/\\1.cpp")
add_library(kdgat_test_detector STATIC ${learning})
kdgat_join(kdgat_test_detector 6 ${learning})
target_link_libraries(kdgat_test_detector PUBLIC kdgat_native)
kdgat_add_tests(kdgat_export_detector_tests
  SOURCES
    tests/unit/stages/export/detector_c_test.cpp
  LINK kdgat_export kdgat_test_detector ZLIB::ZLIB
  HEADERS_OF kdgat_graph_tests)

kdgat_add_tests(kdgat_host_tests
  SOURCES
    tests/unit/pipeline/alarms/alarm_queue_test.cpp
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
    tests/unit/pipeline/run/odd_records_test.cpp
    tests/unit/pipeline/cli/cli_test.cpp
    tests/unit/pipeline/data/data_test.cpp
    tests/unit/pipeline/run/find_model_test.cpp
    tests/unit/pipeline/slurm/job_failure_test.cpp
    tests/unit/pipeline/slurm/job_script_test.cpp
    tests/unit/pipeline/memory/legacy_estimate_test.cpp
    tests/unit/pipeline/system/clock_test.cpp
    tests/unit/pipeline/system/git_test.cpp
    tests/unit/pipeline/system/program_test.cpp
    tests/unit/pipeline/system/json_file_test.cpp
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
  HEADERS_OF kdgat_graph_tests)
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
  HEADERS_OF kdgat_graph_tests)
add_dependencies(kdgat_records_tests kdgat kdgat_plugin_example)

set(KDGAT_CLI_TESTS tests/cli/convert_test.cpp tests/cli/data_verb_test.cpp tests/cli/inject_test.cpp tests/cli/ratings_data_test.cpp
                    tests/cli/spatial_data_test.cpp tests/cli/text_data_test.cpp)
if(KDGAT_ENGINE)
  list(APPEND KDGAT_CLI_TESTS tests/cli/graphs_test.cpp tests/cli/next_test.cpp tests/cli/alarm_rule_test.cpp tests/cli/detector_score_test.cpp tests/cli/distill_test.cpp tests/cli/joined_score_test.cpp tests/cli/json_test.cpp
       tests/cli/docs_test.cpp tests/cli/export_test.cpp tests/cli/fit_test.cpp
       tests/cli/hostile_test.cpp tests/cli/installed_test.cpp
       tests/cli/made_before_test.cpp
       tests/cli/memory_test.cpp
       tests/cli/named_score_test.cpp tests/cli/pockets_test.cpp tests/cli/programs_test.cpp
       tests/cli/ranks_test.cpp tests/cli/recommender_test.cpp tests/cli/records_test.cpp
       tests/cli/require_test.cpp
       tests/cli/config_test.cpp tests/cli/detector_file_test.cpp tests/cli/device_test.cpp
       tests/cli/odd_names_test.cpp tests/cli/report_test.cpp tests/cli/score_test.cpp
       tests/cli/startup_test.cpp
       tests/cli/seeds_test.cpp tests/cli/stages_test.cpp tests/cli/terminal_test.cpp
       tests/cli/textgcn_test.cpp tests/cli/tune_test.cpp
       tests/cli/watch_bus_test.cpp
       tests/cli/watch_test.cpp
       tests/cli/wrong_domain_test.cpp)
endif()
kdgat_add_tests(kdgat_cli_tests SOURCES ${KDGAT_CLI_TESTS} LINK kdgat_graph HEADERS_OF kdgat_graph_tests)
add_dependencies(kdgat_cli_tests kdgat_all)

# By itself: what it links is the small library alone, and nothing of the program.
if(KDGAT_ENGINE)
  kdgat_add_tests(kdgat_detect_tests SOURCES tests/unit/detect/detect_test.cpp LINK kdgat_detect nlohmann_json::nlohmann_json)
  add_dependencies(kdgat_detect_tests kdgat_all)
endif()

if(KDGAT_ENGINE)
  kdgat_add_tests(kdgat_engine_tests
    SOURCES
      tests/unit/native/networks_test.cpp
      tests/unit/memory/arena_test.cpp
      tests/unit/memory/device_blocks_test.cpp
      tests/unit/memory/gpu_test.cpp
      tests/unit/memory/meter_test.cpp
      tests/unit/memory/memory_plan_test.cpp
      tests/unit/model/detector/footprint_test.cpp
      tests/unit/model/detector/forms_test.cpp
      tests/unit/model/layers/full_precision_test.cpp
      tests/unit/model/layers/gin_test.cpp
      tests/unit/model/layers/linear_test.cpp
      tests/unit/model/layers/rounded_linear_test.cpp
      tests/unit/model/space/growth_test.cpp
      tests/unit/model/kernels/families_test.cpp
      tests/unit/model/kernels/kernels_test.cpp
      tests/unit/model/detector/model_test.cpp
      tests/unit/model/ratings/sage_test.cpp
      tests/unit/model/space/sgmp_test.cpp
      tests/unit/objective/class_autoencoder_test.cpp
      tests/unit/objective/distillation_test.cpp
      tests/unit/objective/graph_objective_test.cpp
      tests/unit/objective/lying_models_test.cpp
      tests/unit/objective/mixed_precision_test.cpp
      tests/unit/objective/objective_test.cpp
      tests/unit/objective/tree_objective_test.cpp
      tests/unit/objective/tree_pairs_test.cpp
      tests/unit/stages/class_autoencoder_test.cpp
      tests/unit/stages/class_curriculum_test.cpp
      tests/unit/stages/class_fusion_test.cpp
      tests/unit/stages/curriculum_test.cpp
      tests/unit/stages/distill_test.cpp
      tests/unit/stages/evaluate_ablation_test.cpp
      tests/unit/stages/evaluate_beside_test.cpp
      tests/unit/stages/fusion_test.cpp
      tests/unit/stages/network_channel_test.cpp
      tests/unit/stages/graphsage_test.cpp
      tests/unit/stages/stages_test.cpp
      tests/unit/stages/tree_stages_test.cpp
      tests/unit/train/calibration_test.cpp
      tests/unit/train/metrics/class_metrics_test.cpp
      tests/unit/train/sampling/class_curriculum_test.cpp
      tests/unit/train/sampling/curriculum_sampler_test.cpp
      tests/unit/train/memory_test.cpp
      tests/unit/train/metrics/metrics_test.cpp
      tests/unit/train/optimizer_test.cpp
      tests/unit/train/precision_test.cpp
      tests/unit/train/progress_test.cpp
      tests/unit/train/rank_group_test.cpp
      tests/unit/train/trainer_test.cpp
    LINK kdgat_stage_autoencoder kdgat_stage_classifier kdgat_stage_curriculum kdgat_stage_detector
         kdgat_stage_distill kdgat_stage_finetune kdgat_stage_graphsage kdgat_stage_gtssl
         kdgat_stage_evaluate kdgat_stage_fusion
    HEADER tests/support/catch_torch.h)
endif()

# Beside the engine's, which take minutes to link and build.
if(KDGAT_ENGINE)
  kdgat_add_tests(kdgat_text_tests
    SOURCES
      tests/unit/model/texts/sparse_product_test.cpp
      tests/unit/model/texts/text_gcn_test.cpp
      tests/unit/stages/textgcn_test.cpp
    LINK kdgat_stage_textgcn kdgat_stage_autoencoder kdgat_stage_classifier
    HEADERS_OF kdgat_engine_tests)
endif()

# The same kernels with tensors and autograd. Its headers are its own: those of the engine's tests
# would have them built as well.
if(KDGAT_ENGINE)
  kdgat_add_tests(kdgat_cuda_engine_tests
    SOURCES tests/unit/model/kernels/cuda/card_memory_test.cpp
            tests/unit/model/kernels/cuda/card_plan_test.cpp
            tests/unit/model/kernels/cuda/cuda_families_test.cpp
            tests/unit/model/kernels/cuda/launches_test.cpp
            tests/unit/model/molecules/card_product_test.cpp
            tests/unit/model/space/card_space_memory_test.cpp
    LINK kdgat_engine kdgat_test_cuda)
endif()

# Beside them for the same reason.
if(KDGAT_ENGINE)
  kdgat_add_tests(kdgat_detector_tests
    SOURCES
      tests/unit/stages/adapt_test.cpp
      tests/unit/stages/detector_alarm_rule_test.cpp
      tests/unit/stages/detector_baselines_test.cpp
      tests/unit/stages/detector_cases_test.cpp
      tests/unit/stages/detector_figures_test.cpp
      tests/unit/stages/detector_input_test.cpp
      tests/unit/stages/detector_memory_test.cpp
      tests/unit/stages/detector_pictures_test.cpp
      tests/unit/stages/detector_reasons_test.cpp
      tests/unit/stages/detector_test.cpp
      tests/unit/stages/detector_training_test.cpp
      tests/unit/stages/detector_watch_test.cpp
    LINK kdgat_stage_adapt kdgat_stage_detector kdgat_stage_score
    HEADERS_OF kdgat_engine_tests)
endif()

if(KDGAT_ENGINE)
  kdgat_add_tests(kdgat_molecule_tests
    SOURCES tests/unit/model/molecules/pocket_encoder_test.cpp
            tests/unit/model/molecules/pocket_footprint_test.cpp
            tests/unit/model/molecules/pocket_model_test.cpp
            tests/unit/model/molecules/tensor_product_test.cpp
            tests/unit/objective/pocket_loss_test.cpp
            tests/unit/stages/equivariant_test.cpp
    LINK kdgat_stage_equivariant
    HEADERS_OF kdgat_engine_tests)
endif()

# Forks the processes that its stages run in.
if(KDGAT_ENGINE)
  kdgat_add_tests(kdgat_contract_tests
    SOURCES tests/unit/stages/contract_test.cpp
    LINK kdgat_stage_adapt kdgat_stage_autoencoder kdgat_stage_classifier kdgat_stage_curriculum
         kdgat_stage_detector kdgat_stage_distill kdgat_stage_equivariant kdgat_stage_evaluate
         kdgat_stage_finetune kdgat_stage_fusion kdgat_stage_graphsage kdgat_stage_gtssl
         kdgat_stage_score kdgat_stage_textgcn
    HEADERS_OF kdgat_engine_tests)
endif()

# Needs a cluster around it, and the machine to itself.
if(KDGAT_ENGINE)
  add_executable(kdgat_slurm_tests tests/slurm/slurm_test.cpp)
  target_include_directories(kdgat_slurm_tests PRIVATE . tests)
  kdgat_optimise_nothing(kdgat_slurm_tests)
  target_link_libraries(kdgat_slurm_tests PRIVATE kdgat_graph kdgat_test_main)
  add_dependencies(kdgat_slurm_tests kdgat_all)
  add_test(NAME kdgat_slurm_tests COMMAND tests/slurm/cluster $<TARGET_FILE:kdgat_slurm_tests>
           WORKING_DIRECTORY ${CMAKE_SOURCE_DIR})
  set_tests_properties(kdgat_slurm_tests PROPERTIES LABELS slurm RUN_SERIAL TRUE SKIP_RETURN_CODE 77
                       TIMEOUT 3600)
endif()

add_executable(kdgat_cuda_table tests/bench/cuda_table.cpp)
target_link_libraries(kdgat_cuda_table PRIVATE kdgat_cuda)
add_executable(kdgat_bench tests/bench/graph_bench.cpp)
target_link_libraries(kdgat_bench PRIVATE kdgat_graph)
add_executable(kdgat_live_bench tests/bench/live_bench.cpp)
target_include_directories(kdgat_live_bench PRIVATE tests)
target_link_libraries(kdgat_live_bench PRIVATE kdgat_native)
if(KDGAT_ENGINE)
  add_executable(kdgat_score_bench tests/bench/score_bench.cpp)
  target_link_libraries(kdgat_score_bench PRIVATE kdgat_engine)
  kdgat_precompile(kdgat_score_bench)
  add_executable(kdgat_engine_bench tests/bench/engine_bench.cpp)
  target_compile_options(kdgat_engine_bench PRIVATE -ffp-contract=fast)
  target_link_libraries(kdgat_engine_bench PRIVATE kdgat_engine)
  kdgat_precompile(kdgat_engine_bench)
  add_executable(kdgat_path_bench tests/bench/path_bench.cpp)
  target_link_libraries(kdgat_path_bench PRIVATE kdgat_engine)
  kdgat_precompile(kdgat_path_bench)
  add_executable(kdgat_molecule_bench tests/bench/molecule_bench.cpp)
  target_link_libraries(kdgat_molecule_bench PRIVATE kdgat_engine)
  kdgat_precompile(kdgat_molecule_bench)
endif()

# Of the scripts, which need no build but a Python.
function(kdgat_add_script_test name)
  add_test(NAME "scripts: ${name}" COMMAND ${ARGN} WORKING_DIRECTORY ${CMAKE_SOURCE_DIR})
  set_tests_properties("scripts: ${name}" PROPERTIES LABELS scripts TIMEOUT 900)
endfunction()
kdgat_add_script_test(bench python3 -B tests/scripts/bench_test.py)
kdgat_add_script_test(check_binaries python3 -B tests/scripts/check_binaries_test.py)
kdgat_add_script_test(check_copies python3 -B tests/scripts/check_copies_test.py)
kdgat_add_script_test(check_domains python3 -B tests/scripts/check_domains_test.py)
kdgat_add_script_test(check_layers python3 -B tests/scripts/check_layers_test.py)
kdgat_add_script_test(check_names python3 -B tests/scripts/check_names_test.py)
kdgat_add_script_test(pages python3 -B tests/scripts/pages_test.py)
kdgat_add_script_test(reproduce python3 -B tests/scripts/reproduce_test.py)
kdgat_add_script_test("soak tests" python3 -B tests/scripts/soak_tests_test.py)
# Of the Python package, by a Python that has numpy: run_test.py looks for it as
# tests/support/python.h does, first in the environment of scripts/setup --peers, and says that it
# skips the tests where there is none.
function(kdgat_add_python_test name)
  add_test(NAME "python: ${name}" COMMAND ${ARGN} WORKING_DIRECTORY ${CMAKE_SOURCE_DIR})
  set_tests_properties("python: ${name}" PROPERTIES LABELS scripts TIMEOUT 1800 SKIP_RETURN_CODE 77)
endfunction()
if(KDGAT_ENGINE)
  kdgat_add_python_test("runs, graphs and the program" python3 -B tests/python/run_test.py --kdgat $<TARGET_FILE:kdgat>)
  kdgat_add_script_test("a sample of the attacks" scripts/soak attack --sample --kdgat $<TARGET_FILE:kdgat>)
  set_tests_properties("scripts: a sample of the attacks" PROPERTIES TIMEOUT 1800)
endif()
if(KDGAT_ENGINE AND CMAKE_BUILD_TYPE STREQUAL Release)
  kdgat_add_script_test("every binary is hardened and names no folder" scripts/check_binaries ${CMAKE_BINARY_DIR})
endif()
kdgat_add_script_test("nothing stands twice" scripts/check_copies)
kdgat_add_script_test("no source knows two domains" scripts/check_domains)
kdgat_add_script_test("every include is allowed" scripts/check_layers)
kdgat_add_script_test("the host names no metric, event or stage" scripts/check_names)
