// Graphs of windows relative to what is usual on the vehicle, of logs whose frames were read: those
// of training logs as learn_windows.h has them, those of other logs as they are scored later, each
// relative to the profile of its vehicle or to one of the log's own beginning.
#pragma once

#include <functional>

#include "engine/data/can/can_options.h"
#include "engine/data/core/import_report.h"
#include "engine/graph/graph_store.h"

namespace kdgat::data {

/// Appends them to `out`, which has the frames and the sources, in the order of these, and fills in
/// how many each has. Says in `report` which logs have none, and why. `check` is called now and
/// then; it may throw.
void add_relative_graphs(const CanImportOptions& options, graph::GraphStoreData& out,
                         ImportReport& report, const std::function<void()>& check);

}  // namespace kdgat::data
