// The kinds of sinks, each in a source of its own; the table that names them is in alarm_sink.cpp.
// Each throws Error(kUsage) for words that are wrong or for what this system does not have.
#pragma once

#include <memory>

#include "pipeline/alarms/alarm_sink.h"

namespace kdgat {

std::unique_ptr<AlarmSink> make_stdout_sink(AlarmWords& words);
std::unique_ptr<AlarmSink> make_file_sink(AlarmWords& words);
std::unique_ptr<AlarmSink> make_syslog_sink(AlarmWords& words);
std::unique_ptr<AlarmSink> make_unix_sink(AlarmWords& words);
std::unique_ptr<AlarmSink> make_udp_sink(AlarmWords& words);
std::unique_ptr<AlarmSink> make_mqtt_sink(AlarmWords& words);
std::unique_ptr<AlarmSink> make_can_sink(AlarmWords& words);
std::unique_ptr<AlarmSink> make_command_sink(AlarmWords& words);

/// What stdout is, on another descriptor, which stays its caller's.
std::unique_ptr<AlarmSink> stream_sink(int fd);

}  // namespace kdgat
