// Whatever the bytes, texts either throw Error(kData) or give words and labels in range; and all
// cleanings give words without blanks. The first byte picks the form and the cleaning.
// With clang: clang++ -std=c++20 -fsanitize=fuzzer,address with the sources of kdgat_graph.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "engine/file/csv.h"
#include "engine/file/utf8.h"
#include "fields/texts/data/text_clean.h"
#include "fields/texts/data/text_corpus.h"
#include "fields/texts/data/text_graph.h"
#include "kdgat/error.h"

namespace {

constexpr const char* kCleanings[] = {"original", "seed", "none"};

std::string valid_text(std::string_view text) {
  std::string repaired;
  if (kdgat::file::repair_utf8(text, repaired) == 0) repaired = text;
  std::string again;
  if (kdgat::file::repair_utf8(repaired, again) != 0) std::abort();
  return repaired;
}

void check_words(std::string_view text, const std::string& cleaning) {
  using namespace kdgat::file;
  using namespace kdgat::texts;
  TextCleaner cleaner(cleaning);
  const std::string valid = valid_text(text);
  WordTable table;
  std::vector<int32_t> token, doc_ptr{0};
  for (const std::string_view word : cleaner.words(valid)) {
    if (word.empty() || word.find_first_of(" \t\r\n") != std::string_view::npos) std::abort();
    token.push_back(table.add(word));
    if (table.word(token.back()) != word) std::abort();
  }
  // Two documents of them, so that there is a graph.
  doc_ptr.push_back(static_cast<int32_t>(token.size() / 2));
  doc_ptr.push_back(static_cast<int32_t>(token.size()));
  const TextGraphBuilder graph({token, doc_ptr, table.size(), 1, 5}, 1);
  if (graph.row_ptr().back() != graph.counts().nonzeros) std::abort();
}

void check_csv(std::string_view text, char separator) {
  using namespace kdgat::file;
  using namespace kdgat::texts;
  CsvReader table(LineReader("fuzz", text), true, separator);
  std::size_t bytes = 0;
  int64_t line = 0;
  while (table.next()) {
    if (table.line() <= line) std::abort();
    line = table.line();
    for (std::size_t c = 0; c < table.header().size(); ++c) bytes += table.field(c).size();
  }
  if (bytes > text.size()) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  try {
    if (data[0] % 4 == 3) {
      check_csv(text, data[0] % 8 == 3 ? ',' : '\0');  // 0: found by the header
    } else {
      check_words(text, kCleanings[data[0] % 4]);
    }
  } catch (const kdgat::Error& error) {
    if (error.code() != kdgat::ExitCode::kData) std::abort();
  }
  return 0;
}
