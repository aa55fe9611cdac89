// Measurement files (ASAM MDF 4) that hold frames of a bus: sorted ones, whose groups of records
// are merged by time, and those as loggers write them, with the records of all groups in one row
// and not brought to their end.
#include <algorithm>
#include <cmath>
#include <deque>
#include <memory>
#include <optional>
#include <tuple>
#include <utility>

#include "engine/data/can/logs/forms/binary_reader.h"
#include "engine/data/can/logs/forms/forms.h"
#include "engine/data/can/logs/forms/mf4_groups.h"
#include "kdgat/text.h"

namespace kdgat::data {
namespace {

using mf4::DataGroup;
using mf4::Group;

constexpr std::size_t kMostPayload = 64;
constexpr uint32_t kMostVariable = uint32_t{1} << 20;  // bytes of one value of a channel
/// Frames, or payloads, that wait for what belongs to them.
constexpr std::size_t kMostWaiting = std::size_t{1} << 16;

struct Payload {
  uint64_t key = 0;
  uint8_t length = 0;
  bool is_too_long = false;
  std::array<uint8_t, kMostPayload> bytes{};
};

/// A frame as its record says it; `fault` nullptr if nothing is wrong.
struct Found {
  CanFrame frame;
  uint32_t bus = 0;
  const char* fault = nullptr;
  std::optional<uint64_t> waits_for{};  ///< the key of its payload
  std::size_t payloads = 0;             ///< in which group that is
};

/// The payloads of a sorted file, which stand in blocks of their own.
class PayloadBlocks {
 public:
  PayloadBlocks(const mf4::File& file, uint64_t at) : file_(file), at_(at) { begin(); }

  /// nullptr: it is none.
  const char* read(uint64_t offset, CanFrame& frame) {
    if (offset < cursor_->offset()) {
      // They stand in the order of their frames; a file that jumps back all the time would never
      // end.
      constexpr int kMostJumps = 1000;
      if (++jumps_ > kMostJumps)
        file_.fail(at_, "the payloads are not in the order of their frames");
      begin();
    }
    if (!cursor_->skip_far(offset - cursor_->offset())) return "the payload is missing";
    const uint8_t* length = cursor_->take(sizeof(uint32_t));
    if (length == nullptr) return "the payload is missing";
    const auto bytes = file::little<uint32_t>(length);
    if (bytes > kMostPayload) return "the payload is over 64 bytes";
    const uint8_t* payload = cursor_->take(bytes);
    if (payload == nullptr) return "the payload is missing";
    std::copy_n(payload, bytes, frame.payload.data());
    frame.fd |= bytes > 8;
    frame.length = static_cast<uint8_t>(bytes);
    return nullptr;
  }

 private:
  void begin() {
    data_.emplace(file_, at_, false);
    cursor_.emplace([this](uint8_t* to, std::size_t room) { return data_->read(to, room); });
  }

  const mf4::File& file_;
  uint64_t at_;
  std::optional<mf4::Data> data_;
  std::optional<file::ByteCursor> cursor_;
  int jumps_ = 0;
};

/// Which groups of a data group are read: an entry for each.
using Choice = std::vector<bool>;

/// The frames of some groups of one data group, in the order of its records.
class RecordReader {
 public:
  RecordReader(const mf4::File& file, const DataGroup& group, Choice choice, double start,
               bool is_last)
      : file_(file),
        group_(group),
        is_read_(std::move(choice)),
        start_(start),
        by_order_(file.unfinished().payload_offsets),
        data_(file, group.data, is_last),
        cursor_([this](uint8_t* to, std::size_t room) { return data_.read(to, room); }),
        stores_(group.groups.size()),
        is_store_read_(group.groups.size()),
        is_seen_(group.groups.size()) {
    for (std::size_t i = 0; i < group.groups.size(); ++i) {
      if (group.groups[i].record_id < by_id_.size()) by_id_[group.groups[i].record_id] = i + 1;
    }
    for (std::size_t i = 0; i < group.groups.size(); ++i) {
      const Group& one = group.groups[i];
      const bool is_apart = static_cast<bool>(one.payload_offset);
      const std::size_t store = is_apart ? store_of(one.payload_link) : kNone;
      store_of_.push_back(store);
      if (store != kNone && is_read_[i]) is_store_read_[store] = true;
      blocks_.push_back(is_apart && store == kNone && is_read_[i]
                            ? std::make_unique<PayloadBlocks>(file, one.payload_link)
                            : nullptr);
      asked_.push_back(0);
    }
  }
  RecordReader(const RecordReader&) = delete;
  RecordReader& operator=(const RecordReader&) = delete;

