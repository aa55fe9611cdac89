# Everything that computes. Included by the CMakeLists.txt of the project.
include(stages/engine/engine.cmake)
foreach(field ${KDGAT_FIELDS})
  include(stages/fields/${field}/${field}.cmake)
endforeach()

# kdgat_add_native_stage(name [more ...]): as kdgat_add_stage, without LibTorch.
function(kdgat_add_native_stage name)
  add_library(kdgat_stage_${name} STATIC)
  kdgat_add_room(kdgat_stage_${name} stages/${name} ${name} ${ARGN})
  target_link_libraries(kdgat_stage_${name} PUBLIC kdgat_native)
  kdgat_share_json(kdgat_stage_${name})
  kdgat_optimise_little(kdgat_stage_${name})
  kdgat_add_plugin(${name} SOURCES plugins/${name}.cpp LINK kdgat_stage_${name})
endfunction()
kdgat_add_native_stage(score_native)
kdgat_add_native_stage(watch own_frames traffic_report)

if(NOT KDGAT_ENGINE)
  return()
endif()
kdgat_add_stage(adapt)
kdgat_add_stage(autoencoder)
kdgat_add_stage(classifier classifier_options regressor shared)
set_source_files_properties(stages/classifier/classifier_options.cpp PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
kdgat_add_stage(classify)
kdgat_add_stage(curriculum)
kdgat_add_stage(detector
  cross_fit detector_memory figures frame_sample learning left_out network_source sentences
  training)
kdgat_add_stage(distill)
target_link_libraries(kdgat_stage_distill PUBLIC kdgat_stage_autoencoder kdgat_stage_classifier)
kdgat_add_stage(evaluate ablation beside class_evaluation number_evaluation parts report)
kdgat_add_stage(export
  c_check c_format c_size check_windows export_formats made_up_frames network_check onnx_check
  onnx_format run_program verify_page written_folder)
target_link_libraries(kdgat_stage_export PUBLIC kdgat_export)
kdgat_add_stage(fusion channel learners lin_ucb reward)
kdgat_add_stage(score joined_scoring network)
