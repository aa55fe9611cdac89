# What stages share: the library of data and the native one, which need no LibTorch, and the engine.
# One row a room.
add_library(kdgat_graph SHARED)
kdgat_add_room(kdgat_graph stages/engine/data/core
  class_labels dataset_files description domain feature_columns folder_files folder_walk
  graph_domain import note part_names piped_input synth)
kdgat_add_room(kdgat_graph pipeline/data domains)
string(TOUPPER "${KDGAT_FIELDS}" fields)
list(TRANSFORM fields PREPEND KDGAT_FIELD_)
set_source_files_properties(pipeline/data/domains.cpp PROPERTIES COMPILE_DEFINITIONS "${fields}")
kdgat_add_room(kdgat_graph stages/engine/data/can/synthetic
  attack_kinds inject inject_logs payload_fields synth_attacks synth_logs synth_traffic)
kdgat_add_room(kdgat_graph stages/engine/data/can/frames
  bus_clock bus_slots channel_choice channel_names protocol_ids recording)
kdgat_add_room(kdgat_graph stages/engine/data/can
  can_describe can_domain can_import relative_graphs)
kdgat_add_room(kdgat_graph stages/engine/data/can/logs
  can_columns can_log can_table can_table_choices convert_log dbc format_log frame_writer
  label_intervals log_layout log_streams row_parsers row_times stored_frames time_reading)
kdgat_add_room(kdgat_graph stages/engine/data/can/windows
  frame_columns id_steps log_windows payload_laws relative_graph relative_window relative_windows
  vehicle_profile vehicle_tables windows)
kdgat_add_room(kdgat_graph stages/engine/data/can/vehicles
  learn_profile learn_windows learning_size stored_log vehicles)
kdgat_add_room(kdgat_graph stages/engine/data/can/logs/forms
  asc binary_reader blf busmaster civil_time crtd forms mf4 mf4_blocks mf4_groups pcap trc)
kdgat_add_room(kdgat_graph stages/engine/data/graphs
  graph_builder graph_tables graph_tensors graphs_describe graphs_domain graphs_import npz
  synth_graphs tu_dataset)
kdgat_add_room(kdgat_graph stages/engine/file
  base64 byte_reader cache_folder csv line_reader random_bytes safetensors safetensors_header
  safetensors_stream shared_json tar tensor_hash text_kind utf8)
kdgat_share_json(kdgat_graph)
set_source_files_properties(stages/engine/file/shared_json.cpp PROPERTIES
                            COMPILE_DEFINITIONS KDGAT_HAS_SHARED_JSON)
kdgat_add_room(kdgat_graph stages/engine/arrays bit_space buffer column paths spatial)
kdgat_add_room(kdgat_graph stages/engine/graph
  feature_stats graph_store pack rewire shape split store_file verified_files)
kdgat_add_room(kdgat_graph stages/engine/graph/sections
  common_arrays frames ids path_counts positions sections targets trees)
# The names of metrics are choices of options, which the host's tests have without an engine.
kdgat_add_room(kdgat_graph stages/engine/train/metrics curve metrics)
kdgat_add_room(kdgat_graph stages/engine/trees
  bins boosted_trees flat_trees isolation_forest ranked_trees split_search table
  tree_grower)
# It runs once for a file, or writes what is made up.
foreach(room core can can/synthetic graphs)
  kdgat_room_options(stages/engine/data/${room} ${KDGAT_SMALL})
endforeach()
# Between a frame and its graph: compiled alone, with calls that may be inlined though the library
# exports them.
set_source_files_properties(stages/engine/data/can/logs/row_parsers.cpp
  stages/engine/data/can/logs/forms/asc.cpp stages/engine/data/can/logs/forms/trc.cpp
  stages/engine/graph/pack.cpp PROPERTIES
  SKIP_UNITY_BUILD_INCLUSION ON COMPILE_OPTIONS -fno-semantic-interposition)