  /// False at the end.
  bool next(Found& out, Passed& passed) {
    for (;;) {
      if (!waiting_.empty() && (!waiting_.front().waits_for || fill(waiting_.front()))) {
        out = waiting_.front();
        waiting_.pop_front();
        return true;
      }
      if (has_ended_) {
        if (waiting_.empty()) return false;
        out = waiting_.front();  // its payload never came
        out.fault = "the payload is missing";
        waiting_.pop_front();
        return true;
      }
      const Group* group = next_record(out, passed);
      if (group == nullptr) continue;
      if (waiting_.empty() && !out.waits_for) return true;
      if (waiting_.empty() && fill(out)) return true;
      if (waiting_.size() == kMostWaiting) {
        file_.fail(data_.at(), "payloads are too far from their frames");
      }
      waiting_.push_back(out);
    }
  }

  /// Of which groups there were records so far.
  const Choice& seen() const { return is_seen_; }
  uint64_t at() const { return data_.at(); }
  uint64_t offset() const { return cursor_.offset(); }
  bool is_cut() const { return is_cut_ || data_.is_cut(); }

 private:
  static constexpr std::size_t kNone = ~std::size_t{0};

  std::size_t store_of(uint64_t link) const {
    for (std::size_t i = 0; i < group_.groups.size(); ++i) {
      const Group& one = group_.groups[i];
      if (one.at == link && one.kind == Group::Kind::kPayloads) return i;
    }
    return kNone;
  }

  /// nullptr: no frame.
  const Group* next_record(Found& out, Passed& passed) {
    const uint8_t* id = cursor_.peek(group_.id_bytes);
    if (id == nullptr) return end(cursor_.buffered() > 0);
    const std::size_t index = index_of(id);
    const Group& group = group_.groups[index];
    is_seen_[index] = true;
    if (group.kind == Group::Kind::kPayloads) {
      read_payload(index);
      return nullptr;
    }
    const uint8_t* record = cursor_.peek(group_.id_bytes + std::size_t{group.bytes});
    if (record == nullptr) return end(cursor_.buffered() > 0);
    record += group_.id_bytes;
    const bool is_frame = group.kind == Group::Kind::kFrames || group.kind == Group::Kind::kRemote;
    passed.error_frames += is_read_[index] && group.kind == Group::Kind::kErrors ? 1 : 0;
    if (is_read_[index] && is_frame) {
      read_frame(group, index, record, out);
    } else if (is_frame && by_order_ && store_of_[index] != kNone) {
      ++asked_[store_of_[index]];
    }
    cursor_.skip(group_.id_bytes + std::size_t{group.bytes});
    return is_read_[index] && is_frame ? &group : nullptr;
  }

  const Group* end(bool is_cut) {
    has_ended_ = true;
    is_cut_ |= is_cut;
    return nullptr;
  }

  std::size_t index_of(const uint8_t* bytes) const {
    uint64_t id = 0;
    std::copy_n(bytes, group_.id_bytes, reinterpret_cast<uint8_t*>(&id));
    if (group_.id_bytes == 0) return 0;
    if (id < by_id_.size() && by_id_[id] > 0) return by_id_[id] - 1;
    for (std::size_t i = 0; i < group_.groups.size(); ++i) {
      if (group_.groups[i].record_id == id) return i;
    }
    file_.fail(data_.at(), "a record of no known group, " + std::to_string(id) + ", at byte " +
                               std::to_string(cursor_.offset()) + " of the data");
  }

