// One log in another form, frame by frame in flat memory.
#pragma once

#include "engine/data/can/logs/convert_options.h"
#include "engine/data/core/domain.h"

namespace kdgat::data {

/// The form written is that of the ending of `call.to`. Throws Error(kUsage) for an ending without
/// a form and where the file would replace its source, Error(kData), also for a log without times
/// or frames, and Error(kInterrupted) once cancelled; then nothing is written.
ConvertReport convert_log(const CanConvertOptions& options, const ConvertCall& call);

}  // namespace kdgat::data
