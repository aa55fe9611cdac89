#include "engine/data/can/logs/forms/mf4_groups.h"

#include <algorithm>
#include <bit>
#include <string_view>

#include "kdgat/error.h"

namespace kdgat::data::mf4 {
namespace {

constexpr int kMostGroups = 1 << 16, kMostChannels = 1 << 18, kDeepest = 8;
constexpr uint32_t kMostRecord = uint32_t{1} << 20;

enum DataType : uint8_t {
  kUnsignedLittle = 0,
  kUnsignedBig = 1,
  kSignedLittle = 2,
  kSignedBig = 3,
  kFloatLittle = 4,
  kText = 6,          // Latin-1, zero-ended
  kLittleText16 = 8,  // the last whose first byte is its first letter
};
enum ChannelType : uint8_t { kFixed = 0, kVariable = 1, kMaster = 2, kVirtualMaster = 3 };

class Reader {
 public:
  explicit Reader(const File& file) : file_(file) {}

  Measurement read() {
    constexpr uint64_t kHeader = 64;
    const Block header = file_.block(kHeader, "HD");
    Measurement out;
    constexpr double kNanoseconds = 1e-9;
    out.start = kNanoseconds * static_cast<double>(header.at_byte<uint64_t>(0));
    for (uint64_t at = header.link(0); at != 0;) {
      const Block block = file_.block(at, "DG");
      count(groups_, kMostGroups, at);
      at = block.link(0);
      DataGroup group;
      group.data = block.link(2);
      group.id_bytes = block.at_byte<uint8_t>(0);
      out.last_data = std::max(out.last_data, group.data);
      read_groups(block.link(1), holds_values(file_, group.data), group);
      const auto holds_frames = [](const Group& one) {
        return one.kind == Group::Kind::kFrames || one.kind == Group::Kind::kRemote ||
               one.kind == Group::Kind::kErrors;
      };
      if (std::none_of(group.groups.begin(), group.groups.end(), holds_frames)) continue;
      if (group.id_bytes > 8 || (group.id_bytes == 0 && group.groups.size() != 1)) {
        file_.fail(block.at, "records of several groups without a number");
      }
      out.data.push_back(std::move(group));
    }
    if (out.data.empty()) {
      file_.fail(0, "the file holds no frames of a CAN bus (no group of channels CAN_DataFrame)",
                 "record the bus itself, not decoded signals");
    }
    return out;
  }

 private:
  void count(int& seen, int most, uint64_t at) const {
    if (++seen > most) file_.fail(at, "the blocks go round in a circle");
  }

  void read_groups(uint64_t at, bool are_values, DataGroup& into) {
    while (at != 0) {
      const Block block = file_.block(at, "CG");
      count(groups_, kMostGroups, at);
      at = block.link(0);
      Group group;
      group.at = block.at;
      group.record_id = block.at_byte<uint64_t>(0);
      group.records = block.at_byte<uint64_t>(8);
      constexpr uint16_t kPayloads = 1, kRemoteMaster = 8;
      const auto flags = block.at_byte<uint16_t>(16);
      if ((flags & kPayloads) != 0) {
        group.kind = Group::Kind::kPayloads;
        into.groups.push_back(group);
        continue;
      }
      const auto marks = are_values ? 0 : block.at_byte<uint32_t>(28);  // of what is invalid
      const uint64_t bytes = uint64_t{block.at_byte<uint32_t>(24)} + marks;
      if (bytes == 0 || bytes > kMostRecord) {
        file_.fail(block.at, "records of " + std::to_string(bytes) + " bytes");
      }
      group.bytes = static_cast<uint32_t>(bytes);
      read_channels(block.link(1), 0, group);
      if ((flags & kRemoteMaster) != 0 && group.kind != Group::Kind::kOther) {
        file_.fail(
            block.at,
            "the records of this group (block CG) have their times in another group, which is "
            "not read: data by columns (MDF 4.2)",
            "save the file with whole records, as MDF 4.1 has them");
      }
      check(group);
      into.groups.push_back(group);
    }
  }

  void read_channels(uint64_t at, int depth, Group& into) {
    if (depth > kDeepest) file_.fail(at, "channels are nested too deep");
    while (at != 0) {
      const Block block = file_.block(at, "CN");
      count(channels_, kMostChannels, at);
      read_channel(block, into);
      // What it is composed of: other channels, or an array, which no frame has.
      if (block.link(1) != 0 && file_.block(block.link(1)).id == "CN") {
        read_channels(block.link(1), depth + 1, into);
      }
      at = block.link(0);
    }
  }

  /// The bit by which the letter T, of Tx, differs from the R of Rx.
  static Field sent_letter(uint32_t byte) {
    static_assert(('T' & 4) != 0 && ('R' & 4) == 0);
    Field field;
    field.byte = byte;
    field.bit = 2;
    field.bits = 1;
    return field;
  }

