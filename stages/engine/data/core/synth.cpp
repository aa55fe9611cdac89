#include "engine/data/core/synth.h"

#include <string>
#include <vector>

namespace kdgat::data {

using nlohmann::json;

namespace {

const char* default_kind(Domains domains) { return domains.front()->synth_kinds().front().name; }

/// Every option that has a default, with its value.
json complete(Domains domains, const json& values) {
  json out = json::object();
  const json schema = synth_schema(domains);
  const json& known = schema.at("properties");
  for (const auto& [name, option] : known.items()) {
    out[name] = values.contains(name) ? values.at(name) : option.at("default");
  }
  for (const auto& [name, value] : values.items()) {
    if (!known.contains(name)) throw Error(ExitCode::kUsage, "unknown option " + name);
  }
  return out;
}

}  // namespace

json synth_schema(Domains domains) {
  json properties = json::object();
  std::vector<std::string> kinds;
  std::string help;
  for (const Domain* domain : domains) {
    for (const SynthKind& kind : domain->synth_kinds()) {
      kinds.emplace_back(kind.name);
      help.append(help.empty() ? "" : "; ").append(kind.name).append(": ").append(kind.summary);
    }
    const json schemas = domain->synth_schema().at("properties");
    for (const auto& [name, schema] : schemas.items()) {
      properties.emplace(name, schema);
    }
  }
  properties["kind"] = {{"type", "string"},
                        {"enum", kinds},
                        {"description", help + "."},
                        {"default", default_kind(domains)}};
  return {
      {"type", "object"}, {"additionalProperties", false}, {"properties", std::move(properties)}};
}

const Domain& domain_of_synth(Domains domains, const json& values) {
  const std::string wanted =
      values.contains("kind") ? values.at("kind").get<std::string>() : default_kind(domains);
  for (const Domain* domain : domains) {
    for (const SynthKind& kind : domain->synth_kinds()) {
      if (wanted == kind.name) return *domain;
    }
  }
  throw Error(ExitCode::kUsage, "kind: " + wanted + " is not a kind of synthetic data");
}

json synth_identity(Domains domains, const json& values) {
  const json all = complete(domains, values);
  json out = domain_of_synth(domains, all).synth_identity(all);
  if (out.at("kind") == default_kind(domains)) out.erase("kind");
  return out;
}

void write_synthetic(Domains domains, const std::filesystem::path& folder, const json& values,
                     const json& import, const std::function<bool()>& cancelled) {
  const json all = complete(domains, values);
  domain_of_synth(domains, all).synthesize(folder, all, import, cancelled);
}

void stream_synthetic(Domains domains, const json& values,
                      const std::function<void(std::string_view)>& write,
                      const std::function<bool()>& cancelled) {
  const json all = complete(domains, values);
  domain_of_synth(domains, all).stream_synthetic(all, write, cancelled);
}

std::string synth_headline(Domains domains, const json& values, const json& facts) {
  const json all = complete(domains, values);
  return domain_of_synth(domains, all).synth_headline(all, facts);
}

}  // namespace kdgat::data
