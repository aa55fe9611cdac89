// Included ahead of the sources of the program, its libraries and its plugins (kdgat_share_json in
// CMakeLists.txt, precompiled.h): the code of nlohmann/json is in libkdgat_graph alone. Each plugin
// would have 50 kB of it. A source that is compiled without this header has it once more.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#ifdef KDGAT_HAS_SHARED_JSON  // the one source that makes the code
#define KDGAT_SHARED_JSON
#else
#define KDGAT_SHARED_JSON extern
#endif
#pragma GCC visibility push(default)

namespace nlohmann {

KDGAT_SHARED_JSON template class basic_json<>;

namespace detail {
using SharedText = iterator_input_adapter<std::string::const_iterator>;
using SharedLetters = iterator_input_adapter<const char*>;
KDGAT_SHARED_JSON template class serializer<json>;
KDGAT_SHARED_JSON template class json_sax_dom_parser<json>;
KDGAT_SHARED_JSON template class json_sax_dom_callback_parser<json>;
KDGAT_SHARED_JSON template class lexer<json, SharedText>;
KDGAT_SHARED_JSON template class parser<json, SharedText>;
KDGAT_SHARED_JSON template class lexer<json, SharedLetters>;
KDGAT_SHARED_JSON template class parser<json, SharedLetters>;
}  // namespace detail
}  // namespace nlohmann

#pragma GCC visibility pop