kdgat_export_own(kdgat_graph)
set_target_properties(kdgat_graph PROPERTIES
                      CXX_VISIBILITY_PRESET default VISIBILITY_INLINES_HIDDEN OFF
                      INSTALL_RPATH "${KDGAT_LIB_RPATH}")
target_include_directories(kdgat_graph PUBLIC stages)
# Its own functions are bound when it is linked: to look up each by name is most of the program's
# start.
target_link_options(kdgat_graph PRIVATE -Wl,-Bsymbolic-functions -Wl,--exclude-libs,libzstd.a)
target_link_libraries(kdgat_graph PUBLIC kdgat_sdk PRIVATE ZLIB::ZLIB ${ZSTD} Threads::Threads)

# What judges traffic without LibTorch: the inner loops of kernels, the detector, live buses.
add_library(kdgat_native SHARED)
kdgat_share_json(kdgat_native)
# What the stages adapt, detector, evaluate, fusion, score and watch share.
kdgat_add_room(kdgat_native stages/engine/decision/detector
  alarms blame detector_model floors frame_trees joined_files network_channel reasons
  relative_network sealed_json tails window_classifier window_scorer)
kdgat_add_room(kdgat_native stages/engine/live
  bell bus_address bus_reader bus_socket frame_queue frame_source replay)
kdgat_add_room(kdgat_native stages/engine/model/config config model_header trained_model)
kdgat_room_options(stages/engine/model/config ${KDGAT_SMALL})
kdgat_room_options(stages/engine/live ${KDGAT_SMALL})
kdgat_add_room(kdgat_native stages/engine/kernels/cpu/isa level)
kdgat_add_room(kdgat_native stages/engine/native layers networks weights)
# As the kernels of the portable level; and what C sources made from a model do to the bit.
target_compile_options(kdgat_graph PRIVATE -ffp-contract=off)
target_compile_options(kdgat_native PRIVATE -ffp-contract=off)
set_source_files_properties(
  stages/engine/native/layers.cpp stages/engine/native/networks.cpp
  stages/engine/data/can/windows/windows.cpp stages/engine/data/can/windows/relative_windows.cpp
  stages/engine/data/can/windows/vehicle_profile.cpp PROPERTIES
  SKIP_UNITY_BUILD_INCLUSION ON COMPILE_OPTIONS -fno-semantic-interposition)
kdgat_add_room(kdgat_native stages/engine/decision/stream
  detector_scoring explanations log_scorer network_judge network_scoring stream_model
  window_network)
kdgat_add_room(kdgat_native stages/engine/train/metrics benign_threshold)
kdgat_export_own(kdgat_native)
set_target_properties(kdgat_native PROPERTIES
                      CXX_VISIBILITY_PRESET default VISIBILITY_INLINES_HIDDEN OFF
                      INSTALL_RPATH "${KDGAT_LIB_RPATH}")
target_link_options(kdgat_native PRIVATE -Wl,-Bsymbolic-functions)
target_link_libraries(kdgat_native PUBLIC kdgat_graph PRIVATE Threads::Threads)

# The same as one small library for other programs, with a header in C; it brings all that it needs
# along.
add_library(kdgat_detect SHARED stages/engine/decision/library/detect.cpp
            $<TARGET_OBJECTS:kdgat_graph> $<TARGET_OBJECTS:kdgat_native>)
target_include_directories(kdgat_detect PUBLIC stages)
target_compile_definitions(kdgat_detect PRIVATE KDGAT_VERSION="${PROJECT_VERSION}")
set_target_properties(kdgat_detect PROPERTIES CXX_VISIBILITY_PRESET default INSTALL_RPATH "")
file(WRITE ${CMAKE_BINARY_DIR}/detect.map "{ global: kdgat_detect_*; local: *; };\n")
target_link_options(kdgat_detect PRIVATE -Wl,--version-script=${CMAKE_BINARY_DIR}/detect.map
                    -Wl,--gc-sections -Wl,--exclude-libs,ALL)
