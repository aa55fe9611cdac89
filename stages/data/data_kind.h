// What an import reads, by what becomes of it. No LibTorch.
#pragma once

namespace kdgat::graph {

enum class DataKind { kLogs, kSpatial, kText, kRatings };

}  // namespace kdgat::graph
