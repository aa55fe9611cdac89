# Writes OUT, a C++ source with the texts of FILES (separated by commas) as
# kdgat::exporting::runtime_text().
#   cmake -D OUT=... -D FILES=a.c,b.h -P embed.cmake
string(REPLACE "," ";" files "${FILES}")
set(source "// Written by stages/engine/export/c/embed.cmake.
#include \"engine/export/c/runtime_texts.h\"

#include <stdexcept>

namespace kdgat::exporting {

std::string_view runtime_text(std::string_view file) {
")
foreach(path ${files})
  get_filename_component(name ${path} NAME)
  file(READ ${path} text)
  string(APPEND source "  if (file == \"${name}\") {\n    return R\"RUNTIME(${text})RUNTIME\";\n  }\n")
endforeach()
string(APPEND source "  throw std::logic_error(\"no runtime/\" + std::string(file));
}

}  // namespace kdgat::exporting
")
file(WRITE ${OUT} "${source}")
