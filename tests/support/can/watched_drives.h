// Made-up drives and a detector that learned from them, once for all tests of a program.
#pragma once

#include <string>

#include "engine/decision/detector/detector_model.h"
#include "support/can/can_drive.h"
#include "support/can/can_logs.h"
#include "support/can/small_detector.h"

namespace kdgat::test {

inline const LogStore& watched_logs() {
  static const LogStore one({{"train_01/car0-a.csv", drive(90, 0)},
                             {"train_01/car0-b.csv", drive(90, 1)},
                             {"train_01/car1-a.csv", drive(60, 0, "", 1)},
                             {"train_01/car1-b.csv", drive(60, 1, "", 1)},
                             {"test_01/spoofing.csv", drive(40, 7, "spoofing")},
                             {"test_01/fuzzing.csv", drive(40, 8, "fuzzing")},
                             {"test_02/dos.csv", drive(60, 8, "dos", 2)}});
  return one;
}

inline const decision::DetectorModel& watching_model() {
  static const decision::DetectorModel one = detector_of(watched_logs(), 40);
  return one;
}

}  // namespace kdgat::test
