# Everything that computes: the library of data and the native one, which need no LibTorch, the
# engine, and the stages. Included by the CMakeLists.txt of the project; one row a room.
add_library(kdgat_graph SHARED)
kdgat_add_room(kdgat_graph stages/data
  class_labels dataset_files description domain domains folder_files graph_domain import
  piped_input synth)
kdgat_add_room(kdgat_graph stages/data/can
  attack_kinds bus_clock bus_slots can_describe can_domain can_import can_log can_rows can_writer
  channel_choice channel_names convert_log dbc frame_rows frame_writer inject inject_logs
  label_intervals log_streams log_windows protocol_ids
  recording relative_windows
  synth_attacks synth_logs synth_traffic text_rows vehicle_profile windows)
kdgat_add_room(kdgat_graph stages/data/can/forms
  asc binary_reader blf forms mf4 mf4_blocks mf4_groups pcap trc)
kdgat_add_room(kdgat_graph stages/data/graphs
  graph_builder graph_tables graph_tensors graphs_describe graphs_domain graphs_import npz
  synth_graphs tu_dataset)
kdgat_add_room(kdgat_graph stages/data/molecules
  amber elements force_field ligands mmcif molecule_files molecule_graph molecule_import
  molecule_labels
  molecule_store molecules_describe molecules_domain neighbours nucleotide_chain pdb rna_templates
  structure
  synth_molecules)
kdgat_add_room(kdgat_graph stages/data/ratings
  ratings ratings_describe ratings_domain ratings_import ratings_reader ratings_store synth_ratings)
kdgat_add_room(kdgat_graph stages/data/space
  labels neurons points space_describe space_domain spatial_builder spatial_graphs spatial_import
  subtrees swc synth_spatial)
kdgat_add_room(kdgat_graph stages/data/texts
  stop_words synth_text text_clean text_corpus text_files text_graph text_import text_reader
  text_store texts_describe texts_domain)
kdgat_add_room(kdgat_graph stages/file
  byte_reader cache_folder csv line_reader random_bytes safetensors safetensors_header
  safetensors_stream tar tensor_hash
  text_kind utf8)
kdgat_add_room(kdgat_graph stages/graph
  buffer column feature_stats graph_store pack paths rewire shape spatial split store_file
  verified_files)
kdgat_add_room(kdgat_graph stages/graph/sections
  common_arrays frames ids path_counts positions sections targets trees)
kdgat_add_room(kdgat_graph stages/trees
  bins boosted_trees contributions flat_trees isolation_forest split_search table tree_grower)
# Between a frame and its graph: compiled alone, with calls that may be inlined though the library
# exports them.
set_source_files_properties(stages/data/can/can_rows.cpp
  stages/data/can/forms/asc.cpp stages/data/can/forms/trc.cpp
  stages/graph/pack.cpp PROPERTIES
  SKIP_UNITY_BUILD_INCLUSION ON COMPILE_OPTIONS -fno-semantic-interposition)
set_target_properties(kdgat_graph PROPERTIES CXX_VISIBILITY_PRESET default VISIBILITY_INLINES_HIDDEN OFF
                      INSTALL_RPATH "${KDGAT_LIB_RPATH}")
target_include_directories(kdgat_graph PUBLIC stages)
# Its own functions are bound when it is linked: to look up each by name is most of the program's
# start.
target_link_options(kdgat_graph PRIVATE -Wl,-Bsymbolic-functions -Wl,--exclude-libs,libzstd.a)
target_link_libraries(kdgat_graph PUBLIC kdgat_sdk PRIVATE ZLIB::ZLIB ${ZSTD} Threads::Threads)

# What judges traffic without LibTorch: the inner loops of kernels, the detector, live buses.
add_library(kdgat_native SHARED)
# What the stages adapt, detector, evaluate, fusion, score and watch share.
kdgat_add_room(kdgat_native stages/detector
  alarms blame detector_model find_vehicle joined_files network_channel reasons sealed_json tails
  traffic watch)
kdgat_add_room(kdgat_native stages/live
  bell bus_address bus_reader bus_socket frame_queue frame_source replay)
kdgat_add_room(kdgat_native stages/model model_header trained_model)
kdgat_add_room(kdgat_native stages/model/detector config)
kdgat_add_room(kdgat_native stages/model/kernels/cpu/isa level)
kdgat_add_room(kdgat_native stages/native layers networks weights)
# As the kernels of the portable level; and what C sources made from a model do to the bit.
set_source_files_properties(stages/native/layers.cpp stages/native/networks.cpp stages/data/can/windows.cpp
  stages/data/can/relative_windows.cpp stages/data/can/vehicle_profile.cpp PROPERTIES
  SKIP_UNITY_BUILD_INCLUSION ON COMPILE_OPTIONS "-fno-semantic-interposition;-ffp-contract=off")
