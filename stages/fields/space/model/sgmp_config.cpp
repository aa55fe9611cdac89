#include "fields/space/model/sgmp_config.h"

#include "engine/model/config/config_json.h"

namespace kdgat::space {

void to_json(nlohmann::json& out, const SgmpConfig& config) { out = model::dump_config(config); }
void from_json(const nlohmann::json& in, SgmpConfig& config) { model::load_config(in, config); }

model::LeastSize SgmpConfig::least_size() const {
  const auto width = static_cast<double>(hidden), blocks = static_cast<double>(interactions);
  model::LeastSize out;
  out.add(static_cast<double>(node_features), width);
  out.add(width, width);
  out.add(7 * width, 4 * width, blocks);
  out.add(4 * width, 2 * width, blocks);
  out.add(2 * width, width, blocks);
  return out;
}

}  // namespace kdgat::space
