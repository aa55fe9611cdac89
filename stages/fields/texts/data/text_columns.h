// TextColumns: where a table with a header has texts, labels and parts; and what else tables of
// documents look like by their first lines. Reads no file.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "fields/texts/data/text_options.h"

namespace kdgat::texts {

/// Places in a header; -1 = nowhere. A column that an option names is taken alone; else those of
/// the table of names in text_columns.cpp, in any case.
struct TextColumns {
  int64_t text, label, split;
  TextColumns(const std::vector<std::string>& header, const TextImportOptions& options);
  bool are_there() const { return text >= 0 && label >= 0; }
};

/// The label of a line of fastText: "__label__sport the team won".
inline constexpr std::string_view kFastTextMark = "__label__";

/// Whether a line is one of the list of documents of TextGCN: name<TAB>split<TAB>label, no text.
bool is_document_list(std::string_view head);

}  // namespace kdgat::texts
