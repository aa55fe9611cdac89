#include "engine/decision/detector/sealed_json.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "engine/file/safetensors.h"
#include "kdgat/error.h"

namespace kdgat::decision {
namespace {

using nlohmann::json;

constexpr const char* kSeal = "hash";

/// The same text for the same content, however a file is laid out.
std::string canonical_text(const json& content) {
  return content.dump(-1, ' ', false, json::error_handler_t::replace);
}

std::string seal_of(const json& content) {
  const std::string text = canonical_text(content);
  return file::hash_bytes(text.data(), text.size());
}

}  // namespace

std::string sealed_text(json content) {
  content[kSeal] = seal_of(content);
  return canonical_text(content) + "\n";
}

void check_seal(json& content, const std::filesystem::path& file,
                std::initializer_list<std::string_view> members, const Warn& warn) {
  const std::string name = file.string();
  for (const auto& [member, value] : content.items()) {
    if (member == kSeal || std::find(members.begin(), members.end(), member) != members.end()) {
      continue;
    }
    throw Error(ExitCode::kData, "has a member \"" + member + "\" that this version does not know",
                "the file is damaged, or a later version of kdgat wrote it", name);
  }
  const auto member = content.find(kSeal);
  if (member == content.end()) {
    if (warn) {
      warn(name +
           " has no hash, so damage to it is not noticed: an earlier version of kdgat wrote "
           "it. Train it again to get one");
    }
    return;
  }
  const json hash = std::move(*member);
  content.erase(member);
  if (hash == seal_of(content)) return;
  throw Error(ExitCode::kData, "its content does not match its hash: it is damaged or was edited",
              "copy it again, or train it again", name);
}

}  // namespace kdgat::decision
