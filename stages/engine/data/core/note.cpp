#include "engine/data/core/note.h"

#include <algorithm>

#include "kdgat/text.h"

namespace kdgat::data {

using nlohmann::json;

void to_json(json& out, const Note& note) {
  out = {{"where", note.where}, {"message", note.message}, {"hint", note.hint}};
  if (note.unused.empty()) return;
  out["unused"] = note.unused;
  out["count"] = note.count;
}

void from_json(const json& in, Note& note) {
  note.where = in.at("where");
  note.message = in.at("message");
  note.hint = in.at("hint");
  note.unused = in.value("unused", "");
  note.count = in.value("count", int64_t{0});
}

std::string count_of(int64_t number, const std::string& what) {
  return grouped(number) + " " + what + (number == 1 ? "" : "s");
}

json unused_in(const Notes& notes) {
  json out = json::object();
  for (const Note& note : notes) {
    if (!note.unused.empty()) out[note.unused] = out.value(note.unused, int64_t{0}) + note.count;
  }
  return out;
}

std::vector<Diagnostic> in_short(const Notes& notes) {
  const auto is_unused = [](const Note& note) { return !note.unused.empty(); };
  if (std::count_if(notes.begin(), notes.end(), is_unused) < 2) return as_diagnostics(notes);
  std::vector<Diagnostic> out;
  for (const Note& note : notes) {
    if (!is_unused(note)) out.push_back(note);
  }
  std::string all;
  const json counts = unused_in(notes);
  for (const auto& [what, count] : counts.items()) {
    all += (all.empty() ? "" : ", ") + count_of(count.get<int64_t>(), what);
  }
  out.push_back({"", "not used: " + all, "-v names each"});
  return out;
}

void require_all_used(const Notes& notes) {
  std::vector<Diagnostic> unused;
  for (const Note& note : notes) {
    if (!note.unused.empty() && !note.is_usual) unused.push_back(note);
  }
  if (!unused.empty()) throw Error(ExitCode::kData, std::move(unused));
}

}  // namespace kdgat::data
