// BinaryReader: what the forms that are no text share: places in bytes, numbers of buses, notes.
#pragma once

#include <array>
#include <string>
#include <utility>
#include <vector>

#include "engine/data/can/frames/channel_names.h"
#include "engine/data/can/logs/forms/frame_reader.h"
#include "engine/file/byte_cursor.h"
#include "engine/file/byte_reader.h"

namespace kdgat::data {

/// Bytes of the payload that a data length code (0..15) of CAN FD stands for.
inline constexpr std::array<uint8_t, 16> kFdLengths = {0, 1,  2,  3,  4,  5,  6,  7,
                                                       8, 12, 16, 20, 24, 32, 48, 64};

class BinaryReader : public FrameReader {
 public:
  explicit BinaryReader(std::string name) : name_(std::move(name)) { numbers_.fill(kUnknown); }

  std::string fault() const override { return fault_; }
  std::string where() const override { return name_ + " at byte " + std::to_string(at_); }
  const ChannelNames& channel_names() const override { return channels_; }
  Notes notes() const override;

 protected:
  const std::string& name() const { return name_; }
  Passed& passed() { return passed_; }
  ChannelNames& channels() { return channels_; }
  /// Of the row or object that is read now.
  void stands_at(uint64_t offset) { at_ = offset; }

  /// `number` counts buses from 0. False if it is one too many.
  bool set_channel(uint32_t number, CanFrame& frame) {
    const int8_t known = number < numbers_.size() ? numbers_[number] : kUnknown;
    if (known < 0) return find_channel(number, frame);
    frame.channel = static_cast<uint8_t>(known);
    return true;
  }
  /// An id with its flags in the upper bits: 31 extended, 30 remote, as SocketCAN, BLF and others.
  static void set_id(uint32_t id, CanFrame& frame) {
    frame.extended = (id >> 31) != 0;
    frame.id = id & (frame.extended ? 0x1fffffffU : 0x7ffU);
  }
  Got refuse(std::string fault) {
    fault_ = std::move(fault);
    return Got::kFault;
  }
  void note(std::string what) { notes_.push_back({where(), std::move(what), ""}); }
  /// The file ends inside a row or object: what was read before it counts.
  void end_early(const std::string& what);
  [[noreturn]] void fail(const std::string& what, const std::string& hint = "") const;

 private:
  static constexpr int8_t kUnknown = -1;

  bool find_channel(uint32_t number, CanFrame& frame);

  std::string name_, fault_;
  uint64_t at_ = 0;
  Passed passed_;
  ChannelNames channels_;
  std::array<int8_t, 256> numbers_{};
  Notes notes_, ended_early_;
};

/// One that reads its file from the first byte to the last.
class BinaryStream : public BinaryReader {
 public:
  explicit BinaryStream(file::ByteReader bytes)
      : BinaryReader(bytes.name()),
        bytes_(std::move(bytes)),
        file_([this](uint8_t* to, std::size_t room) {
          return bytes_.read(reinterpret_cast<char*>(to), room);
        }) {}
  int64_t bytes_read() const final { return bytes_.stored_bytes(); }

 protected:
  file::ByteCursor& file() { return file_; }

 private:
  file::ByteReader bytes_;
  file::ByteCursor file_;
};

}  // namespace kdgat::data
