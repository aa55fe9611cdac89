# How a test program is built and given to ctest. Included by tests/tests.cmake; paths are from the
# folder of the project.

# kdgat_add_tests(name SOURCES ... LINK ... [HEADER file | HEADERS_OF target] [PARTS n]): an
# executable of tests; the header is precompiled for it, or those of another of these executables
# are used. ctest runs it in n processes, each with a part of its tests. With TESTS_BY_TITLE in the
# environment, as scripts/test -R sets it, each test case is a test of ctest and a process instead.
function(kdgat_add_tests name)
  cmake_parse_arguments(ARG "" "HEADER;HEADERS_OF;PARTS" "SOURCES;LINK" ${ARGN})
  foreach(source ${ARG_SOURCES})  # a folder fields/<field> goes with the field
    if(source MATCHES "/fields/([a-z]+)/" AND NOT CMAKE_MATCH_1 IN_LIST KDGAT_FIELDS)
      list(REMOVE_ITEM ARG_SOURCES ${source})
    endif()
  endforeach()
  foreach(stage ${ARG_LINK})
    if(stage MATCHES "^kdgat_stage_" AND NOT TARGET ${stage})
      list(REMOVE_ITEM ARG_LINK ${stage})
    endif()
  endforeach()
  if(NOT ARG_SOURCES)
    return()
  endif()
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
  if(NOT ARG_PARTS)
    set(ARG_PARTS 1)
  endif()
  foreach(part RANGE 1 ${ARG_PARTS})
    set(title "[[${name}: part ${part} of ${ARG_PARTS}]]")
    file(APPEND ${parts_file}.new
         "add_test(${title} [[${CMAKE_BINARY_DIR}/${name}]] --part ${part}/${ARG_PARTS})\n"
         "set_tests_properties(${title} PROPERTIES"
         " WORKING_DIRECTORY [[${CMAKE_SOURCE_DIR}]] ENVIRONMENT OMP_NUM_THREADS=1 TIMEOUT 3600)\n")
  endforeach()
endfunction()

# What ctest reads: the parts, or the tests by title that catch_discover_tests lists.
set(parts_file ${CMAKE_BINARY_DIR}/test_parts.cmake)
file(WRITE ${parts_file}.new "")
function(kdgat_choose_tests)
  file(RENAME ${parts_file}.new ${parts_file})
  get_directory_property(by_title TEST_INCLUDE_FILES)
  list(TRANSFORM by_title REPLACE "(.+)" "  include([[\\1]])\n")
  list(JOIN by_title "" by_title)
  file(WRITE ${CMAKE_BINARY_DIR}/tests_chosen.cmake
       "if(DEFINED ENV{TESTS_BY_TITLE})\n${by_title}else()\n"
       "  include([[${parts_file}]])\nendif()\n")
  set_directory_properties(PROPERTIES TEST_INCLUDE_FILES ${CMAKE_BINARY_DIR}/tests_chosen.cmake)
endfunction()
