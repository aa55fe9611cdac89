// Laws of payloads, learned from several drives of one vehicle: counters, and sums of bits over
// GF(2) that are the same in all benign frames, as checksums make them. An attacker who forges a
// payload and knows no better breaks them.
//
// Bits that move in less than one frame of eight are slow. A sum of a checksum has a bit that is
// not, so that many frames tried it; and it was tried by more payloads than would fit it by chance.
// Sums of slow bits alone say which of their values were seen together. What one drive keeps by
// chance another one breaks: laws of an id count where those of each part of the drives are kept in
// the rest.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "engine/arrays/bit_space.h"
#include "engine/data/can/frames/can_frame.h"
#include "engine/data/can/windows/vehicle_profile.h"

namespace kdgat::data {

/// Learns the laws of all ids of a vehicle in passes over the same drives.
class LawLearner {
 public:
  static constexpr int kPasses = 3;
  static constexpr std::size_t kParts = 4;  ///< that drives are put into

  /// `profile`: of these drives.
  explicit LawLearner(const VehicleProfile& profile);

  /// The frames of a drive follow, those of the n-th one in each pass.
  void begin_drive(std::size_t n);
  void add(const CanFrame& frame);
  /// A pass has ended.
  void end_pass();
  /// After kPasses: writes the laws that were found into the profile of these drives.
  void finish(VehicleProfile& profile) const;

 private:
  /// Of one part of the drives.
  struct Part {
    int64_t pairs = 0;  // of frames
    arrays::BitSpace seen;
    std::optional<PayloadLaws> of_others;                 // the laws of all other parts
    bool breaks_counters = false, breaks_checks = false;  // of_others, in this part
  };
  /// A field that may count.
  struct Field {
    int shift, width;
    int64_t others = 0;  // pairs in which it did not
  };
  struct Id {
    unsigned bytes = 0;
    std::optional<uint64_t> payload;  // the first one
    std::array<int64_t, 64> moves{};  // of each bit
    int64_t pairs = 0;
    std::vector<Field> fields;
    uint64_t fast = 0;  // bits
    std::array<Part, kParts> parts;
    std::unordered_set<uint64_t> values;  // some of its payloads
    // In the drive that is read.
    std::optional<uint64_t> last;
    unsigned miscounted = 0, unchecked = 0;  // one bit for each of the last pairs

    PayloadLaws laws_of(const arrays::BitSpace& space) const;
  };
  void count(Id& id, uint64_t now) const;
  void learn(Id& id, uint64_t now) const;
  void try_laws(Id& id, uint64_t now) const;

  std::unordered_map<uint32_t, Id> ids_;  // by CanFrame::key(), that may have laws
  int pass_ = 0;
  std::size_t part_ = 0;
};

}  // namespace kdgat::data
