# The host: a library for it and for tests, the executable, and the process that speaks MQTT for
# it. Included by the CMakeLists.txt of the project; one row a room.
add_library(kdgat_core STATIC)
kdgat_add_room(kdgat_core pipeline/alarms
  alarm_queue alarm_sink alarm_words alarms can_sink command_guard command_sink metrics_server
  metrics_text mqtt_sink patience socket_sinks stream_sinks udp_sender)
kdgat_add_room(kdgat_core pipeline/cli cli command_line json_error)
kdgat_add_room(kdgat_core pipeline/data data data_store data_tables)
kdgat_add_room(kdgat_core pipeline/execute
  acceptance begin_run child device frozen_run lone_step machine_checks profile_text ranks
  run_options run_origin run_session runner stage_process step_run)
kdgat_add_room(kdgat_core pipeline/memory
  cards data_sizes legacy_estimate legacy_table memory_options memory_report memory_svg
  memory_table)
kdgat_add_room(kdgat_core pipeline/plugin
  libtorch option_groups plugin_catalog plugin_host schema stage_call)
kdgat_add_room(kdgat_core pipeline/profile
  path_options profile_hints profile_keys profile_layers profile_resolve profile_schema
  profile_steps profile_yaml seed_words version_requirement)
kdgat_add_room(kdgat_core pipeline/records
  event_file http mlflow_address mlflow_files mlflow_server mlflow_sync record_files record_options
  record_sink record_targets recorder records)
kdgat_add_room(kdgat_core pipeline/report
  report_compare report_deltas report_detection report_figures report_file report_model report_page
  report_results report_run report_seeds report_sweep report_training report_windows
  store_summary window_pictures)
kdgat_add_room(kdgat_core pipeline/run
  artifacts find_model journal plan plan_reasons replicates requirements run_figures run_index
  run_index_data run_labels run_lock run_pivot run_query run_record run_work seed_statistics
  step_config step_metrics)
kdgat_add_room(kdgat_core pipeline/show
  bars_svg chart_scale chart_svg line_width markdown markup parallel_svg printable_stream problem
  quantity sparkline status_jsonl status_terminal table table_fit table_format text)
kdgat_add_room(kdgat_core pipeline/slurm
  job_failure job_retry job_script job_states jobs_of_run prepared_runs site_profile submission
  submit_runs)
kdgat_add_room(kdgat_core pipeline/system
  clock database git hash home_path json_file log machine owned_fd parallel program secrets signals
  subprocess temporary tensor_file)
kdgat_add_room(kdgat_core pipeline/tune
  admission replicate_runs replicate_table space sweep sweep_record sweep_table
  trial_process tuned_steps)
kdgat_add_room(kdgat_core pipeline/verbs
  adapt_verb completion_verb config_verb data_verb describe_verb doctor_verb export_verb fit_verb
  job_verb jobs_verb memory_verb plan_verb plugins_verb replicate_verb report_verb run_verb
  runs_verb score_verb stage_verb submit_verb sync_verb texts_verb top_verb tune_verb verbs
  version_verb watch_verb why_verb)
kdgat_add_room(kdgat_core pipeline/verbs/commands
  completion_at completion_lists line_output log_stage next_commands run_command run_replicates
  score_output score_rows software_bill submit_flags tune_values typed_words watch_metrics
  watch_request watch_view)
kdgat_add_room(kdgat_core pipeline/verbs/runs
  compared_runs runs_actions runs_compare runs_curves runs_list runs_note runs_remove runs_show
  runs_tables runs_words)
kdgat_add_room(kdgat_core pipeline/verbs/data data_request)
kdgat_add_room(kdgat_core pipeline/verbs/json
  help_json json_forms json_forms_data json_forms_logs json_forms_program json_forms_runs
  json_forms_work json_parts)
kdgat_add_room(kdgat_core pipeline/verbs/plan plan_estimate progress_flag run_preview)
target_sources(kdgat_core PRIVATE ${CMAKE_BINARY_DIR}/generated/linked_libraries.cpp)
target_include_directories(kdgat_core PUBLIC .)
kdgat_optimise_little(kdgat_core)
kdgat_share_json(kdgat_core)
target_compile_definitions(kdgat_core PUBLIC KDGAT_VERSION="${PROJECT_VERSION}")
target_link_libraries(kdgat_core PUBLIC kdgat_sdk kdgat_graph
                      PRIVATE ${YAML_CPP} CLI11::CLI11 fmt::fmt-header-only ${SQLITE}
                              Threads::Threads ${CMAKE_DL_LIBS})
# Headers alone, so that there is nothing to bring along; the target spdlog_header_only would link
# fmt's library.
target_compile_definitions(kdgat_core PRIVATE
  $<TARGET_PROPERTY:spdlog::spdlog_header_only,INTERFACE_COMPILE_DEFINITIONS>)
target_include_directories(kdgat_core SYSTEM PRIVATE
  $<TARGET_PROPERTY:spdlog::spdlog_header_only,INTERFACE_INCLUDE_DIRECTORIES>)
add_executable(kdgat pipeline/main.cpp)
target_link_libraries(kdgat PRIVATE kdgat_core)
if(MOSQUITTO AND MOSQUITTO_HEADERS)
  add_executable(kdgat_mqtt pipeline/alarms/mqtt_child.cpp)
  kdgat_optimise_little(kdgat_mqtt)
  target_include_directories(kdgat_mqtt SYSTEM PRIVATE ${MOSQUITTO_HEADERS})
  target_link_libraries(kdgat_mqtt PRIVATE ${MOSQUITTO} nlohmann_json::nlohmann_json)
  add_dependencies(kdgat kdgat_mqtt)
endif()
# Next to the program, without those of fields that are left out.
file(REMOVE_RECURSE ${CMAKE_BINARY_DIR}/profiles)
file(GLOB_RECURSE profiles CONFIGURE_DEPENDS RELATIVE ${CMAKE_SOURCE_DIR} profiles/*)
file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/profiles/fields)
foreach(name ${profiles})
  if(name MATCHES "^profiles/fields/([a-z]+)/" AND NOT CMAKE_MATCH_1 IN_LIST KDGAT_FIELDS)
    continue()
  endif()
  cmake_path(GET name PARENT_PATH folder)
  file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/${folder})
  file(CREATE_LINK ${CMAKE_SOURCE_DIR}/${name} ${CMAKE_BINARY_DIR}/${name} SYMBOLIC)
endforeach()
add_dependencies(kdgat_all kdgat)
