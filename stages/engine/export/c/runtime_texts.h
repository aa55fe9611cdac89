// The C of engine/export/c/runtime and engine/portable, which the build puts into the library as
// texts.
#pragma once

#include <initializer_list>
#include <map>
#include <string>
#include <string_view>

namespace kdgat::exporting {

/// The text of a file. Throws std::logic_error where there is none of that name.
std::string_view runtime_text(std::string_view file);

/// The same of a header of engine/portable as a part of another file: without what it includes.
std::string portable_text(std::string_view file);
/// Of each of several, an empty line before each.
std::string texts_of(std::initializer_list<std::string_view> files);

/// The text of runtime/<file> with each "@KEY@" replaced. Throws std::logic_error for one that
/// `values` lacks.
std::string runtime_text(std::string_view file, const std::map<std::string, std::string>& values);

/// A number of C that the compiler reads back to the same bits: "0.1f", "-3.0f". Finite.
std::string c_float(float value);
/// The same of a double; infinities become -DBL_MAX and DBL_MAX (of <float.h>).
std::string c_double(double value);

}  // namespace kdgat::exporting
