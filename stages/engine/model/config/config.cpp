#include "engine/model/config/config.h"

#include <cmath>
#include <utility>

#include "engine/model/config/config_json.h"
#include "engine/model/config/fusion_config.h"

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

/// The embedding of identifiers.
LeastSize size_of_input(const InputForm& form, int64_t num_ids, int64_t width) {
  const bool is_hashed = form.id_embedding == "hashed";
  const auto ids = static_cast<double>(num_ids);
  LeastSize out;
  out.add(is_hashed ? static_cast<double>(form.id_buckets) : ids, static_cast<double>(width));
  if (is_hashed) out.add(ids, 2);
  return out;
}

/// Linear layers, all but the last as wide as their input.
void add_perceptron(LeastSize& to, double width, double outputs, double layers) {
  to.add(width, width, layers - 1);
  to.add(width, outputs);
}

}  // namespace

LeastSize VgaeConfig::least_size() const {
  LeastSize out = has_ids ? size_of_input(*this, num_ids, embedding_dim) : LeastSize();
  const auto ids = static_cast<double>(num_ids), latent = static_cast<double>(latent_dim);
  double width =
      (has_ids ? static_cast<double>(embedding_dim) : 0) + static_cast<double>(features());
  double last = 0;
  const bool has_latent = hidden_dims.size() > 1 && hidden_dims.back() == latent_dim;
  for (std::size_t i = 0; i + (has_latent ? 1 : 0) < hidden_dims.size(); ++i) {
    last = static_cast<double>(hidden_dims[i]);
    const int64_t parts = i == 0 ? heads : 1;
    const double joined = hidden_dims[i] % parts == 0 ? last : last * static_cast<double>(parts);
    out.add(width, joined);
    width = joined;
  }
  out.add(width, latent, 2);
  out.add(latent, last);
  out.add(last, static_cast<double>(features()));
  if (has_ids) out.add(latent, ids);
  add_perceptron(out, latent, has_ids ? ids : static_cast<double>(features()), 3);
  return out;
}

LeastSize GatConfig::least_size() const {
  LeastSize out = has_ids ? size_of_input(*this, num_ids, embedding_dim) : LeastSize();
  const double wide = static_cast<double>(width());
  const auto count = static_cast<double>(layers);
  const double input =
      has_ids ? static_cast<double>(embedding_dim) + static_cast<double>(node_features - 1)
              : static_cast<double>(node_features);
  const auto edges = static_cast<double>(reads_edges() ? edge_features : 0);
  const double first = conv == "gatv2" || conv == "sage" ? 2 : conv == "transformer" ? 4 : 1;
  if (conv == "pna") {  // two of its inputs' width, one of all statistics, one of the results
    constexpr double kJoined = 13;
    for (const auto& [width, times] : {std::pair{input, 1.0}, {wide, count - 1}}) {
      out.add(width, width, 2 * times);
      out.add(kJoined * width, wide, times);
    }
    out.add(wide, wide, count);
  } else {
    out.add(input, wide, first);
    out.add(wide, wide, first * (count - 1));
  }
  if (is_gin() || conv == "gine") out.add(wide, wide, count);
  if (conv == "gatv2" || conv == "transformer") out.add(edges, wide, count);
  const double units = jk == "lstm" ? std::floor(count * wide / 2) : 0;
  if (jk == "lstm") out.add(4 * units, units + wide, 2);
  add_perceptron(out, jk == "lstm" ? wide : wide * count, static_cast<double>(classes),
                 static_cast<double>(fc_layers));
  return out;
}

LeastSize FusionConfig::least_size() const {
  LeastSize out;
  if (method == "weighted") return out;
  const auto width = static_cast<double>(hidden);
  out.add(width, 1);
  out.add(width, width, static_cast<double>(layers - 1));
  if (method != "mlp") out.add(width, static_cast<double>(alpha_steps));
  return out;
}

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
