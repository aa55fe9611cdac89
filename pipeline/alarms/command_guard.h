// The process between this program and one that an alarm starts: whatever that one starts is its
// descendant, in whichever session, and can be ended with it. It ends them as soon as its input
// ends, so also when this program was killed. Knows no alarm.
#pragma once

#include <string>
#include <vector>

namespace kdgat {

/// The hidden verb that is the guard.
inline constexpr const char* kGuardVerb = "guard-child";
/// Its first line, once the program runs.
inline constexpr const char* kGuardStarted = "started";

/// What its input begins with: the program by its path, and its arguments.
std::string guard_request(const std::vector<std::string>& words);

/// The verb's work: runs the program that standard input names, without input and output, and with
/// its own environment but for what this program alone needs: KDGAT_* other than KDGAT_ALARM_*, and
/// the credentials MQTT_PASSWORD and MLFLOW_TRACKING_*. Writes to standard output a line "started",
/// or "error ERRNO" where it could not be started; then another one, "exit CODE", "signal NUMBER",
/// or where the input ended first "killed LEFT", LEFT being how many processes could not be ended.
int guard_command();

}  // namespace kdgat
