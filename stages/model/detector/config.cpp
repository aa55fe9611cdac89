#include "model/detector/config.h"

#include "model/detector/fusion_config.h"
#include "model/layers/config_json.h"

namespace kdgat::model {

using nlohmann::json;

namespace {

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

void to_json(json& out, const VgaeConfig& config) { out = dump_config(config); }
void from_json(const json& in, VgaeConfig& config) { load_config(in, config); }
void to_json(json& out, const GatConfig& config) { out = dump_config(config); }
void from_json(const json& in, GatConfig& config) { load_config(in, config); }
void to_json(json& out, const FusionConfig& config) { out = dump_config(config); }
void from_json(const json& in, FusionConfig& config) { load_config(in, config); }

std::string size_name(VgaeSizes sizes) {
  const auto is = [&sizes](const VgaeSizes& known) {
    sizes.dropout = known.dropout;
    return sizes == known;
  };
  return is(vgae_student()) ? "student" : is(vgae_teacher()) ? "teacher" : "custom";
}

std::string size_name(GatSizes sizes) {
  const auto is = [&sizes](const GatSizes& known) {
    sizes.fc_layers = known.fc_layers;
    sizes.dropout = known.dropout;
    return sizes == known;
  };
  return is(gat_student()) ? "student" : is(gat_teacher()) ? "teacher" : "custom";
}

}  // namespace kdgat::model