target_link_libraries(kdgat_detect PRIVATE kdgat_sdk ZLIB::ZLIB ${ZSTD} Threads::Threads)
add_dependencies(kdgat_all kdgat_detect)

# The inner loops, once for each instruction set; the level is chosen at start.
function(kdgat_add_kernels isa)
  add_library(kdgat_kernels_${isa} OBJECT stages/engine/kernels/cpu/isa/tables.cpp)
  target_include_directories(kdgat_kernels_${isa} PRIVATE stages)
  target_compile_definitions(kdgat_kernels_${isa} PRIVATE KDGAT_KERNEL_ISA=${isa})
  target_compile_options(kdgat_kernels_${isa} PRIVATE
    -O3 -fopenmp-simd -fno-math-errno -fno-trapping-math -ffp-contract=fast ${ARGN})
  target_link_libraries(kdgat_native PRIVATE kdgat_kernels_${isa})
  target_link_libraries(kdgat_detect PRIVATE kdgat_kernels_${isa})
endfunction()
# No operation is joined with another: what the level computes is what its source says, on every
# machine.
kdgat_add_kernels(portable -ffp-contract=off)
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  kdgat_add_kernels(avx2 -mavx2 -mfma)
  kdgat_add_kernels(avx512
    -mavx512f -mavx512bw -mavx512dq -mavx512vl -mfma -mprefer-vector-width=512)
endif()

# A model as sources for other programs. What is in stages/engine/export/c/runtime is C that is
# written as it is, so the library holds it as texts.
add_library(kdgat_export STATIC)
kdgat_add_room(kdgat_export stages/engine/export/c
  c_tables detector_c detector_vectors network_c network_code network_vectors node_network
  number_tables rounded_model runtime_texts tree_tables vector_text)
kdgat_add_room(kdgat_export stages/engine/export/onnx
  onnx_detector onnx_graph onnx_layers onnx_network)
target_compile_definitions(kdgat_export PRIVATE KDGAT_VERSION="${PROJECT_VERSION}")
target_link_libraries(kdgat_export PUBLIC kdgat_native)
kdgat_share_json(kdgat_export)
kdgat_optimise_little(kdgat_export)
# What it computes ahead is computed natively as well.
target_compile_options(kdgat_export PRIVATE -ffp-contract=off)
set(KDGAT_RUNTIME_TEXTS)
foreach(file CMakeLists.txt api.h check.c compiler.c detector.c detector_state.h four.c input.c
        main.c network.c nodes.c roots.c stack.c windows.c)
  list(APPEND KDGAT_RUNTIME_TEXTS
       ${CMAKE_CURRENT_SOURCE_DIR}/stages/engine/export/c/runtime/${file})
endforeach()
foreach(file alarm_types alarms bus bus_types evidence ids layers laws math moves numbers tails trees vehicle
        window_graph window_graph_types window_nodes window_types windows)
  list(APPEND KDGAT_RUNTIME_TEXTS ${CMAKE_CURRENT_SOURCE_DIR}/stages/engine/portable/${file}.h)
endforeach()
list(APPEND KDGAT_RUNTIME_TEXTS ${CMAKE_CURRENT_SOURCE_DIR}/stages/engine/export/onnx/check.py)
list(JOIN KDGAT_RUNTIME_TEXTS "," runtime_texts)
add_custom_command(OUTPUT ${CMAKE_BINARY_DIR}/export/runtime_text.cpp
  COMMAND ${CMAKE_COMMAND} -D OUT=${CMAKE_BINARY_DIR}/export/runtime_text.cpp
          -D FILES=${runtime_texts}
          -P ${CMAKE_CURRENT_SOURCE_DIR}/stages/engine/export/c/embed.cmake
  DEPENDS ${KDGAT_RUNTIME_TEXTS} stages/engine/export/c/embed.cmake VERBATIM)
target_sources(kdgat_export PRIVATE ${CMAKE_BINARY_DIR}/export/runtime_text.cpp)

