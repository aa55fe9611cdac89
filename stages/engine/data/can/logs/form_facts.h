// FormFacts: what the logs of each form carry beside time, id and payload, as they are read here
// and, of the forms that are written, as they are written: the one table of it. docs/data.md shows
// it, `data convert` counts by it what is lost.
#pragma once

#include <array>
#include <string_view>

namespace kdgat::data {

enum class Label { kNo, kRead, kYes };  ///< kRead: read, but not written
enum class Fd { kNo, kLong, kFlags };   ///< kLong: told by payloads of over 8 bytes alone

struct FormFacts {
  const char* name;
  const char* written;  ///< the ending by which `data convert` writes it; "": it does not
  Label label;
  bool direction, bus;
  Fd fd;             ///< kFlags: with BRS and ESI
  bool remote;       ///< marks remote frames, and the length that they ask for
  bool errors;       ///< has error frames, which are counted apart
  const char* time;  ///< the unit
};

inline constexpr std::array<FormFacts, 19> kFormFacts = {{
    {"can-train-and-test", ".csv", Label::kYes, false, false, Fd::kLong, false, false, "s"},
    {"can-table", "", Label::kYes, true, true, Fd::kFlags, true, true, "recognised"},
    {"hcrl", "", Label::kYes, false, false, Fd::kNo, false, false, "s"},
    {"candump", ".log", Label::kRead, true, true, Fd::kFlags, true, true, "s"},
    {"candump-screen", "", Label::kNo, true, true, Fd::kFlags, true, true, "s or none"},
    {"road", "", Label::kYes, false, false, Fd::kNo, false, false, "none"},
    {"daga", "", Label::kYes, false, false, Fd::kNo, false, false, "s"},
    {"otids", "", Label::kYes, false, false, Fd::kNo, false, false, "s"},
    {"crysys", "", Label::kYes, false, true, Fd::kFlags, true, true, "s"},
    {"hcrl-text", "", Label::kNo, false, false, Fd::kNo, true, false, "s"},
    {"recan", "", Label::kNo, false, true, Fd::kNo, false, false, "s"},
    {"asc", ".asc", Label::kNo, true, true, Fd::kFlags, true, true, "s"},
    {"blf", ".blf", Label::kNo, true, true, Fd::kFlags, true, true, "10 us or 1 ns"},
    {"mf4", "", Label::kNo, true, true, Fd::kFlags, true, true, "in the file"},
    {"pcap", "", Label::kNo, true, true, Fd::kFlags, true, true, "us or ns"},
    {"pcapng", ".pcapng", Label::kNo, true, true, Fd::kFlags, true, true, "in the file"},
    {"trc", "", Label::kNo, true, true, Fd::kFlags, true, true, "ms"},
    {"busmaster", "", Label::kNo, true, true, Fd::kLong, true, false, "100 us"},
    {"crtd", "", Label::kNo, true, true, Fd::kNo, false, false, "s"},
}};

}  // namespace kdgat::data
