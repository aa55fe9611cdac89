#include "model/detector/config.h"

#include "model/detector/fusion_config.h"
#include "model/layers/config_json.h"

namespace kdgat::model {

using nlohmann::json;

VgaeConfig VgaeConfig::teacher(int64_t num_ids) {
  VgaeConfig c;
  c.num_ids = num_ids;
  return c;
}

VgaeConfig VgaeConfig::student(int64_t num_ids) {
  VgaeConfig c;
  c.num_ids = num_ids;
  c.hidden_dims = {80, 40, 16};
  c.latent_dim = 16;
  c.heads = 1;
  c.embedding_dim = 4;
  c.dropout = 0.1;
  return c;
}

GatConfig GatConfig::teacher(int64_t num_ids) {
  GatConfig c;
  c.num_ids = num_ids;
  c.fc_layers = 2;
  return c;
}

GatConfig GatConfig::student(int64_t num_ids) {
  GatConfig c;
  c.num_ids = num_ids;
  c.hidden = 24;
  c.layers = 2;
  c.heads = 4;
  c.embedding_dim = 8;
  c.fc_layers = 3;
  c.dropout = 0.1;
  return c;
}

void to_json(json& out, const VgaeConfig& config) { out = dump_config(config); }
void from_json(const json& in, VgaeConfig& config) { load_config(in, config); }
void to_json(json& out, const GatConfig& config) { out = dump_config(config); }
void from_json(const json& in, GatConfig& config) { load_config(in, config); }
void to_json(json& out, const FusionConfig& config) { out = dump_config(config); }
void from_json(const json& in, FusionConfig& config) { load_config(in, config); }

}  // namespace kdgat::model