kdgat_add_room(kdgat_native stages/scoring
  detector_scoring explanations log_watch network_judge network_scoring stream_model window_network)
kdgat_add_room(kdgat_native stages/train/metrics benign_threshold)
set_target_properties(kdgat_native PROPERTIES CXX_VISIBILITY_PRESET default VISIBILITY_INLINES_HIDDEN OFF
                      INSTALL_RPATH "${KDGAT_LIB_RPATH}")
target_link_options(kdgat_native PRIVATE -Wl,-Bsymbolic-functions)
target_link_libraries(kdgat_native PUBLIC kdgat_graph PRIVATE Threads::Threads)

# The same as one small library for other programs, with a header in C; it brings all that it needs
# along.
add_library(kdgat_detect SHARED stages/detect/detect.cpp $<TARGET_OBJECTS:kdgat_graph> $<TARGET_OBJECTS:kdgat_native>)
target_include_directories(kdgat_detect PUBLIC stages)
target_compile_definitions(kdgat_detect PRIVATE KDGAT_VERSION="${PROJECT_VERSION}")
set_target_properties(kdgat_detect PROPERTIES CXX_VISIBILITY_PRESET default INSTALL_RPATH "")
file(WRITE ${CMAKE_BINARY_DIR}/detect.map "{ global: kdgat_detect_*; local: *; };\n")
target_link_options(kdgat_detect PRIVATE -Wl,--version-script=${CMAKE_BINARY_DIR}/detect.map -Wl,--gc-sections
                    -Wl,--exclude-libs,ALL)
target_link_libraries(kdgat_detect PRIVATE kdgat_sdk ZLIB::ZLIB ${ZSTD} Threads::Threads)
add_dependencies(kdgat_all kdgat_detect)

# The inner loops, once for each instruction set; the level is chosen at start.
function(kdgat_add_kernels isa)
  add_library(kdgat_kernels_${isa} OBJECT stages/model/kernels/cpu/isa/tables.cpp)
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
  kdgat_add_kernels(avx512 -mavx512f -mavx512bw -mavx512dq -mavx512vl -mfma -mprefer-vector-width=512)
endif()

# kdgat_add_native_stage(name [more ...]): as kdgat_add_stage, without LibTorch.
function(kdgat_add_native_stage name)
  add_library(kdgat_stage_${name} STATIC)
  kdgat_add_room(kdgat_stage_${name} stages/${name} ${name} ${ARGN})
  target_link_libraries(kdgat_stage_${name} PUBLIC kdgat_native)
  kdgat_add_plugin(${name} SOURCES plugins/${name}.cpp LINK kdgat_stage_${name})
endfunction()
kdgat_add_native_stage(score_native)
kdgat_add_native_stage(watch own_frames traffic_report)

# A model as sources for other programs. What stands in stages/export/c/runtime is C that is written
# as it is, so the library holds it as texts.
add_library(kdgat_export STATIC)
kdgat_add_room(kdgat_export stages/export/c
  c_tables detector_c detector_vectors network_c network_code network_vectors number_tables
  rounded_model
  runtime_texts tree_tables vector_text)
kdgat_add_room(kdgat_export stages/export/onnx onnx_detector onnx_graph onnx_layers onnx_network)
target_compile_definitions(kdgat_export PRIVATE KDGAT_VERSION="${PROJECT_VERSION}")
target_link_libraries(kdgat_export PUBLIC kdgat_native)
target_compile_options(kdgat_export PRIVATE -ffp-contract=off)  # what it computes ahead is computed natively as well
set(KDGAT_RUNTIME_TEXTS)
foreach(file CMakeLists.txt alarms.c api.h check.c detector.c detector_state.h detector_tables.h four.c input.c
        kdgat_math.c main.c network.c stack.c windows.c)
  list(APPEND KDGAT_RUNTIME_TEXTS ${CMAKE_CURRENT_SOURCE_DIR}/stages/export/c/runtime/${file})
