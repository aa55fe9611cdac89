// Pieces of HTML and SVG. Every text that is not markup passes through escaped().
#pragma once

#include <string>
#include <vector>

namespace kdgat {

/// A text that is nothing but text in HTML, SVG and their quoted attributes. Bytes that are no
/// UTF-8 and control characters become U+FFFD.
std::string escaped(const std::string& text);

/// <tag attributes>inner</tag>; `inner` and `attributes` are markup already.
std::string element(const std::string& tag, const std::string& inner,
                    const std::string& attributes = "");

/// A length or place in a picture, in pixels.
std::string pixels(double value);

/// A table that scrolls inside a box of its own where it is too wide. Cells are markup; those of
/// `columns` too. Columns that hold numbers alone are set to the right. `caption` may be ""; it is
/// markup, in a <span> that a page may keep as narrow as its window.
struct MarkupTable {
  std::vector<std::string> columns;
  std::vector<std::vector<std::string>> rows;
  std::string caption;

  std::string html() const;
};

}  // namespace kdgat
