#include "fields/space/model/sgmp_config.h"

#include "engine/model/config/config_json.h"

namespace kdgat::model {

void to_json(nlohmann::json& out, const SgmpConfig& config) { out = dump_config(config); }
void from_json(const nlohmann::json& in, SgmpConfig& config) { load_config(in, config); }

LeastSize SgmpConfig::least_size() const {
  const auto width = static_cast<double>(hidden), blocks = static_cast<double>(interactions);
  LeastSize out;
  out.add(static_cast<double>(node_features), width);
  out.add(width, width);
  out.add(7 * width, 4 * width, blocks);
  out.add(4 * width, 2 * width, blocks);
  out.add(2 * width, width, blocks);
  return out;
}

}  // namespace kdgat::model
