// Whether a file holds text, by its first bytes.
#pragma once

#include <string>
#include <string_view>

#include "kdgat/error.h"

namespace kdgat::file {

/// What `head`, the first bytes of a file after unpacking, are if they are not lines of text in
/// UTF-8 or an 8-bit code: "text in UTF-16", "a ZIP archive", "binary data"; empty if they are.
std::string not_text(std::string_view head);

/// The refusal of such a file, which says how it becomes text where it can.
Error refuse_not_text(const std::string& file, const std::string& what);

}  // namespace kdgat::file
