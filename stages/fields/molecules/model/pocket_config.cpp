// A pocket encoder's configuration as it stands in model files.
#include "engine/model/config/config_json.h"
#include "fields/molecules/model/couplings.h"
#include "fields/molecules/model/pocket_encoder.h"

namespace kdgat::molecules {
namespace {

constexpr const char *kEquivariant = "equivariant", *kPublished = "published", *kNone = "none";

struct SavedConfig {
  std::string hidden_irreps, pooling, norm;
  int64_t layers = 0, output = 0, radial_basis = 0, radial_hidden = 0, feature_hidden = 0,
          pooling_hidden = 0;
  double dropout = 0;
  int64_t atom_kinds = 0, plain = 0;
  bool multi_hop = true, nonbonded = true;
  bool layer_norm = true;  // where `norm` names the form of the norms of v3 alike
  bool v3 = false, enhanced_invariants = false, improved_layers = false, rms_norm = false;
  int64_t heads = 4;
  double angle_weight = 0.5, dihedral_weight = 0.5, nonbonded_weight = 0.5;

  template <class Config, class Visit>
  static void entries(Config& c, const Visit& visit) {
    visit("hidden_irreps", c.hidden_irreps);
    visit("num_layers", c.layers);
    visit("output_dim", c.output);
    visit("num_radial_basis", c.radial_basis);
    visit("radial_hidden_dim", c.radial_hidden);
    visit("feature_hidden_dim", c.feature_hidden);
    visit("pooling_hidden_dim", c.pooling_hidden);
    visit("pooling_type", c.pooling);
    visit("norm", c.norm);
    visit("dropout", c.dropout);
  }
  static auto later() {
    return std::tuple{
        field("atom_kinds", &SavedConfig::atom_kinds, "").range(0, 1e6),
        field("plain_numbers", &SavedConfig::plain, "").range(0, 1e6),
        field("use_multi_hop", &SavedConfig::multi_hop, ""),
        field("use_nonbonded", &SavedConfig::nonbonded, ""),
        field("use_v3_model", &SavedConfig::v3, ""),
        field("use_layer_norm", &SavedConfig::layer_norm, ""),
        field("use_enhanced_invariants", &SavedConfig::enhanced_invariants, ""),
        field("use_improved_layers", &SavedConfig::improved_layers, ""),
        field("rms_norm", &SavedConfig::rms_norm, ""),
        field("num_attention_heads", &SavedConfig::heads, "").range(1, 1024),
        field("initial_angle_weight", &SavedConfig::angle_weight, "").range(0, 1e3),
        field("initial_dihedral_weight", &SavedConfig::dihedral_weight, "").range(0, 1e3),
        field("initial_nonbonded_weight", &SavedConfig::nonbonded_weight, "").range(0, 1e3)};
  }
};

}  // namespace

void to_json(nlohmann::json& out, const PocketConfig& config) {
  SavedConfig saved;
  saved.hidden_irreps = config.hidden.text();
  saved.pooling = config.pooling;
  const bool has_norm = config.norm || config.v3;
  saved.norm = !has_norm ? kNone : config.published_norm ? kPublished : kEquivariant;
  saved.layers = config.layers;
  saved.output = config.output;
  saved.radial_basis = config.radial_basis;
  saved.radial_hidden = config.radial_hidden;
  saved.feature_hidden = config.feature_hidden;
  saved.pooling_hidden = config.pooling_hidden;
  saved.dropout = config.dropout;
  saved.atom_kinds = config.atom_kinds;
  saved.plain = config.plain;
  saved.multi_hop = config.multi_hop;
  saved.nonbonded = config.nonbonded;
  saved.v3 = config.v3;
  saved.layer_norm = config.norm;
  saved.enhanced_invariants = config.enhanced_invariants;
  saved.improved_layers = config.improved_layers;
  saved.rms_norm = config.rms_norm;
  saved.heads = config.heads;
  saved.angle_weight = config.angle_weight;
  saved.dihedral_weight = config.dihedral_weight;
  saved.nonbonded_weight = config.nonbonded_weight;
  out = model::dump_config(saved);
}

void from_json(const nlohmann::json& in, PocketConfig& config) {
  SavedConfig saved;
  model::load_config(in, saved);
  const auto refuse = [](const std::string& what) {
    throw Error(ExitCode::kData, "model configuration: " + what);
  };
  try {
    config.hidden = Irreps::parse(saved.hidden_irreps);
  } catch (const Error& error) {
    refuse(error.diagnostics().front().message);
  }
  if (saved.norm != kEquivariant && saved.norm != kPublished && saved.norm != kNone) {
    refuse("norm cannot be " + saved.norm);
  }
  const auto& poolings = kPoolings;
  if (std::find(std::begin(poolings), std::end(poolings), saved.pooling) == std::end(poolings)) {
    refuse("pooling_type cannot be " + saved.pooling);
  }
  config.pooling = saved.pooling;
  config.norm = saved.norm != kNone;
  config.published_norm = saved.norm == kPublished;
  config.layers = saved.layers;
  config.output = saved.output;
  config.radial_basis = saved.radial_basis;
  config.radial_hidden = saved.radial_hidden;
  config.feature_hidden = saved.feature_hidden;
  config.pooling_hidden = saved.pooling_hidden;
  config.dropout = saved.dropout;
  config.atom_kinds = saved.atom_kinds;
  config.plain = saved.plain;
  config.multi_hop = saved.multi_hop;
  config.nonbonded = saved.nonbonded;
  config.v3 = saved.v3;
  if (saved.v3) config.norm = saved.layer_norm;
  config.enhanced_invariants = saved.enhanced_invariants;
  config.improved_layers = saved.improved_layers;
  config.rms_norm = saved.rms_norm;
  config.heads = saved.heads;
  config.angle_weight = saved.angle_weight;
  config.dihedral_weight = saved.dihedral_weight;
  config.nonbonded_weight = saved.nonbonded_weight;
  if (config.pooling_hidden % config.heads != 0) {
    refuse("num_attention_heads " + std::to_string(config.heads) + " does not divide " +
           std::to_string(config.pooling_hidden));
  }
}

model::LeastSize PocketConfig::least_size() const {
  model::LeastSize out;
  const auto weights = static_cast<double>(edge_weights(hidden));
  const auto width = static_cast<double>(radial_hidden);
  const auto deep = static_cast<double>(layers);
  out.add(width, weights, (nonbonded ? 2 : 1) * deep);
  out.add(width, width, (nonbonded ? 2 : 1) * deep);
  out.add(static_cast<double>(hidden.channels()), static_cast<double>(output));
  out.add(static_cast<double>(feature_hidden), static_cast<double>(feature_hidden));
  out.add(static_cast<double>(pooling_hidden), static_cast<double>(pooling_hidden));
  out.add(static_cast<double>(atom_kinds), static_cast<double>(hidden.mul[0]));
  out.add(static_cast<double>(plain), static_cast<double>(kPlainHidden));
  if (plain > 0) out.add(static_cast<double>(kPlainHidden), static_cast<double>(output));
  return out;
}

}  // namespace kdgat::molecules
