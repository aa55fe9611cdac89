#include "pipeline/verbs/commands/typed_words.h"

#include <algorithm>
#include <filesystem>

#include "kdgat/error.h"
#include "pipeline/system/home_path.h"

namespace kdgat {

Words with_values(const Words& words) {
  Words out;
  bool goes_on = false;
  for (const std::string& word : words) {
    const bool is_sign = word == "=" && !out.empty();
    if (is_sign || goes_on) {
      out.back() += word;
    } else {
      out.push_back(word);
    }
    goes_on = is_sign;
  }
  return out;
}

bool is_flag(const std::string& word) { return word.size() > 1 && word[0] == '-'; }

std::string key_of(const std::string& flag) {
  std::string key = flag.substr(std::min(flag.find_first_not_of('-'), flag.size()));
  std::replace(key.begin(), key.end(), '-', '_');
  return key;
}

std::string root_said(const Words& words) {
  std::string root = "runs";
  const std::string flag = "--root", sign = "--root=";
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i] == flag && i + 1 < words.size()) root = words[i + 1];
    if (words[i].starts_with(sign)) root = words[i].substr(sign.size());
  }
  std::string plain;
  for (const char c : root) {
    if (c != '\'' && c != '"' && c != '\\') plain += c;
  }
  std::error_code ignored;
  try {
    return expand_home(std::filesystem::exists(root, ignored) ? root : plain);
  } catch (const Error&) {
    return plain;
  }
}

}  // namespace kdgat
