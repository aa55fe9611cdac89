# Needs a cluster around it, and the machine to itself.
add_executable(kdgat_slurm_tests tests/slurm/slurm_test.cpp)
target_include_directories(kdgat_slurm_tests PRIVATE . tests)
kdgat_optimise_nothing(kdgat_slurm_tests)
target_link_libraries(kdgat_slurm_tests PRIVATE kdgat_graph kdgat_test_main)
add_dependencies(kdgat_slurm_tests kdgat_all)
add_test(NAME kdgat_slurm_tests COMMAND tests/slurm/cluster $<TARGET_FILE:kdgat_slurm_tests>
         WORKING_DIRECTORY ${CMAKE_SOURCE_DIR})
set_tests_properties(kdgat_slurm_tests PROPERTIES LABELS slurm RUN_SERIAL TRUE SKIP_RETURN_CODE 77
                     TIMEOUT 3600)
