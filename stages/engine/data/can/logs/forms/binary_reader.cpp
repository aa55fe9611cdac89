#include "engine/data/can/logs/forms/binary_reader.h"

#include <algorithm>

#include "kdgat/text.h"

namespace kdgat::data {

void Passed::count(const char* kind, Say say) {
  const auto known = std::find_if(kinds_.begin(), kinds_.end(),
                                  [kind](const Kind& one) { return one.name == kind; });
  if (known != kinds_.end()) {
    ++known->count;
  } else {
    kinds_.push_back({kind, say, 1});
  }
}

void Passed::tell(const std::string& file, Notes& notes) const {
  if (error_frames > 0) {
    notes.push_back({file,
                     grouped(error_frames) +
                         (error_frames == 1 ? " error frame is" : " error frames are") +
                         " counted, not read",
                     "", "error frame", error_frames, true});
  }
  if (others > 0) {
    notes.push_back({file, grouped(others) + " objects that are no CAN frames are left out", "",
                     "record of another kind", others, true});
  }
  const auto is_said = [](const Kind& one) { return one.say == Say::kAlways; };
  if (std::none_of(kinds_.begin(), kinds_.end(), is_said)) return;
  int64_t all = 0;
  std::string names;
  for (const Kind& kind : kinds_) {
    all += kind.count;
    names += (names.empty() ? "" : ", ") + std::string(kind.name) + " " + grouped(kind.count);
  }
  notes.push_back({file, grouped(all) + " records of other kinds are left out: " + names, "",
                   "record of another kind", all, true});
}

bool BinaryReader::find_channel(uint32_t number, CanFrame& frame) {
  const int channel = channels_.number(std::to_string(number));
  if (channel < 0) {
    fault_ = "a ninth channel: a log may hold eight buses";
    return false;
  }
  if (number < numbers_.size()) numbers_[number] = static_cast<int8_t>(channel);
  frame.channel = static_cast<uint8_t>(channel);
  return true;
}

Notes BinaryReader::notes() const {
  Notes out = notes_;
  out.insert(out.end(), ended_early_.begin(), ended_early_.end());
  passed_.tell(name_, out);
  for (const std::string& what : channels_.problems()) out.push_back({name_, what, ""});
  return out;
}

void BinaryReader::end_early(const std::string& what) {
  if (ended_early_.empty()) {
    ended_early_.push_back(
        {where(), "the file ends inside " + what + ": read up to there", "", "end of a file", 1});
  }
}

void BinaryReader::fail(const std::string& what, const std::string& hint) const {
  throw Error(ExitCode::kData, what, hint, where());
}

}  // namespace kdgat::data