endforeach()
list(APPEND KDGAT_RUNTIME_TEXTS ${CMAKE_CURRENT_SOURCE_DIR}/stages/export/onnx/check.py)
list(JOIN KDGAT_RUNTIME_TEXTS "," runtime_texts)
add_custom_command(OUTPUT ${CMAKE_BINARY_DIR}/export/runtime_text.cpp
  COMMAND ${CMAKE_COMMAND} -D OUT=${CMAKE_BINARY_DIR}/export/runtime_text.cpp -D FILES=${runtime_texts}
          -P ${CMAKE_CURRENT_SOURCE_DIR}/stages/export/c/embed.cmake
  DEPENDS ${KDGAT_RUNTIME_TEXTS} stages/export/c/embed.cmake VERBATIM)
target_sources(kdgat_export PRIVATE ${CMAKE_BINARY_DIR}/export/runtime_text.cpp)

# Kernels for cards of NVIDIA: the source, held as a text that NVRTC compiles where there is a card,
# and what opens NVIDIA's libraries. Nothing of CUDA is needed to build it.
add_library(kdgat_cuda STATIC)
kdgat_add_room(kdgat_cuda stages/model/kernels/cuda/card driver kernel_image library nvrtc opened_card)
set(KDGAT_KERNEL_SOURCES)
foreach(file card.cuh sizes.h basics.cuh sums_args.h gat_args.h norm_args.h head_args.h path_args.h product_args.h sums.cuh
        gat.cuh gatv2.cuh norm.cuh heads.cuh paths.cuh product.cuh)
  list(APPEND KDGAT_KERNEL_SOURCES ${CMAKE_CURRENT_SOURCE_DIR}/stages/model/kernels/cuda/source/${file})
endforeach()
list(JOIN KDGAT_KERNEL_SOURCES "," kernel_sources)
add_custom_command(OUTPUT ${CMAKE_BINARY_DIR}/cuda/source_text.cpp
  COMMAND ${CMAKE_COMMAND} -D OUT=${CMAKE_BINARY_DIR}/cuda/source_text.cpp -D FILES=${kernel_sources}
          -P ${CMAKE_CURRENT_SOURCE_DIR}/stages/model/kernels/cuda/card/embed.cmake
  DEPENDS ${KDGAT_KERNEL_SOURCES} stages/model/kernels/cuda/card/embed.cmake VERBATIM)
target_sources(kdgat_cuda PRIVATE ${CMAKE_BINARY_DIR}/cuda/source_text.cpp)
target_link_libraries(kdgat_cuda PUBLIC kdgat_graph ${CMAKE_DL_LIBS})

if(NOT KDGAT_ENGINE)
  return()
endif()

add_library(kdgat_engine SHARED)
kdgat_add_room(kdgat_engine stages/memory
  arena cache_policy device_blocks memory_plan meter out_of_memory own_space tape)
# What the stages detector and evaluate share.
kdgat_add_room(kdgat_engine stages/detector
  baselines comparison judged_log judging pictures plain_windows rule summary)
kdgat_add_room(kdgat_engine stages/model model_file)
kdgat_add_room(kdgat_engine stages/model/detector footprint fusion_net gat vgae)
kdgat_add_room(kdgat_engine stages/model/kernels batch_tensors noise_keys)
kdgat_add_room(kdgat_engine stages/model/kernels/cpu
  by_graph gat gin graph_norm heads norm norm_statistics parallel path_geometry paths products sums)
kdgat_add_room(kdgat_engine stages/model/kernels/cuda by_graph device gat heads norm paths sums)
kdgat_add_room(kdgat_engine stages/model/kernels/plain gat gin heads norm paths products sums)
# Products of bfloat16, for processors that have them and compilers that know them.
target_sources(kdgat_engine PRIVATE stages/model/kernels/cpu/isa/rounded_products.cpp)
set_source_files_properties(stages/model/kernels/cpu/isa/rounded_products.cpp PROPERTIES
                            SKIP_UNITY_BUILD_INCLUSION ON SKIP_PRECOMPILE_HEADERS ON)
