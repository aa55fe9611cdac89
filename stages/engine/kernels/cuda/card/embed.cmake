# Writes OUT, a C++ source with the texts of FILES (separated by commas), one behind the other and
# without their includes, as kdgat::kernels::cuda::source_text().
#   cmake -D OUT=... -D FILES=a.cuh,b.h -P embed.cmake
string(REPLACE "," ";" files "${FILES}")
set(source "// Written by stages/engine/kernels/cuda/card/embed.cmake.
#include \"engine/kernels/cuda/card/source_text.h\"

namespace kdgat::kernels::cuda {

std::string_view source_text() {
  return R\"KERNELS(")
foreach(path ${files})
  get_filename_component(name ${path} NAME)
  file(READ ${path} text)
  string(REGEX REPLACE "#(include|pragma once)[^\n]*\n" "\n" text "${text}")
  string(APPEND source "#line 1 \"${name}\"\n${text}")
endforeach()
file(WRITE ${OUT} "${source})KERNELS\";\n}\n\n}  // namespace kdgat::kernels::cuda\n")
