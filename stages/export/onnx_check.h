// The ONNX file of an export, run by ONNX Runtime where this machine's Python has it.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "engine/decision/detector/detector_model.h"
#include "engine/native/networks.h"
#include "export/check.h"
#include "export/check_windows.h"

namespace kdgat::exporting {

/// In the folder of an export: windows with the scores that they have.
inline constexpr const char* kVectorsFile = "vectors.safetensors";
/// What runs the file on them; for users to read, too.
inline constexpr const char* kCheckScript = "check.py";

/// Writes both into `folder`: the windows, at most kMostVectors of them, with the scores of the
/// native engine.
void write_vectors(const std::filesystem::path& folder, native::GraphNetwork& network,
                   const CheckWindows& windows);
inline constexpr int64_t kMostVectors = 2000;
/// The same of a detector: windows of made-up traffic of the vehicle, as numbers.
void write_detector_vectors(const std::filesystem::path& folder,
                            const decision::DetectorModel& model, const data::Vehicle& vehicle);

/// Runs check.py there. None where Python or ONNX Runtime is not there: `why` says which. Throws
/// Error(kData) where it fails.
std::optional<Check> check_by_runtime(const std::filesystem::path& folder, const std::string& file,
                                      double threshold, std::string& why);

}  // namespace kdgat::exporting