  void read_channel(const Block& block, Group& into) {
    const auto type = block.at_byte<uint8_t>(0), data_type = block.at_byte<uint8_t>(2);
    const auto bits = block.at_byte<uint32_t>(8);
    Field field;
    field.byte = block.at_byte<uint32_t>(4);
    field.bit = block.at_byte<uint8_t>(3);
    // A number that reaches over more than 8 bytes is none that is asked for.
    if (bits <= 64 && field.bit < 8 && field.bit + bits <= 64)
      field.bits = static_cast<uint8_t>(bits);
    field.is_big = data_type == kUnsignedBig || data_type == kSignedBig;
    if (type == kMaster || type == kVirtualMaster) {
      read_clock(block, type, data_type, field, into.clock);
      return;
    }
    const std::string name = file_.text(block.link(2));
    const std::size_t dot = name.rfind('.');
    const std::string_view group = std::string_view(name).substr(0, name.find('.'));
    if (into.kind == Group::Kind::kOther) {
      into.kind = group == "CAN_DataFrame"     ? Group::Kind::kFrames
                  : group == "CAN_RemoteFrame" ? Group::Kind::kRemote
                  : group == "CAN_ErrorFrame"  ? Group::Kind::kErrors
                                               : Group::Kind::kOther;
    }
    if (dot == std::string::npos || into.kind == Group::Kind::kOther) return;
    const std::string_view part = std::string_view(name).substr(dot + 1);
    if (part == "BusChannel") into.bus = field;
    if (part == "ID") into.id = field;
    if (part == "IDE") into.is_extended = field;
    if (part == "DLC") into.code = field;
    if (part == "DataLength") into.length = field;
    if (part == "EDL") into.is_fd = field;
    if (part == "BRS") into.is_fast = field;
    if (part == "ESI") into.is_passive = field;
    if (part == "Dir") {
      into.is_sent =
          data_type >= kText && data_type <= kLittleText16 ? sent_letter(field.byte) : field;
    }
    if (part != "DataBytes") return;
    if (type == kVariable) {
      into.payload_offset = field;
      into.payload_link = block.link(5);
    } else {
      into.payload_byte = field.byte;
      into.payload_bytes = bits / 8;
    }
  }

  void read_clock(const Block& block, uint8_t type, uint8_t data_type, const Field& field,
                  Clock& clock) const {
    if (type == kVirtualMaster) file_.fail(block.at, "records without a time of their own");
    clock.number = field;
    clock.kind = data_type < kSignedLittle  ? Clock::Kind::kUnsigned
                 : data_type < kFloatLittle ? Clock::Kind::kSigned
                 : field.bits == 32         ? Clock::Kind::kFloat
                                            : Clock::Kind::kDouble;
    constexpr uint8_t kFloatBig = 5;
    clock.number.is_big |= data_type == kFloatBig;
    if (data_type > kFloatBig) file_.fail(block.at, "times that are no numbers");
    if (block.link(4) == 0) return;
    const Block conversion = file_.block(block.link(4), "CC");
    const auto kind = conversion.at_byte<uint8_t>(0);
    if (kind == 0) return;
    if (kind != 1) file_.fail(conversion.at, "times with a conversion that is not linear");
    constexpr std::size_t kValues = 24;
    clock.offset = conversion.at_byte<double>(kValues);
    clock.factor = conversion.at_byte<double>(kValues + 8);
  }

  void check(Group& group) const {
    if (group.kind == Group::Kind::kOther) return;
    const auto fits = [&](const Field& field) {
      const uint32_t bits = field.bit + field.bits;
      return !field || uint64_t{field.byte} + (bits + 7) / 8 <= group.bytes;
    };
    for (const Field* field : {&group.bus, &group.id, &group.is_extended, &group.code,
                               &group.length, &group.is_fd, &group.is_fast, &group.is_passive,
                               &group.is_sent, &group.payload_offset, &group.clock.number}) {
      if (!fits(*field) || (field->is_big && (field->bit != 0 || field->bits % 8 != 0))) {
        file_.fail(group.at, "a channel reaches beyond its record");
      }
    }
    if (uint64_t{group.payload_byte} + group.payload_bytes > group.bytes) {
      file_.fail(group.at, "a channel reaches beyond its record");
    }
    if (!group.clock.number) file_.fail(group.at, "frames without a time");
    const bool is_float = group.clock.kind == Clock::Kind::kFloat;
    if (group.clock.kind == Clock::Kind::kDouble && group.clock.number.bits != 64) {
      file_.fail(group.at, "a time of " + std::to_string(group.clock.number.bits) + " bits");
    }
    if ((is_float || group.clock.kind == Clock::Kind::kDouble) && group.clock.number.bit != 0) {
      file_.fail(group.at, "a time that begins inside a byte");
    }
    if (group.kind == Group::Kind::kErrors) return;
    if (!group.id) file_.fail(group.at, "frames without an id");
    const bool has_payload = group.payload_bytes > 0 || group.payload_offset;
    if (group.kind == Group::Kind::kFrames && (!has_payload || (!group.length && !group.code))) {
      file_.fail(group.at, "frames without a payload or its length");
    }
  }

  const File& file_;
  int groups_ = 0, channels_ = 0;
};

}  // namespace

double Clock::of(const uint8_t* record) const {
  const uint64_t bits = number.of(record);
  switch (kind) {
    case Kind::kUnsigned:
      return offset + factor * static_cast<double>(bits);
    case Kind::kSigned: {
      const int unused = 64 - number.bits;
      return offset + factor * static_cast<double>(static_cast<int64_t>(bits << unused) >> unused);
    }
    case Kind::kFloat:
      return offset + factor * std::bit_cast<float>(static_cast<uint32_t>(bits));
    case Kind::kDouble:
      return offset + factor * std::bit_cast<double>(bits);
  }
  return 0;
}

Measurement read_measurement(const File& file) { return Reader(file).read(); }

}  // namespace kdgat::data::mf4
