#include "engine/graph/sections/frames.h"

#include <algorithm>

#include "engine/arrays/index.h"
#include "engine/arrays/ranges.h"

namespace kdgat::graph {

void Frames::Data::spill_to(const std::filesystem::path& folder) {
  time.spill_to(folder);
  id.spill_to(folder);
  for (arrays::Column<uint8_t>* column : {&length, &flags, &payload}) column->spill_to(folder);
}

Frames Frames::of(const Data& data) {
  return {data.source_ptr, data.time, data.id, data.length, data.flags, data.payload, data.width};
}

std::string Frames::fault(const Data& data, const CommonArrays& /*graphs*/) {
  const std::size_t rows = data.id.size();
  if (data.time.size() != rows || data.length.size() != rows || data.flags.size() != rows ||
      data.payload.size() != rows * arrays::at(data.width)) {
    return "the arrays of frames are not of one length";
  }
  return of(data).fault();
}

std::optional<Frames> Frames::read(const file::SafetensorsFile& file,
                                   const CommonArrays& /*graphs*/) {
  if (!file.has("frame_id")) return std::nullopt;
  Frames out;
  out.id = file.require<int32_t>("frame_id", {-1});
  const int64_t rows = out.rows();
  out.source_ptr = file.require<int64_t>("frame_ptr", {-1});
  out.time = file.require<double>("frame_time", {rows});
  out.length = file.require<uint8_t>("frame_length", {rows});
  out.flags = file.require<uint8_t>("frame_flags", {rows});
  out.payload = file.require<uint8_t>("frame_payload", {rows, -1});
  out.width = rows == 0 ? 8 : static_cast<int64_t>(out.payload.size()) / rows;
  return out;
}

std::string Frames::fault() const {
  constexpr int64_t kIds = int64_t{1} << 29;
  if (source_ptr.empty() || source_ptr.front() != 0 || source_ptr.back() != rows() ||
      !arrays::are_ascending(source_ptr)) {
    return "the frames of sources do not follow one another";
  }
  if (width != 8 && width != 64) return "frames have neither 8 nor 64 payload bytes";
  if (!arrays::are_within(id, 0, kIds)) return "a frame has an id of more than 29 bits";
  const bool fits =
      std::all_of(length.begin(), length.end(), [this](uint8_t bytes) { return bytes <= width; });
  return fits ? "" : "a frame is longer than its payload";
}

void Frames::write(file::SafetensorsWriter& writer) const {
  writer.add("frame_ptr", {static_cast<int64_t>(source_ptr.size())}, source_ptr);
  writer.add("frame_time", {rows()}, time);
  writer.add("frame_id", {rows()}, id);
  writer.add("frame_length", {rows()}, length);
  writer.add("frame_flags", {rows()}, flags);
  writer.add("frame_payload", {rows(), width}, payload);
}

}  // namespace kdgat::graph
