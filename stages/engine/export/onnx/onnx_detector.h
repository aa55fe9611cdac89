// The decision of a detector as an ONNX file: trees and tails over the numbers of a window.
#pragma once

#include <string>

#include "engine/decision/detector/detector_model.h"

namespace kdgat::exporting {

/// The bytes of a .onnx file of opset 16 or 18. Operators of the core set alone: a forest of
/// another set is not known everywhere. `hash`: xxh3-128 of the model's file.
///
/// Input, of any number of windows W: x float [W, 15], the columns of
/// engine/data/can/windows/relative_windows.h in their order, finite. Outputs: classifier float
/// [W], log-odds; tails float [W], powers of ten; score float [W], how far the farther of them lies
/// above its threshold for this vehicle, above 0 is flagged where windows stand for themselves. The
/// alarm rule of a model (k of the last n) is the caller's, of both parts; the metadata say
/// "alarm_windows" and "alarm_of", "threshold_classifier" and "threshold_tails".
///
/// Throws Error(kUsage) for another opset, Error(kData) for a tree that no window can pass through.
std::string onnx_detector(const decision::DetectorModel& model, const data::Vehicle& vehicle,
                          const std::string& hash, int opset);

}  // namespace kdgat::exporting
