#include "engine/data/core/description.h"

#include <cstdint>

#include "kdgat/text.h"

namespace kdgat::data {

std::string FolderNames::name(DescribedTable& table, const std::string& path) {
  const auto slash = path.rfind('/');
  const std::string folder = slash == std::string::npos ? "" : path.substr(0, slash);
  if (folder != last_ && !folder.empty()) table.add_heading(folder + "/");
  last_ = folder;
  return folder.empty() ? path : "  " + path.substr(slash + 1);
}

std::string sizes_text(const nlohmann::json& counts) {
  std::string out;
  for (const char* at : {"p50", "p95", "p99", "max"}) {
    if (!out.empty()) out += '/';
    out += std::to_string(counts.at(at).get<int64_t>());
  }
  return out;
}

std::string parts_text(const nlohmann::json& imported) {
  const nlohmann::json& parts = imported.at("parts");
  int64_t test = 0;
  for (const auto& [name, graphs] : parts.items()) {
    if (name.starts_with("test")) test += graphs.get<int64_t>();
  }
  return ": train " + grouped(parts.value("train", int64_t{0})) + ", val " +
         grouped(parts.value("val", int64_t{0})) + ", test " + grouped(test);
}

std::string place_text(const nlohmann::json& imported) {
  return (imported.at("reused").get<bool>() ? "; everything is up to date in " : "; written to ") +
         imported.at("folder").get<std::string>() + "\n";
}

}  // namespace kdgat::data
