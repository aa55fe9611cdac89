#include "engine/data/can/logs/forms/binary_reader.h"

#include "kdgat/text.h"

namespace kdgat::data {

void Passed::tell(const std::string& file, std::vector<Diagnostic>& notes) const {
  if (error_frames > 0) {
    notes.push_back({file, grouped(error_frames) + " error frames are counted, not read", ""});
  }
  if (others > 0) {
    notes.push_back({file, grouped(others) + " objects that are no CAN frames are left out", ""});
  }
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

std::vector<Diagnostic> BinaryReader::notes() const {
  std::vector<Diagnostic> out = ended_early_;
  passed_.tell(name_, out);
  for (const std::string& what : channels_.problems()) out.push_back({name_, what, ""});
  return out;
}

void BinaryReader::end_early(const std::string& what) {
  if (ended_early_.empty()) {
    ended_early_.push_back({where(), "the file ends inside " + what + ": read up to there", ""});
  }
}

void BinaryReader::fail(const std::string& what, const std::string& hint) const {
  throw Error(ExitCode::kData, what, hint, where());
}

}  // namespace kdgat::data
