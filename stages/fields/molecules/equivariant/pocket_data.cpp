#include "fields/molecules/equivariant/pocket_data.h"

#include "engine/data/core/graph_domain.h"
#include "kdgat/error.h"

namespace kdgat::equivariant {

std::vector<int32_t> PocketData::ligands(const std::vector<int64_t>& ids) const {
  std::vector<int32_t> out;
  out.reserve(ids.size());
  for (const int64_t id : ids) out.push_back(store.ligand()[static_cast<std::size_t>(id)]);
  return out;
}

PocketData open_pockets(const std::filesystem::path& folder) {
  PocketData out{molecules::MoleculeStore::open(folder / data::kStoreName), {}, {}, {}};
  if (out.store.embedding_width() == 0) {
    throw Error(ExitCode::kData, "the ligands have no embeddings: there is nothing to learn",
                "import the data with data.labels and data.embeddings", out.store.path().string());
  }
  const auto labelled = [&](const char* part) {
    std::vector<int64_t> ids = out.store.in_part(part);
    std::erase_if(ids, [&](int64_t id) { return out.store.label_of(id) < 0; });
    return ids;
  };
  out.train = labelled("train");
  out.val = labelled("val");
  out.test = labelled("test");
  if (out.train.empty()) {
    throw Error(ExitCode::kData, "no training molecule has a ligand",
                "data.labels names the file that says which", out.store.path().string());
  }
  return out;
}

}  // namespace kdgat::equivariant
