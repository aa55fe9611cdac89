#include "pipeline/memory/legacy_table.h"

#include <cmath>

#include "kdgat/text.h"
#include "pipeline/show/table.h"

namespace kdgat {
namespace {

std::string gigabytes(double value) { return format_number("%.1f GB", value); }

}  // namespace

LegacyComparison legacy_comparison(const MemoryPlan& planned, int64_t hidden_dim,
                                   int64_t num_layers, const RatingSizes& sizes) {
  const double gb = legacy_estimate_gb(hidden_dim, num_layers, std::llround(sizes.users),
                                       std::llround(sizes.items));
  return {hidden_dim,     num_layers,   sizes.users,
          sizes.items,    gb,           std::llround(planned.predicted.value_or(0)),
          planned.mapped, planned.items};
}

std::string legacy_comparison_text(const LegacyComparison& compared) {
  Table table;
  for (const MemoryItem& item : compared.parts) {
    table.add({"  " + item.name, mebibytes(item.bytes)});
  }
  return "published formula  " + gigabytes(compared.legacy_gb) +
         "  = 2 (4 (users + items) H + 4 L H^2 + 4 H) / 2^30 + 0.5 + 0.3, rounded\n" +
         "this engine        " + mebibytes(compared.tensor_bytes) + " of tensors, and " +
         mebibytes(compared.mapped_bytes) + " of graph and features, mapped once\n" + table.text();
}

std::string published_comparisons_text(const std::vector<PublishedComparison>& rows) {
  Table table;
  table.add({"table", "configuration", "hidden_dim", "layers", "published", "formula",
             "the original, measured", "this engine"});
  for (const PublishedComparison& row : rows) {
    table.add({row.table, row.name, std::to_string(row.hidden_dim), std::to_string(row.num_layers),
               gigabytes(row.published_gb), gigabytes(row.legacy_gb),
               mebibytes(row.original_mib * (1 << 20)), mebibytes(row.tensor_bytes)});
  }
  return table.text();
}

}  // namespace kdgat
