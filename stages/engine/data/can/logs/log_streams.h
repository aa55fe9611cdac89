// Logs of several buses, bus by bus.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "engine/data/can/logs/log_reading.h"
#include "engine/data/core/dataset_files.h"

namespace kdgat::data {

/// The logs as an option `channel` asks for them (channel_choice.h): each LogFile::channel says
/// which bus of it is to be read. With "each" a log of several buses is one LogFile for each, in
/// the order of their numbers, called "drive.log#can1", or "drive.blf#1" where the form has no
/// names; to find them the log is read once, and what is wrong with it is not told then. Throws
/// Error(kData) where it cannot be read, Error(kUsage) where it cannot be read more than once.
std::vector<LogFile> by_channel(std::vector<LogFile> files, const std::string& channel,
                                const std::string& format, const std::function<bool()>& cancelled,
                                const LogReading& reading = {});

}  // namespace kdgat::data