include(CheckCXXCompilerFlag)
check_cxx_compiler_flag("-mavx512bf16" KDGAT_HAS_BF16_FLAG)
# GCC warns of its own header, where a vector is left undefined on purpose.
if(KDGAT_HAS_BF16_FLAG AND CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  set_source_files_properties(stages/model/kernels/cpu/isa/rounded_products.cpp PROPERTIES COMPILE_OPTIONS
    "-O3;-mavx512f;-mavx512bw;-mavx512dq;-mavx512vl;-mavx512bf16;-mfma;-Wno-uninitialized;-Wno-maybe-uninitialized"
    COMPILE_DEFINITIONS KDGAT_BF16)
endif()
kdgat_add_room(kdgat_engine stages/model/layers
  blocked_heads gat_conv gatv2_conv gin_conv graph_norm input jumping layers linear noise norm
  recompute)
kdgat_add_room(kdgat_engine stages/model/molecules
  card_product couplings equivariant_layers irreps molecule_edges molecule_view plain_numbers
  plain_tensor_product
  pocket_config pocket_encoder pocket_footprint pocket_model pocket_v3 product_parts radial_network
  source_product target_product tensor_product)
kdgat_add_room(kdgat_engine stages/model/ratings sage sage_footprint sage_ops sage_pairs)
kdgat_add_room(kdgat_engine stages/model/space
  chunk_index graph_head growth path_features path_messages products sgmp sgmp_config sgmp_footprint
  spatial_tensors)
kdgat_add_room(kdgat_engine stages/model/texts sparse_product text_gcn)
kdgat_add_room(kdgat_engine stages/objective
  autoencoder_objective class_scorer classification_loss classifier_objective distillation
  fusion_scorer
  fusion_state graph_objective kd_options load_scorer pocket_loss pocket_objective teacher
  teacher_cache
  tree_objective tree_pairs)
kdgat_add_room(kdgat_engine stages/setup
  detector finish labelled_graphs space_setup trained_model training_stage)
kdgat_add_room(kdgat_engine stages/train
  calibration card_limits checkpoint data_set fit optimizer precision probe progress rank_group
  resources
  schedule scoring trainer validation)
kdgat_add_room(kdgat_engine stages/train/metrics class_metrics curve metrics retrieval)
kdgat_add_room(kdgat_engine stages/train/sampling class_curriculum class_sampler curriculum_sampler difficulty
  difficulty_sampler draws sampling)
set_target_properties(kdgat_engine PROPERTIES CXX_VISIBILITY_PRESET default VISIBILITY_INLINES_HIDDEN OFF
                      INSTALL_RPATH "${KDGAT_LIB_RPATH}"
                      DEFINE_SYMBOL "")  # it would spoil the precompiled headers for the stages
target_link_libraries(kdgat_engine PUBLIC kdgat_native libtorch)
if(KDGAT_PRECOMPILE)
  target_precompile_headers(kdgat_engine PRIVATE <precompiled.h>)  # no path of this folder in it
endif()
kdgat_precompile(kdgat_engine)
# The one source that starts threads; with LibTorch's own run time, as two would keep two sets of
# them.
set_source_files_properties(stages/model/kernels/cpu/parallel.cpp PROPERTIES COMPILE_OPTIONS -fopenmp
                            SKIP_PRECOMPILE_HEADERS ON)
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
set_source_files_properties(stages/train/rank_group.cpp PROPERTIES
  COMPILE_DEFINITIONS "${ranks_definitions}" INCLUDE_DIRECTORIES "${ranks_includes}")
file(GLOB gomp ${LIBTORCH_ROOT}/lib/libgomp*.so*)
if(NOT gomp)
  set(gomp gomp)
endif()
target_link_libraries(kdgat_engine PRIVATE ${gomp} kdgat_cuda)

kdgat_add_stage(adapt)
kdgat_add_stage(autoencoder)
kdgat_add_stage(classifier classifier_options)
set_source_files_properties(stages/classifier/classifier_options.cpp PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
kdgat_add_stage(classify)
kdgat_add_stage(curriculum)
kdgat_add_stage(detector cross_fit detector_memory figures learning learning_size left_out sentences training)
kdgat_add_stage(distill)
target_link_libraries(kdgat_stage_distill PUBLIC kdgat_stage_autoencoder kdgat_stage_classifier)
kdgat_add_stage(equivariant baselines physics plain_network pocket_data ranking_report)
kdgat_add_stage(evaluate ablation beside class_evaluation report)
kdgat_add_stage(export
  c_check c_size check_windows made_up_frames network_check onnx_check run_program verify_page
  written_folder)
target_link_libraries(kdgat_stage_export PUBLIC kdgat_export)
kdgat_add_stage(finetune)
kdgat_add_stage(fusion channel learners lin_ucb reward)
kdgat_add_stage(graphsage rating_data rating_fit rating_metrics)
kdgat_add_stage(gtssl)
kdgat_add_stage(ranking)
kdgat_add_stage(score joined_scoring network)
kdgat_add_stage(textgcn published_profile text_memory text_splits text_trainer)