# Kernels for cards of NVIDIA: the source, held as a text that NVRTC compiles where there is a card,
# and what opens NVIDIA's libraries. Nothing of CUDA is needed to build it.
add_library(kdgat_cuda STATIC)
kdgat_add_room(kdgat_cuda stages/engine/kernels/cuda/card
  driver kernel_image library nvrtc opened_card)
set(KDGAT_KERNEL_SOURCES)
foreach(file card.cuh sizes.h basics.cuh sums_args.h gat_args.h norm_args.h head_args.h path_args.h
        product_args.h sums.cuh gat.cuh gatv2.cuh norm.cuh heads.cuh paths.cuh product.cuh)
  list(APPEND KDGAT_KERNEL_SOURCES
       ${CMAKE_CURRENT_SOURCE_DIR}/stages/engine/kernels/cuda/source/${file})
endforeach()
list(JOIN KDGAT_KERNEL_SOURCES "," kernel_sources)
add_custom_command(OUTPUT ${CMAKE_BINARY_DIR}/cuda/source_text.cpp
  COMMAND ${CMAKE_COMMAND} -D OUT=${CMAKE_BINARY_DIR}/cuda/source_text.cpp
          -D FILES=${kernel_sources}
          -P ${CMAKE_CURRENT_SOURCE_DIR}/stages/engine/kernels/cuda/card/embed.cmake
  DEPENDS ${KDGAT_KERNEL_SOURCES} stages/engine/kernels/cuda/card/embed.cmake VERBATIM)
target_sources(kdgat_cuda PRIVATE ${CMAKE_BINARY_DIR}/cuda/source_text.cpp)
target_link_libraries(kdgat_cuda PUBLIC kdgat_graph ${CMAKE_DL_LIBS})

if(NOT KDGAT_ENGINE)
  return()
endif()

add_library(kdgat_engine SHARED)
kdgat_add_room(kdgat_engine stages/engine/memory
  arena cache_policy device_blocks memory_plan meter out_of_memory own_space tape)
# Its loops are in few rooms; what calls LibTorch is a tenth smaller so, and as fast.
target_compile_options(kdgat_engine PRIVATE $<$<CONFIG:Release>:-O2>)
foreach(room kernels kernels/cpu kernels/plain train/sampling)
  kdgat_room_options(stages/engine/${room} ${KDGAT_FAST})
endforeach()
# What the stages detector and evaluate share.
kdgat_add_room(kdgat_engine stages/engine/compare
  baselines comparison judged_log judging pictures plain_windows rule summary)
kdgat_add_room(kdgat_engine stages/engine/model model_file)
kdgat_add_room(kdgat_engine stages/engine/model/networks fusion_net gat vgae)
kdgat_add_room(kdgat_engine stages/engine/kernels batch_tensors noise_keys)
kdgat_add_room(kdgat_engine stages/engine/kernels/cpu
  by_graph edges gat gin graph_norm heads norm norm_statistics parallel path_geometry paths products
  sums)
kdgat_add_room(kdgat_engine stages/engine/kernels/cuda by_graph device gat heads norm paths sums)
kdgat_add_room(kdgat_engine stages/engine/kernels/plain
  edges gat gin heads norm paths products sums)
# Products of bfloat16, for processors that have them and compilers that know them.
target_sources(kdgat_engine PRIVATE stages/engine/kernels/cpu/isa/rounded_products.cpp)
set_source_files_properties(stages/engine/kernels/cpu/isa/rounded_products.cpp PROPERTIES
                            SKIP_UNITY_BUILD_INCLUSION ON SKIP_PRECOMPILE_HEADERS ON)
