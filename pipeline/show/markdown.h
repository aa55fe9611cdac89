// Markdown as HTML that is safe whatever the text holds: each character of it is escaped, no tag of
// its own passes, and links lead to web pages or within the page alone.
#pragma once

#include <string>

namespace kdgat {

/// Headings, paragraphs, lists, quotes, rules, blocks of code, `code`, **bold**, *italic* and
/// [links](https://...). What is none of these is text as it stands. `top` is the level of the
/// highest heading: 2 for <h2>.
std::string markdown_html(const std::string& text, int top = 2);

}  // namespace kdgat
