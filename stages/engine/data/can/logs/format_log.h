// Writes CAN frames as log text. Knows nothing about where they come from.
#pragma once

#include <string>
#include <vector>

#include "engine/data/can/frames/can_frame.h"

namespace kdgat::data {

/// The text of a log in one of three forms; times with six decimals. Throws Error(kUsage) for
/// another form.
///
///   can-train-and-test  header, `timestamp,arbitration_id,data_field,attack`
///   hcrl                `timestamp,id,dlc,b0..b7,R|T`, short rows, no header; 8 bytes at most
///   candump             candump -L; carries no labels, and alone tells the buses apart
std::string format_log(const std::vector<CanFrame>& frames, const std::string& format);

/// The same row by row: what the file begins with, and what appends a row. Throw as format_log().
const char* log_header(const std::string& format);
using RowWriter = void (*)(std::string& out, const CanFrame& frame);
RowWriter row_writer(const std::string& format);

/// A row of can-train-and-test, with its label or without.
void append_table_row(std::string& out, const CanFrame& frame, bool with_label);

/// Throws Error(kData) unless `least` <= `seconds` <= `most`.
void require_time(double seconds, double least, double most);

/// ".csv" or ".log".
const char* log_extension(const std::string& format);

}  // namespace kdgat::data