  void read_frame(const Group& group, std::size_t index, const uint8_t* record, Found& out) {
    out.frame = CanFrame();
    out.fault = nullptr;
    out.waits_for.reset();
    CanFrame& frame = out.frame;
    frame.time = start_ + group.clock.of(record);
    if (!std::isfinite(frame.time)) {
      frame.time = 0;
      out.fault = "the time is not a number";
    }
    const auto id = static_cast<uint32_t>(group.id.of(record));
    frame.extended = group.is_extended ? group.is_extended.of(record) != 0 : (id >> 31) != 0;
    frame.id = id & 0x1fffffffU;
    if (!frame.extended && frame.id > 0x7ffU) {
      frame.extended = !group.is_extended;
      if (!frame.extended) out.fault = "an id beyond 11 bits that is not extended";
    }
    const auto is_set = [record](const mf4::Field& flag) { return flag && flag.of(record) != 0; };
    frame.fd = is_set(group.is_fd);
    if (frame.fd) {
      frame.fd_flags = static_cast<uint8_t>((is_set(group.is_fast) ? 1 : 0) |
                                            (is_set(group.is_passive) ? 2 : 0));
    }
    frame.tx = is_set(group.is_sent);
    out.bus = group.bus ? static_cast<uint32_t>(group.bus.of(record)) : 0;
    frame.remote = group.kind == Group::Kind::kRemote;
    if (frame.remote) {
      const uint64_t asked = group.code ? group.code.of(record) : 0;
      frame.remote_length = static_cast<uint8_t>(std::min<uint64_t>(asked, 8));
      return;
    }
    if (group.payload_offset) {
      const uint64_t offset = group.payload_offset.of(record);
      if (blocks_[index]) {
        const char* fault = blocks_[index]->read(offset, frame);
        if (out.fault == nullptr) out.fault = fault;
      } else {
        out.waits_for = by_order_ ? asked_[store_of_[index]]++ : offset;
        out.payloads = store_of_[index];
      }
      return;
    }
    const std::size_t length = length_of(group, record, frame.fd);
    if (length > std::min<std::size_t>(group.payload_bytes, kMostPayload)) {
      out.fault = "the length is beyond the payload";
      return;
    }
    frame.fd |= length > 8;
    frame.length = static_cast<uint8_t>(length);
    std::copy_n(record + group.payload_byte, length, frame.payload.data());
  }

  static std::size_t length_of(const Group& group, const uint8_t* record, bool is_fd) {
    if (group.length) return static_cast<std::size_t>(group.length.of(record));
    const uint64_t code = group.code.of(record);
    return is_fd ? kFdLengths[std::min<uint64_t>(code, 15)] : std::min<uint64_t>(code, 8);
  }

  void read_payload(std::size_t index) {
    const std::size_t header = group_.id_bytes + sizeof(uint32_t);
    const uint8_t* record = cursor_.peek(header);
    if (record == nullptr) {
      end(true);
      return;
    }
    const auto bytes = file::little<uint32_t>(record + group_.id_bytes);
    if (bytes > kMostVariable) {
      file_.fail(data_.at(), "a payload of " + std::to_string(bytes) + " bytes");
    }
    record = cursor_.peek(header + bytes);
    if (record == nullptr) {
      end(true);
      return;
    }
    Store& store = stores_[index];
    if (!is_store_read_[index]) {
      cursor_.skip(header + bytes);
      return;
    }
    Payload one;
    one.key = by_order_ ? store.number : store.offset;
    one.is_too_long = bytes > kMostPayload;
    one.length = static_cast<uint8_t>(one.is_too_long ? 0 : bytes);
    std::copy_n(record + header, one.length, one.bytes.data());
    // The oldest goes where nobody asks for it.
    if (store.payloads.size() == kMostWaiting) store.payloads.pop_front();
    store.payloads.push_back(one);
    store.offset += sizeof(uint32_t) + bytes;
    ++store.number;
    cursor_.skip(header + bytes);
  }

  /// False: its payload has not come yet.
  bool fill(Found& found) {
    std::deque<Payload>& payloads = stores_[found.payloads].payloads;
    while (!payloads.empty() && payloads.front().key < *found.waits_for) payloads.pop_front();
    if (payloads.empty()) return false;
    const Payload& one = payloads.front();
    const bool is_there = one.key == *found.waits_for;
    found.waits_for.reset();
    if (!is_there || one.is_too_long) {
      found.fault = is_there ? "the payload is over 64 bytes" : "the payload is missing";
      return true;
    }
    std::copy_n(one.bytes.data(), one.length, found.frame.payload.data());
    found.frame.fd |= one.length > 8;
    found.frame.length = one.length;
    return true;
  }

  struct Store {
    std::deque<Payload> payloads;
    uint64_t offset = 0, number = 0;  // of the next one
  };

  const mf4::File& file_;
  const DataGroup& group_;
  Choice is_read_;
  double start_;
  bool by_order_;
  mf4::Data data_;
  file::ByteCursor cursor_;
  std::array<std::size_t, 256> by_id_{};  // place in the groups, from 1
  std::vector<std::size_t> store_of_;     // of each group; kNone
  std::vector<std::unique_ptr<PayloadBlocks>> blocks_;
  std::vector<uint64_t> asked_;
  std::vector<Store> stores_;
  std::vector<bool> is_store_read_;
  Choice is_seen_;
  std::deque<Found> waiting_;
  bool has_ended_ = false, is_cut_ = false;
};

class Mf4Reader : public BinaryReader {
 public:
  explicit Mf4Reader(file::ByteReader bytes)
      : BinaryReader(bytes.name()),
        file_(std::move(bytes)),
        measurement_(mf4::read_measurement(file_)) {
    for (const DataGroup& group : measurement_.data) {
      if (group.data == 0) continue;
      for (Choice& part : parts_of(group)) {
        streams_.push_back(
            {std::make_unique<RecordReader>(file_, group, std::move(part), measurement_.start,
                                            group.data == measurement_.last_data),
             {}});
      }
    }
    for (std::size_t i = 0; i < streams_.size(); ++i) advance(i);
  }

