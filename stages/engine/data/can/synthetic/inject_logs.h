// Logs with attacks, of logs without: reads files, hands their frames to inject(), writes files.
// Knows no kind of attack.
#pragma once

#include "engine/data/can/synthetic/attack_options.h"
#include "engine/data/core/domain.h"

namespace kdgat::data {

/// For each log of `call.sources` and each attack <name of the log>-<attack>.csv (.log for candump)
/// in folders as the logs stand in. What is drawn depends on the seed, the attack and the name of
/// the log alone. Throws Error(kUsage) where two outputs have one name or one would replace a
/// source, Error(kData) naming the log where inject() does and where it has attack rows already.
InjectReport inject_logs(const CanInjectOptions& options, const InjectCall& call);

}  // namespace kdgat::data
