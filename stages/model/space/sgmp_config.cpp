#include "model/space/sgmp_config.h"

#include "model/layers/config_json.h"

namespace kdgat::model {

void to_json(nlohmann::json& out, const SgmpConfig& config) { out = dump_config(config); }
void from_json(const nlohmann::json& in, SgmpConfig& config) { load_config(in, config); }

}  // namespace kdgat::model