include(CheckCXXCompilerFlag)
check_cxx_compiler_flag("-mavx512bf16" KDGAT_HAS_BF16_FLAG)
# GCC warns of its own header, where a vector is left undefined on purpose.
if(KDGAT_HAS_BF16_FLAG AND CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  set_source_files_properties(
    stages/engine/kernels/cpu/isa/rounded_products.cpp PROPERTIES COMPILE_OPTIONS
    "-O3;-mavx512f;-mavx512bw;-mavx512dq;-mavx512vl;-mavx512bf16;-mfma;-Wno-uninitialized;-Wno-maybe-uninitialized"
    COMPILE_DEFINITIONS KDGAT_BF16)
endif()
kdgat_add_room(kdgat_engine stages/engine/model/layers
  blocked_heads edge_convs gat_conv gatv2_conv gin_conv graph_norm input jumping layers linear
  mean_convs noise norm recompute step_count)
kdgat_add_room(kdgat_engine stages/engine/objective
  autoencoder_objective class_scorer classification_loss classifier_objective distillation
  footprint fusion_scorer fusion_state kd_options load_scorer number_objective teacher
  teacher_cache)
kdgat_add_room(kdgat_engine stages/engine/setup
  finish labelled_graphs network_setup trained_model training_stage)
kdgat_add_room(kdgat_engine stages/engine/train
  calibration card_limits checkpoint data_set fit memory_limit named_tensors optimizer precision
  probe progress rank_group resources schedule scoring trainer validation)
kdgat_add_room(kdgat_engine stages/engine/train/metrics class_metrics retrieval)
kdgat_add_room(kdgat_engine stages/engine/train/sampling
  class_curriculum class_sampler curriculum_sampler difficulty difficulty_sampler draws sampling)
kdgat_export_own(kdgat_engine)
set_target_properties(kdgat_engine PROPERTIES
                      CXX_VISIBILITY_PRESET default VISIBILITY_INLINES_HIDDEN OFF
                      INSTALL_RPATH "${KDGAT_LIB_RPATH}"
                      DEFINE_SYMBOL "")  # it would spoil the precompiled headers for the stages
target_link_libraries(kdgat_engine PUBLIC kdgat_native libtorch)
if(KDGAT_PRECOMPILE)
  target_precompile_headers(kdgat_engine PRIVATE <precompiled.h>)  # no path of this folder in it
endif()
kdgat_precompile(kdgat_engine)
# The one source that starts threads; with LibTorch's own run time, as two would keep two sets of
# them.
set_source_files_properties(stages/engine/kernels/cpu/parallel.cpp PROPERTIES
                            COMPILE_OPTIONS -fopenmp SKIP_PRECOMPILE_HEADERS ON)
# LibTorch has Gloo inside and its headers not.
find_path(GLOO_INCLUDE gloo/algorithm.h)
set(ranks_definitions)
set(ranks_includes)
if(GLOO_INCLUDE)
  list(APPEND ranks_definitions USE_C10D_GLOO)
  list(APPEND ranks_includes ${GLOO_INCLUDE})
  if(EXISTS ${LIBTORCH_ROOT}/lib/libtorch_cuda.so)
    find_path(NCCL_INCLUDE nccl.h)
    find_path(CUDA_INCLUDE cuda_runtime.h PATHS /usr/local/cuda/include)
    if(NCCL_INCLUDE AND CUDA_INCLUDE)
      list(APPEND ranks_definitions KDGAT_NCCL USE_C10D_NCCL)
      list(APPEND ranks_includes ${NCCL_INCLUDE} ${CUDA_INCLUDE})
    endif()
  endif()
else()
  message(WARNING "no Gloo headers (libgloo-dev): training in several processes is left out")
endif()
list(REMOVE_ITEM ranks_includes /usr/include)  # named, it would hide what GCC has ahead of it
set_source_files_properties(stages/engine/train/rank_group.cpp PROPERTIES
  COMPILE_DEFINITIONS "${ranks_definitions}" INCLUDE_DIRECTORIES "${ranks_includes}")
file(GLOB gomp ${LIBTORCH_ROOT}/lib/libgomp*.so*)
if(NOT gomp)
  set(gomp gomp)
endif()
target_link_libraries(kdgat_engine PRIVATE ${gomp} kdgat_cuda)
