// One flipped bit anywhere in a store of texts: store_flips.h.
#include <catch2/catch.hpp>

#include "fields/texts/data/text_store.h"
#include "support/graphs/store_flips.h"

namespace kdgat::texts {
namespace {

/// A sum over what every number that indexes leads to.
void use_texts(const std::filesystem::path& path) {
  const TextStore store = TextStore::open(path, graph::Check::kRanges);
  float sum = 0;
  for (std::size_t n = 0; n + 1 < store.row_ptr().size(); ++n) {
    for (int32_t e = store.row_ptr()[n]; e < store.row_ptr()[n + 1]; ++e) {
      const auto column = static_cast<std::size_t>(store.col()[static_cast<std::size_t>(e)]);
      sum += store.value()[static_cast<std::size_t>(e)] + static_cast<float>(store.y()[column]);
    }
    if (store.doc_mask()[n])
      sum +=
          static_cast<float>(store.class_names().at(static_cast<std::size_t>(store.y()[n])).size());
  }
  CHECK((sum == sum || sum != sum));
  store.verify();
}

}  // namespace

TEST_CASE("a flipped bit of a store of texts is found, and never leads outside of the file",
          "[flips]") {
  graph::check_flips({test::synth_of("text", 40, 30), use_texts});
}

}  // namespace kdgat::texts
