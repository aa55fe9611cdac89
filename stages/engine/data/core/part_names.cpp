#include "engine/data/core/part_names.h"

#include <algorithm>
#include <cctype>

namespace kdgat::data {
namespace {

constexpr std::string_view kTrain = "train", kVal = "val", kTest = "test";

constexpr struct {
  std::string_view word, part;
} kWords[] = {{"train", kTrain}, {"training", kTrain}, {"val", kVal},   {"valid", kVal},
              {"dev", kVal},     {"validation", kVal}, {"test", kTest}, {"testing", kTest}};

/// What the name of a folder may begin with, whatever follows.
constexpr std::string_view kBeginnings[] = {kTrain, kTest, "valid"};

bool is_letter(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; }
bool is_upper(char c) { return std::isupper(static_cast<unsigned char>(c)) != 0; }

/// Where the word at `begin` ends: at what is no letter, or at a capital behind a small letter.
std::size_t end_of_word(std::string_view name, std::size_t begin) {
  std::size_t end = begin;
  while (end < name.size() && is_letter(name[end])) {
    if (end > begin && is_upper(name[end]) && !is_upper(name[end - 1])) break;
    ++end;
  }
  return end;
}

/// The only part that words of the name name; "" for none. `several`: they name more than one.
std::string_view part_of_words(std::string_view name, bool& several) {
  std::string_view part;
  for (std::size_t begin = 0; begin < name.size();) {
    const std::size_t end = end_of_word(name, begin);
    const std::string_view named = part_of_word(name.substr(begin, end - begin));
    several = several || (!part.empty() && !named.empty() && named != part);
    if (part.empty()) part = named;
    begin = std::max(end, begin + 1);
  }
  return several ? std::string_view() : part;
}

}  // namespace

std::string small_letters(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return out;
}

std::string_view part_of_word(std::string_view word) {
  const std::string small = small_letters(word);
  for (const auto& one : kWords) {
    if (small == one.word) return one.part;
  }
  return {};
}

std::string_view part_of_name(std::string_view name) {
  bool several = false;
  return part_of_words(name, several);
}

std::string_view part_of_folder(std::string_view name) {
  bool several = false;
  const std::string_view part = part_of_words(name, several);
  if (!part.empty() || several) return part;
  const std::string small = small_letters(name);
  for (const std::string_view beginning : kBeginnings) {
    if (small.starts_with(beginning)) return beginning == "valid" ? kVal : beginning;
  }
  return {};
}

FolderPart part_of_folders(const std::filesystem::path& folders,
                           std::string_view (*part_of)(std::string_view name)) {
  FolderPart out;
  std::filesystem::path reached;
  for (const std::filesystem::path& folder : folders) {
    reached /= folder;
    const std::string name = folder.string();
    const std::string_view part = part_of(name);
    if (part.empty() || part == out.part) continue;
    if (!out.part.empty()) out.outer = out.folder;
    out.part = part;
    out.folder = reached;
  }
  return out;
}

std::string part_of_file(const std::filesystem::path& name) {
  return part_of_folders(name.parent_path(), part_of_name).part;
}

Diagnostic contradiction_of(const std::filesystem::path& root, const FolderPart& said) {
  return {(root / said.folder).string(),
          "is read as " + said.part + ", by its own name, though the folder " +
              said.outer.generic_string() + " around it names another part",
          "rename one of them if that is wrong"};
}

}  // namespace kdgat::data
