// A trained classifier or autoencoder as C: one source that judges a bus, frame by frame, with the
// same scores and alarms as the native engine.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "engine/export/c/c_source.h"
#include "engine/file/safetensors.h"
#include "engine/model/config/model_header.h"

namespace kdgat::exporting {

struct NetworkCOptions {
  std::string name = "detector";  ///< of the files; a word of C
  double threshold = 0;           ///< what scores above it is flagged
  /// The threshold is of raw scores (log-odds), as one that was calibrated on a log's beginning is.
  bool on_raw = false;
  /// Weights of one byte with a scale for each output, and for each id; else floats.
  bool int8 = false;
  std::string hash;  ///< of the model's file, for alarms and the header
};

/// Largest window that is exported: frames.
inline constexpr int64_t kMostRows = 4096;

/// NAME.c, NAME.h, main.c (reads candump), check.c with vectors.h, CMakeLists.txt. What the vectors
/// want was computed by the native engine at the portable level, which is the process' level
/// meanwhile: call it while no other thread computes. With int8 it computes with the same rounded
/// weights, so that the bits are the same then too.
///
/// Throws Error(kData) for a file that is damaged, or a model that C cannot say: one that is no
/// classifier or autoencoder of windows, of larger windows than kMostRows, or without a vocabulary.
/// Throws Error(kUsage) where the name is no word of C or the threshold no number.
CSource network_c(const file::SafetensorsFile& file, const model::ModelHeader& header,
                  const NetworkCOptions& options);

/// Writes the model that sources with int8 compute: the same one with the weights that their bytes
/// stand for, as floats, which any engine scores with. For measuring what the rounding does. Throws
/// Error(kData) as above, and where the file cannot be written.
void write_rounded(const file::SafetensorsFile& file, const model::ModelHeader& header,
                   const std::filesystem::path& path);

}  // namespace kdgat::exporting
