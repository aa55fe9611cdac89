// The row parsers of log_layout: one for each form, none of them allocates. What a form looks like
// stands in log_layout.h.
#pragma once

#include <array>
#include <limits>
#include <string_view>

#include "engine/data/can/frames/can_frame.h"
#include "engine/data/can/logs/log_layout.h"

namespace kdgat::data {

const char* parse_table_row(const LogLayout& layout, std::string_view line, CanFrame& frame);
const char* parse_hcrl_row(const LogLayout& layout, std::string_view line, CanFrame& frame);
const char* parse_can_table_row(const LogLayout& layout, std::string_view line, CanFrame& frame);
const char* parse_hcrl_text_row(const LogLayout& layout, std::string_view line, CanFrame& frame);
const char* parse_candump_row(const LogLayout& layout, std::string_view line, CanFrame& frame);
const char* parse_screen_row(const LogLayout& layout, std::string_view line, CanFrame& frame);
const char* parse_road_row(const LogLayout& layout, std::string_view line, CanFrame& frame);
const char* parse_daga_row(const LogLayout& layout, std::string_view line, CanFrame& frame);
const char* parse_otids_row(const LogLayout& layout, std::string_view line, CanFrame& frame);
const char* parse_recan_row(const LogLayout& layout, std::string_view line, CanFrame& frame);

}  // namespace kdgat::data
