// A card with its kernels, by whichever compiler of the machine can make them.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "engine/kernels/cuda/card/driver.h"

namespace kdgat::kernels::cuda {

struct OpenedCard {
  std::unique_ptr<CardLauncher> launcher;
  std::string words;  ///< "NVRTC 12.9 for sm_70": which compiler made the kernels, and for what
};

/// `source` on a device of `driver`, which outlives it. The compilers of `names` are tried in this
/// order: the first whose code the card takes is it. One that does not know the card, or finds
/// errors in the source, is no reason not to ask the next. Throws Error(kPlugin) with what was
/// wrong with each, in one line, or OutOfCardMemory: that no other compiler helps.
OpenedCard open_card(const Driver& driver, int device, const std::vector<std::string>& names,
                     std::string_view source, const std::function<void*()>& stream);

/// What of `names` is there and compiles a kernel for the oldest and the newest card that it
/// knows, for people: "NVRTC 12.9 compiles for sm_50 to sm_121 (libnvrtc.so.12)", or which were
/// looked for.
struct FoundCompiler {
  bool is_there = false;
  std::string words;
};
FoundCompiler find_compiler(const std::vector<std::string>& names);

}  // namespace kdgat::kernels::cuda