  const char* format() const override { return "mf4"; }
  int64_t bytes_read() const override { return static_cast<int64_t>(last_); }
  std::string where() const override {
    return name() + " at byte " + std::to_string(last_) + ", byte " + std::to_string(offset_) +
           " of its data";
  }

  /// Of all groups the frame whose time is the earliest.
  Got next(CanFrame& frame) override {
    if (order_.empty()) {
      for (const Stream& stream : streams_) {
        if (stream.records->is_cut()) end_early("a record");
      }
      return Got::kEnd;
    }
    std::pop_heap(order_.begin(), order_.end(), Later{*this});
    const std::size_t first = order_.back();
    order_.pop_back();
    const Stream& stream = streams_[first];
    last_ = std::max(last_, stream.records->at());
    offset_ = stream.records->offset();
    frame = stream.found.frame;
    const char* fault = stream.found.fault;
    const uint32_t bus = stream.found.bus;
    advance(first);
    if (fault != nullptr) return refuse(fault);
    return set_channel(bus, frame) ? Got::kFrame : Got::kFault;
  }

 private:
  struct Stream {
    std::unique_ptr<RecordReader> records;
    Found found;
  };

  static bool holds_frames(const Group& group) {
    return group.kind == Group::Kind::kFrames || group.kind == Group::Kind::kRemote;
  }

  /// Which groups have records. Loggers that do not finish their files describe dozens, and count
  /// none: then all records are passed over once.
  Choice used_groups(const DataGroup& group) const {
    const std::size_t size = group.groups.size();
    if (file_.unfinished().counts) {
      RecordReader records(file_, group, Choice(size, false), 0,
                           group.data == measurement_.last_data);
      Found none;
      Passed passed_over;
      records.next(none, passed_over);
      return records.seen();
    }
    Choice used(size);
    for (std::size_t i = 0; i < size; ++i) used[i] = group.groups[i].records > 0;
    return used;
  }

  /// Groups that are read apart. In an unsorted file the records of one bus and direction are in
  /// the order of their times, and all together are not: its data is read once for each of them,
  /// unless there are very many. The first part has what needs none of its own.
  std::vector<Choice> parts_of(const DataGroup& group) const {
    constexpr std::size_t kMostParts = 32;
    const std::size_t size = group.groups.size();
    Choice others(size, true);
    if (std::count_if(group.groups.begin(), group.groups.end(), holds_frames) < 2) return {others};
    const Choice used = used_groups(group);
    std::vector<Choice> parts;
    for (std::size_t i = 0; i < size; ++i) {
      if (!used[i] || !holds_frames(group.groups[i])) continue;
      others[i] = false;
      parts.emplace_back(size, false);
      parts.back()[i] = true;
    }
    if (parts.size() < 2 || parts.size() > kMostParts) return {Choice(size, true)};
    for (std::size_t i = 0; i < size; ++i) parts.front()[i] = parts.front()[i] || others[i];
    return parts;
  }

  /// Of one time the record that stands first is the earlier one.
  bool is_later(std::size_t a, std::size_t b) const {
    const Stream &one = streams_[a], &other = streams_[b];
    return std::tuple(one.found.frame.time, one.records->at(), one.records->offset(), a) >
           std::tuple(other.found.frame.time, other.records->at(), other.records->offset(), b);
  }
  /// The order of a heap whose first is the earliest.
  struct Later {
    const Mf4Reader& reader;
    bool operator()(std::size_t a, std::size_t b) const { return reader.is_later(a, b); }
  };

  void advance(std::size_t place) {
    Stream& stream = streams_[place];
    if (!stream.records->next(stream.found, passed())) return;
    order_.push_back(place);
    std::push_heap(order_.begin(), order_.end(), Later{*this});
  }

  mf4::File file_;
  mf4::Measurement measurement_;
  std::vector<Stream> streams_;
  std::vector<std::size_t> order_;  // a heap of those that have a frame
  uint64_t last_ = 0, offset_ = 0;
};

}  // namespace

bool is_mf4(std::string_view head) {
  return head.starts_with("MDF     ") || head.starts_with("UnFinMF ");
}

std::unique_ptr<FrameReader> open_mf4(file::ByteReader bytes) {
  return std::make_unique<Mf4Reader>(std::move(bytes));
}

}  // namespace kdgat::data
