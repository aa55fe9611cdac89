#include "engine/graph/store_file.h"

#include "engine/file/safetensors_header.h"
#include "engine/graph/verified_files.h"
#include "kdgat/text.h"

namespace kdgat::graph {

using nlohmann::json;

void to_json(json& out, const Source& source) {
  out = {{"path", escaped_name(source.path)},
         {"scenario", escaped_name(source.scenario)},
         {"role", source.role},
         {"format", source.format},
         {"rows", source.rows},
         {"malformed", source.malformed},
         {"first_graph", source.first_graph},
         {"graphs", source.graphs}};
  if (source.independent) out["independent"] = true;
  if (source.group >= 0) out["group"] = source.group;
}

void from_json(const json& in, Source& source) {
  in.at("path").get_to(source.path);
  in.at("scenario").get_to(source.scenario);
  in.at("role").get_to(source.role);
  in.at("format").get_to(source.format);
  in.at("rows").get_to(source.rows);
  in.at("malformed").get_to(source.malformed);
  in.at("first_graph").get_to(source.first_graph);
  in.at("graphs").get_to(source.graphs);
  source.independent = in.value("independent", false);
  source.group = in.value("group", int64_t{-1});
}

bool StoreFile::is_store(const file::SafetensorsFile& file, const StoreKind& kind) {
  const auto format = file.metadata().find("format");
  return format != file.metadata().end() && format->second == kind.format;
}

StoreFile::StoreFile(const std::filesystem::path& path, const StoreKind& kind, Check check)
    : file_(file::SafetensorsFile::open(path)) {
  if (!is_store(file_, kind)) {
    throw Error(ExitCode::kData, path.string() + ": not a " + kind.name, kind.maker);
  }
  if (text("version") != std::to_string(kind.version)) {
    throw Error(ExitCode::kData,
                path.string() + ": " + kind.name + " of format version " + text("version") +
                    ", this program reads " + std::to_string(kind.version),
                "import the data again");
  }
  content_hash_ = file_.header_hash();
  if (content_hash_ != text(file::kHeaderHash))
    throw refuse(path, "the header differs from its hash");
  check_data(check);
  read("sources", sources_);
  read("options", options_);
  read("facts", facts_);
  if (options_.is_null()) options_ = json::object();  // made without any
  if (!options_.is_object()) throw refuse(path, "malformed metadata 'options': not an object");
  if (!facts_.is_object()) throw refuse(path, "malformed metadata 'facts': not an object");
}

void StoreFile::check_data(Check check) const {
  if (check == Check::kRanges) return;
  const std::string identity = identity_of(path(), content_hash_);
  if (check == Check::kOnce && is_verified(identity)) return;
  std::vector<Diagnostic> faults = file::verify_hashes(file_);
  for (Diagnostic& fault : faults) fault.hint = "the file is damaged: import the data again";
  if (!faults.empty()) throw Error(ExitCode::kData, std::move(faults));
  remember_verified(identity);
}

json StoreFile::fact(const char* key) const {
  const json::json_pointer place(key);
  return facts_.contains(place) ? facts_.at(place) : json();
}

void StoreFile::require_facts(std::initializer_list<std::pair<const char*, json>> wanted) const {
  for (const auto& [key, value] : wanted) {
    if (fact(key) == value) continue;
    throw refuse(path(), std::string("malformed metadata 'facts': ") + key +
                             " is not what the data hold, " + file::json_text(value).substr(0, 60));
  }
}

void StoreFile::require_numbers(std::initializer_list<const char*> keys) const {
  for (const char* key : keys) {
    if (fact(key).is_number()) continue;
    throw refuse(path(), std::string("malformed metadata 'facts': ") + key + " is not a number");
  }
}

void StoreFile::require_lists(std::initializer_list<const char*> keys) const {
  for (const char* key : keys) {
    if (fact(key).is_array()) continue;
    throw refuse(path(), std::string("malformed metadata 'facts': ") + key + " is not a list");
  }
}

int64_t StoreFile::mapped_bytes() const {
  int64_t bytes = 0;
  for (const auto& [name, tensor] : file_.tensors()) bytes += static_cast<int64_t>(tensor.bytes);
  return bytes;
}

const std::string& StoreFile::text(const std::string& key) const {
  const auto found = file_.metadata().find(key);
  if (found == file_.metadata().end()) throw refuse(path(), "no metadata '" + key + "'");
  return found->second;
}

Error StoreFile::refuse(const std::filesystem::path& path, const std::string& reason) {
  return Error(ExitCode::kData, path.string() + ": " + reason);
}

std::map<std::string, std::string> store_metadata(const StoreKind& kind,
                                                  const std::vector<Source>& sources,
                                                  const json& options, const json& facts) {
  return {{"format", kind.format},
          {"version", std::to_string(kind.version)},
          {"sources", file::json_text(sources)},
          {"options", file::json_text(options)},
          {"facts", file::json_text(facts)}};
}

}  // namespace kdgat::graph
