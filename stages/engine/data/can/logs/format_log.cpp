#include "engine/data/can/logs/format_log.h"

#include <cinttypes>
#include <cmath>
#include <cstdio>

#include "engine/data/can/logs/log_reading.h"
#include "kdgat/error.h"

namespace kdgat::data {
namespace {

void append_hex(std::string& out, const CanFrame& frame, const char* separator) {
  constexpr char kDigits[] = "0123456789ABCDEF";
  for (std::size_t i = 0; i < frame.length; ++i) {
    if (i > 0) out += separator;
    out += kDigits[frame.payload[i] >> 4];
    out += kDigits[frame.payload[i] & 0xF];
  }
}

void append(std::string& out, const char* format, auto... values) {
  char text[64];
  std::snprintf(text, sizeof text, format, values...);
  out += text;
}

/// Seconds with six decimals. Doubles hold microseconds exactly for the next two centuries.
void append_time(std::string& out, double seconds) {
  constexpr double kMost = 9e12;  // microseconds in 64 bits
  require_time(seconds, -kMost, kMost);
  const int64_t us = std::llround(seconds * 1e6), size = std::abs(us);
  append(out, us < 0 ? "-%" PRId64 ".%06" PRId64 : "%" PRId64 ".%06" PRId64, size / 1'000'000,
         size % 1'000'000);
}

void append_can_train_and_test(std::string& out, const CanFrame& frame) {
  append_table_row(out, frame, false);
  out.back() = ',';
  out += frame.label == 1 ? "1\n" : "0\n";
}

void append_hcrl(std::string& out, const CanFrame& frame) {
  append_time(out, frame.time);
  append(out, frame.extended ? ",%08" PRIX32 ",%d," : ",%04" PRIX32 ",%d,", frame.id,
         static_cast<int>(frame.length));
  append_hex(out, frame, ",");
  if (frame.length > 0) out += ',';
  out += frame.label == 1 ? "T\n" : "R\n";
}

void append_candump(std::string& out, const CanFrame& frame) {
  out += '(';
  append_time(out, frame.time);
  append(out, frame.extended ? ") can%d %08" PRIX32 "#" : ") can%d %03" PRIX32 "#",
         static_cast<int>(frame.channel), frame.id);
  if (frame.fd) append(out, "#%X", static_cast<unsigned>(frame.fd_flags & 15));
  if (frame.remote) out += 'R';
  if (frame.remote_length > 0) append(out, "%d", static_cast<int>(frame.remote_length));
  append_hex(out, frame, "");
  out += frame.tx ? " T\n" : "\n";  // received ones need no mark
}

}  // namespace

void append_table_row(std::string& out, const CanFrame& frame, bool with_label) {
  append_time(out, frame.time);
  append(out, frame.extended ? ",%08" PRIX32 "," : ",%03" PRIX32 ",", frame.id);
  append_hex(out, frame, "");
  if (with_label) out += frame.label == 1 ? ",1" : ",0";
  out += '\n';
}

void require_time(double seconds, double least, double most) {
  if (seconds >= least && seconds <= most) return;
  throw Error(ExitCode::kData, "a time of " + std::to_string(seconds) + " s cannot be written",
              reading_option("time_unit", "ms, us or ns") + " is the unit of the times of the log");
}

const char* log_header(const std::string& format) {
  return format == "can-train-and-test" ? "timestamp,arbitration_id,data_field,attack\n" : "";
}

RowWriter row_writer(const std::string& format) {
  if (format == "can-train-and-test") return append_can_train_and_test;
  if (format == "hcrl") return append_hcrl;
  if (format == "candump") return append_candump;
  throw Error(ExitCode::kUsage, "cannot write CAN logs as " + format,
              "known: can-train-and-test, hcrl, candump");
}

std::string format_log(const std::vector<CanFrame>& frames, const std::string& format) {
  const RowWriter append_row = row_writer(format);
  std::string out = log_header(format);
  out.reserve(frames.size() * 48 + 64);
  for (const CanFrame& frame : frames) append_row(out, frame);
  return out;
}

const char* log_extension(const std::string& format) {
  return format == "candump" ? ".log" : ".csv";
}

}  // namespace kdgat::data
