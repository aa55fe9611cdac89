// A detector for one vehicle as C: all that `kdgat score` and `kdgat watch` compute of its traffic,
// but for the reasons. Scores have the same bits.
//
// What is usual on the vehicle is a table of the source, so only a vehicle of the model can be
// exported: nothing is learned where the source runs. Frames of one bus need not name it; of a
// vehicle with several, kdgat_push() takes those of the first one and kdgat_push_on() those of any.
#pragma once

#include <cstdint>
#include <string>

#include "engine/decision/detector/detector_model.h"
#include "engine/export/c/c_source.h"

namespace kdgat::exporting {

struct DetectorCOptions {
  std::string name = "detector";  ///< of the files; a word of C
  std::string hash{};             ///< of the model's file, for alarms and the header
  double threshold = 0;           ///< what scores above it is flagged, log-odds
  /// Leaves of trees take one byte, not four: some kilobytes less, and scores that differ a little.
  /// Everything else is exact in either form.
  bool int8 = false;
};

/// What the source needs, bytes; operations and stack are bounds.
struct DetectorCSize {
  int64_t flash = 0;       ///< tables and, by experience, code
  int64_t tables = 0;      ///< of the flash
  int64_t state = 0;       ///< kdgat_state
  int64_t stack = 0;       ///< of any call
  int64_t operations = 0;  ///< comparisons and sums of a window
};

/// NAME.c, NAME.h, main.c (reads candump), check.c with vectors.h, CMakeLists.txt. What the vectors
/// want the program computed; with int8 by the same rounded leaves, so that the bits are the same
/// then too. Throws Error(kData) for a profile that cannot be exported, saying which part;
/// Error(kUsage) where the name is no word of C or the threshold no number.
CSource detector_c(const decision::DetectorModel& model, const data::Vehicle& vehicle,
                   const DetectorCOptions& options);
/// The same of a vehicle by name. Throws Error(kUsage) naming those of the model if it is none.
CSource detector_c(const decision::DetectorModel& model, const std::string& vehicle,
                   const DetectorCOptions& options);

/// The model that sources with int8 compute. For measuring what the rounding does.
decision::DetectorModel rounded_detector(const decision::DetectorModel& model);

DetectorCSize detector_c_size(const decision::DetectorModel& model, const data::Vehicle& vehicle,
                              const DetectorCOptions& options);

}  // namespace kdgat::exporting
