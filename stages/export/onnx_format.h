// Exports as ONNX: written, and run by ONNX Runtime.
#pragma once

#include "export/export_formats.h"

namespace kdgat::exporting {

void export_detector_onnx(Making& making, const decision::DetectorModel& model,
                          const data::Vehicle& vehicle);
void export_network_onnx(Making& making, const MadeNetwork& made);

}  // namespace kdgat::exporting
