#include "engine/export/c/vector_text.h"

#include <bit>
#include <cmath>

#include "engine/export/c/runtime_texts.h"

namespace kdgat::exporting {

void VectorText::add(const data::CanFrame& frame) {
  const bool has_time = !std::isnan(frame.time);
  const std::string time = has_time ? c_double(frame.time) : "0.0";
  const uint32_t id = frame.id | (frame.extended ? 0x80000000U : 0U);
  frame_lines_ += "    {" + time + ", " + std::to_string(id) + "u, " +
                  std::to_string(frame.length) + (has_time ? ", 1},\n" : ", 0},\n");
  ++frames_;
  for (int i = 0; i < frame.length; ++i) {
    byte_lines_ += (bytes_ % 24 == 0 ? "\n    " : "") +
                   std::to_string(frame.payload[static_cast<std::size_t>(i)]) + ",";
    ++bytes_;
  }
}

void VectorText::expect(int bits, float score) {
  event_lines_ += "    {" + std::to_string(frames_) + ", " + std::to_string(bits) + ", " +
                  std::to_string(std::bit_cast<uint32_t>(score)) + "u},\n";
  ++events_;
}

std::string VectorText::text() const {
  return "/*\n * Frames, and what the detector is to say of them: see check.c. Written by `kdgat "
         "export`.\n */\n#include <stdint.h>\n\n"
         "typedef struct kdgat_vector_frame {\n  double time;\n  uint32_t id;\n  uint8_t length, "
         "has_time;\n"
         "} kdgat_vector_frame;\n\n"
         "/* After so many frames: bits KDGAT_*, and the bits of the score. */\n"
         "typedef struct kdgat_vector_event {\n  int32_t frame, bits;\n  uint32_t score;\n"
         "} kdgat_vector_event;\n\n#define KDGAT_VECTOR_FRAMES " +
         std::to_string(frames_) + "\n#define KDGAT_VECTOR_EVENTS " + std::to_string(events_) +
         "\n\nstatic const kdgat_vector_frame kdgat_vector_frames[] = {\n" + frame_lines_ +
         "};\n\n/* Payloads of the frames, one behind another. */\n"
         "static const uint8_t kdgat_vector_bytes[] = {" +
         byte_lines_ + "\n    0};\n\nstatic const kdgat_vector_event kdgat_vector_events[] = {\n" +
         event_lines_ + "};\n";
}

}  // namespace kdgat::exporting
