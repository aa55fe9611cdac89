// The ranking stage: `kdgat score` with a model of the stage equivariant. Ranks the ligands of the
// model's catalogue for each pocket of files of molecules, with nothing but the model file. Writes
// no file: what it finds it sends to the host.
#pragma once

#include "fields/molecules/ranking/ranking_options.h"
#include "kdgat/stage.h"

namespace kdgat::ranking {

struct Ranking {
  using Options = RankingOptions;
  static StageInfo info();
  static nlohmann::json plan(const Options& options, const Request& request);
  /// Sends {"what":"columns"}, the names of what a row has, and for each ligand, by pocket and
  /// rank, {"event":"metrics","what":"row","index": rank,
  /// "values":{"molecule","rank","ligand","distance"}}. The result counts molecules.
  static nlohmann::json run(const Options& options, const Request& request, Host& host);
};

}  // namespace kdgat::ranking
