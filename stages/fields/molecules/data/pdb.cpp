#include <cmath>
#include <optional>

#include "engine/file/number_text.h"
#include "fields/molecules/data/structure_builder.h"
#include "kdgat/error.h"

namespace kdgat::molecules {
namespace {

std::string_view columns(std::string_view line, std::size_t first, std::size_t width) {
  if (line.size() <= first) return {};
  std::string_view out = line.substr(first, width);
  while (!out.empty() && out.front() == ' ') out.remove_prefix(1);
  while (!out.empty() && out.back() == ' ') out.remove_suffix(1);
  return out;
}

}  // namespace

Structure read_pdb(file::LineReader lines) {
  constexpr std::size_t kCoordinates = 30, kWidth = 8, kLast = 54;
  StructureBuilder builder;
  std::string_view line;
  int64_t atoms = 0;
  bool is_past_model = false;
  const auto fail = [&lines](const std::string& what) {
    throw Error(ExitCode::kData, what, "",
                lines.name() + ":" + std::to_string(lines.line_number()));
  };
  while (lines.next(line)) {
    if (is_past_model) {
      if (!line.starts_with("MODEL ")) continue;
      builder.note_more_models();
      break;
    }
    is_past_model = line.starts_with("ENDMDL");
    if (line.starts_with("TER")) builder.end_chain();
    if (!line.starts_with("ATOM  ") && !line.starts_with("HETATM")) continue;
    if (line.size() < kLast - kWidth + 1) fail("a row of an atom that is cut off");
    AtomRow row;
    row.name = columns(line, 12, 4);
    row.alternate = columns(line, 16, 1);
    row.residue = columns(line, 17, 3);
    row.chain = columns(line, 21, 1);
    row.number = columns(line, 22, 5);  // with the insertion code
    row.element = columns(line, 76, 2);
    if (row.name.empty()) fail("an atom without a name");
    for (std::size_t d = 0; d < 3; ++d) {
      const std::string_view text = columns(line, kCoordinates + d * kWidth, kWidth);
      const std::optional<double> value = file::number_in(text);
      if (!value || !std::isfinite(*value)) fail("'" + file::shown(text) + "' is no coordinate");
      row.pos[d] = *value;
    }
    builder.add(row);
    ++atoms;
  }
  if (atoms == 0)
    throw Error(ExitCode::kData, "no atoms: no line begins with ATOM or HETATM", "", lines.name());
  return builder.finish();
}

}  // namespace kdgat::molecules
