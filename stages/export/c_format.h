// Exports as C: written, compiled and held against the native engine.
#pragma once

#include "export/export_formats.h"

namespace kdgat::exporting {

void export_detector_c(Making& making, const decision::DetectorModel& model,
                       const data::Vehicle& vehicle);
void export_network_c(Making& making, const MadeNetwork& made);

}  // namespace kdgat::exporting
