# Tests of scripts and of the Python package. Included by tests/tests.cmake; paths are from the
# project's folder.

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
kdgat_add_script_test("test_times" python3 -B tests/scripts/test_times_test.py)
kdgat_add_script_test("soak tests" python3 -B tests/scripts/soak_tests_test.py)
# Of the Python package, by a Python that has numpy: run_test.py looks for it as
# tests/support/programs/python.h does, first in the environment of scripts/setup --peers, and says
# that it skips the tests where there is none.
function(kdgat_add_python_test name)
  add_test(NAME "python: ${name}" COMMAND ${ARGN} WORKING_DIRECTORY ${CMAKE_SOURCE_DIR})
  set_tests_properties("python: ${name}" PROPERTIES LABELS scripts TIMEOUT 1800 SKIP_RETURN_CODE 77)
endfunction()
if(KDGAT_ENGINE)
  kdgat_add_python_test("runs, graphs and the program"
    python3 -B tests/python/run_test.py --kdgat $<TARGET_FILE:kdgat>)
  kdgat_add_script_test("a sample of the attacks"
    scripts/soak attack --sample --kdgat $<TARGET_FILE:kdgat>)
  set_tests_properties("scripts: a sample of the attacks" PROPERTIES TIMEOUT 1800)
endif()
if(KDGAT_ENGINE AND CMAKE_BUILD_TYPE STREQUAL Release)
  kdgat_add_script_test("every binary is hardened and names no folder"
    scripts/check_binaries ${CMAKE_BINARY_DIR})
endif()
kdgat_add_script_test("nothing stands twice" scripts/check_copies)
kdgat_add_script_test("no source knows two domains" scripts/check_domains)
kdgat_add_script_test("every include is allowed" scripts/check_layers)
kdgat_add_script_test("the host names no metric, event or stage" scripts/check_names)
