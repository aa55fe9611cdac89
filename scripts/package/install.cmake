# What cmake --install and cpack put where; included by the CMakeLists.txt of the project. The tree
# of the program is the build folder's: PREFIX/lib/kdgat/{kdgat,lib,plugins,profiles},
# and PREFIX/bin/kdgat a link into it. Nothing in it names another folder: it may be moved as a
# whole.
#
#   program   the executables, libraries, plugins, profiles and texts
#   mqtt      kdgat_mqtt, beside the others, where libmosquitto is installed; not of a wheel
#   detect    libkdgat_detect.so and its header, for programs of others; not of a wheel
#   libtorch  LibTorch's libraries, in lib/torch of that tree; not of a wheel, which requires the package torch
if(SKBUILD)  # the prefix is the Python package; man pages go to the environment
  set(tree program)
  set(share ${SKBUILD_DATA_DIR}/share)
else()
  set(tree lib/kdgat)
  set(share share)
endif()
cmake_path(ABSOLUTE_PATH share BASE_DIRECTORY "\${CMAKE_INSTALL_PREFIX}" OUTPUT_VARIABLE texts)

install(TARGETS kdgat RUNTIME DESTINATION ${tree} COMPONENT program)
if(TARGET kdgat_mqtt)
  install(TARGETS kdgat_mqtt RUNTIME DESTINATION ${tree} COMPONENT mqtt)
endif()
install(TARGETS kdgat_graph kdgat_native LIBRARY DESTINATION ${tree}/lib COMPONENT program)
install(TARGETS kdgat_detect LIBRARY DESTINATION ${tree}/lib COMPONENT detect)
install(FILES stages/engine/decision/library/kdgat_detect.h
        DESTINATION ${tree}/include COMPONENT detect)
install(DIRECTORY profiles/ DESTINATION ${tree}/profiles COMPONENT program PATTERN fields EXCLUDE)
foreach(field ${KDGAT_FIELDS})
  install(DIRECTORY profiles/fields/${field} DESTINATION ${tree}/profiles/fields COMPONENT program)
endforeach()
if(KDGAT_ENGINE)
  install(TARGETS kdgat_engine LIBRARY DESTINATION ${tree}/lib COMPONENT program)
endif()
# Descriptions hold hashes of the libraries: both as they were built.
install(DIRECTORY ${CMAKE_BINARY_DIR}/plugins/ DESTINATION ${tree}/plugins COMPONENT program USE_SOURCE_PERMISSIONS
        FILES_MATCHING PATTERN "kdgat_*.so" PATTERN "kdgat_*.json" PATTERN "kdgat_example.*" EXCLUDE)

# The program itself makes man pages, completions, the page of licences and the SBOM.
install(CODE "
  execute_process(COMMAND $<TARGET_FILE:kdgat> write-texts \"${texts}\"
                  COMMAND_ERROR_IS_FATAL ANY)" COMPONENT program)
install(FILES LICENSE CITATION.cff DESTINATION ${share}/doc/kdgat COMPONENT program)
foreach(package ${KDGAT_LIBRARY_PACKAGES})
  install(FILES /usr/share/doc/${package}/copyright DESTINATION ${share}/doc/kdgat/licences
          RENAME ${package}.txt COMPONENT program OPTIONAL)
endforeach()

if(SKBUILD)
  install(PROGRAMS scripts/package/command.py DESTINATION ${SKBUILD_SCRIPTS_DIR} RENAME kdgat COMPONENT program)
  # Where tools look for the SBOMs of a wheel (PEP 770).
  install(CODE "file(COPY \"${share}/doc/kdgat/kdgat.cdx.json\" DESTINATION \"${SKBUILD_METADATA_DIR}/sboms\")"
          COMPONENT program)
  return()
endif()
install(CODE "
  file(MAKE_DIRECTORY \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/bin\")
  file(CREATE_LINK ../${tree}/kdgat \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/bin/kdgat\" SYMBOLIC)" COMPONENT program)
if(KDGAT_ENGINE)
  install(DIRECTORY ${LIBTORCH_ROOT}/licences/ DESTINATION ${share}/doc/kdgat/licences/libtorch
          COMPONENT libtorch OPTIONAL)
  install(CODE "set(from \"${LIBTORCH_ROOT}/lib\")\nset(tree \"${tree}\")" COMPONENT libtorch)
  install(CODE [[
    # A CUDA build's CPU part asks for two libraries of CUDA.
    file(GLOB libraries ${from}/libc10.so ${from}/libtorch_cpu.so ${from}/libgomp*.so*
         ${from}/libcudart.so* ${from}/libcupti.so*)
    if(EXISTS ${from}/libtorch_cuda.so)  # all that it asks for
      file(GLOB libraries ${from}/*.so*)
      list(FILTER libraries EXCLUDE REGEX "python|_test|backend")
    endif()
    file(INSTALL ${libraries} DESTINATION ${CMAKE_INSTALL_PREFIX}/${tree}/lib/torch FOLLOW_SYMLINK_CHAIN)
  ]] COMPONENT libtorch)
endif()

set(CPACK_GENERATOR TGZ)
set(CPACK_PACKAGE_NAME kdgat)
set(CPACK_PACKAGE_VENDOR "The kdgat authors")
set(CPACK_PACKAGE_FILE_NAME kdgat-${PROJECT_VERSION}-linux-${CMAKE_SYSTEM_PROCESSOR})
set(CPACK_ARCHIVE_THREADS 0)
include(CPack)
