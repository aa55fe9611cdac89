#include "model/detector/config.h"

#include <algorithm>
#include <set>
#include <string>
#include <type_traits>
#include <vector>

#include "kdgat/error.h"
#include "model/detector/fusion_config.h"
#include "model/space/sgmp_config.h"

namespace kdgat::model {

namespace {

using nlohmann::json;

/// Calls visit(name, member) for each entry of the first version of a model of CAN graphs.
template <class Config, class Visit>
void walk_can(Config& c, const Visit& visit) {
  visit("num_ids", c.num_ids);
  visit("node_features", c.node_features);
  if constexpr (std::is_same_v<std::remove_const_t<Config>, VgaeConfig>) {
    visit("hidden_dims", c.hidden_dims);
    visit("latent_dim", c.latent_dim);
  } else {
    visit("hidden", c.hidden);
    visit("layers", c.layers);
  }
  if constexpr (std::is_same_v<std::remove_const_t<Config>, FusionConfig>) {
    visit("method", c.method);
    visit("alpha_steps", c.alpha_steps);
    visit("autoencoder", c.autoencoder);
    visit("classifier", c.classifier);
  } else {
    visit("heads", c.heads);
    visit("embedding_dim", c.embedding_dim);
  }
  if constexpr (std::is_same_v<std::remove_const_t<Config>, GatConfig>) {
    visit("fc_layers", c.fc_layers);
  }
  visit("dropout", c.dropout);
}

/// The same for any model.
template <class Config, class Visit>
void walk(Config& c, const Visit& visit) {
  if constexpr (std::is_same_v<std::remove_const_t<Config>, SgmpConfig>) {
    visit("node_features", c.node_features);
    visit("hidden", c.hidden);
    visit("interactions", c.interactions);
  } else {
    walk_can(c, visit);
  }
}

template <class Config>
json dump(const Config& config) {
  json out = json::object();
  walk(config, [&out](const char* name, const auto& value) { out[name] = value; });
  if constexpr (std::is_same_v<Config, GatConfig>) out["edge_features"] = config.edge_features;
  if constexpr (std::is_same_v<Config, SgmpConfig>) out["scale"] = config.scale;
  std::apply([&](const auto&... f) { ((out[f.name] = config.*(f.member)), ...); }, Config::table());
  return out;
}

bool is_count(const json& value) {
  return value.is_number_integer() && value >= 1 && value <= int64_t{1} << 31;
}

/// Whether the value is one the option's row allows.
template <class Struct, class T>
bool is_allowed(const json& value, const Field<Struct, T>& f) {
  if (!detail::matches<T>(value)) return false;
  if (f.low && (value < *f.low || value > *f.high)) return false;
  return f.choices_.empty() ||
         std::find(f.choices_.begin(), f.choices_.end(), value) != f.choices_.end();
}

template <class Config>
void load(const json& in, Config& config) {
  std::vector<Diagnostic> wrong;
  const auto report = [&wrong](const std::string& name, const std::string& what) {
    wrong.push_back({"", "model configuration: " + name + " " + what, ""});
  };
  std::set<std::string> known;
  if (!in.is_object()) throw Error(ExitCode::kData, "model configuration: not an object");
  walk(config, [&](const char* name, auto& member) {
    using T = std::remove_reference_t<decltype(member)>;
    known.insert(name);
    const auto found = in.find(name);
    if (found == in.end()) return report(name, "is missing");
    if constexpr (std::is_same_v<T, double>) {
      if (!found->is_number() || *found < 0 || *found >= 1) return report(name, "is not in [0, 1)");
    } else if constexpr (std::is_same_v<T, int64_t>) {
      if (!is_count(*found)) return report(name, "is not a positive integer");
    } else if constexpr (std::is_same_v<T, std::string>) {
      if (!found->is_string()) return report(name, "is not a text");
    } else {
      bool sound = found->is_array() && !found->empty();
      if (sound) {
        for (const json& dim : *found) sound = sound && is_count(dim);
      }
      if (!sound) return report(name, "is not a list of positive integers");
    }
    member = found->template get<T>();
  });
  const auto read = [&](const auto& f) {
    known.insert(f.name);
    const auto found = in.find(f.name);
    if (found == in.end()) return;
    if (!is_allowed(*found, f)) return report(f.name, "cannot be " + found->dump());
    found->get_to(config.*(f.member));
  };
  std::apply([&](const auto&... f) { (read(f), ...); }, Config::table());
  if constexpr (std::is_same_v<Config, GatConfig>) {
    read(field("edge_features", &GatConfig::edge_features, "").range(1, 65536));
  }
  if constexpr (std::is_same_v<Config, SgmpConfig>) {
    read(field("scale", &SgmpConfig::scale, "").range(1e-30, 1e30));
  }
  for (const auto& [name, value] : in.items()) {
    if (!known.contains(name)) report(name, "is unknown");
  }
  if (!wrong.empty()) throw Error(ExitCode::kData, std::move(wrong));
}

/// In the published form.
template <class Config, class Sizes>
Config of_sizes(const Sizes& sizes, int64_t num_ids) {
  Config out;
  static_cast<Sizes&>(out) = sizes;
  out.num_ids = num_ids;
  return out;
}

}  // namespace

VgaeConfig VgaeConfig::teacher(int64_t num_ids) {
  return of_sizes<VgaeConfig>(vgae_teacher(), num_ids);
}
VgaeConfig VgaeConfig::student(int64_t num_ids) {
  return of_sizes<VgaeConfig>(vgae_student(), num_ids);
}
GatConfig GatConfig::teacher(int64_t num_ids) {
  return of_sizes<GatConfig>(gat_teacher(), num_ids);
}
GatConfig GatConfig::student(int64_t num_ids) {
  return of_sizes<GatConfig>(gat_student(), num_ids);
}

void to_json(json& out, const VgaeConfig& config) { out = dump(config); }
void from_json(const json& in, VgaeConfig& config) { load(in, config); }
void to_json(json& out, const GatConfig& config) { out = dump(config); }
void from_json(const json& in, GatConfig& config) { load(in, config); }
void to_json(json& out, const FusionConfig& config) { out = dump(config); }
void from_json(const json& in, FusionConfig& config) { load(in, config); }
void to_json(json& out, const SgmpConfig& config) { out = dump(config); }
void from_json(const json& in, SgmpConfig& config) { load(in, config); }

}  // namespace kdgat::model
