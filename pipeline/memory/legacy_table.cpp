#include "pipeline/memory/legacy_table.h"

#include <cmath>

#include "kdgat/text.h"
#include "pipeline/show/table.h"

namespace kdgat {
namespace {

using nlohmann::json;

std::string gigabytes(double value) { return format_number("%.1f GB", value); }

}  // namespace

json legacy_comparison(const json& planned, const LegacyNet& net) {
  return {{"hidden_dim", net.hidden_dim},
          {"num_layers", net.num_layers},
          {"num_users", net.users},
          {"num_items", net.items},
          {"legacy_gb", legacy_estimate_gb(net.hidden_dim, net.num_layers, std::llround(net.users),
                                           std::llround(net.items))},
          {"tensor_bytes", planned.at("predicted")},
          {"mapped_bytes", planned.at("mapped")},
          {"items", planned.at("items")}};
}

std::string legacy_comparison_text(const json& compared) {
  Table table;
  for (const json& item : compared.at("items")) {
    table.add({"  " + item.at("name").get<std::string>(), mebibytes(item.at("bytes"))});
  }
  return "published formula  " + gigabytes(compared.at("legacy_gb")) +
         "  = 2 (4 (users + items) H + 4 L H^2 + 4 H) / 2^30 + 0.5 + 0.3, rounded\n" +
         "this engine        " + mebibytes(compared.at("tensor_bytes")) + " of tensors, and " +
         mebibytes(compared.at("mapped_bytes")) + " of graph and features, mapped once\n" +
         table.text();
}

json published_comparison(json compared, const PublishedEstimate& published) {
  compared.update({{"table", published.table},
                   {"name", published.name},
                   {"published_gb", published.gb},
                   {"original_mib", published.original_mib}});
  return compared;
}

std::string published_comparisons_text(const json& rows) {
  Table table;
  table.add({"table", "configuration", "hidden_dim", "layers", "published", "formula",
             "the original, measured", "this engine"});
  for (const json& row : rows) {
    table.add({row.at("table"), row.at("name"), row.at("hidden_dim").dump(),
               row.at("num_layers").dump(), gigabytes(row.at("published_gb")),
               gigabytes(row.at("legacy_gb")),
               mebibytes(row.at("original_mib").get<double>() * (1 << 20)),
               mebibytes(row.at("tensor_bytes"))});
  }
  return table.text();
}

}  // namespace kdgat
