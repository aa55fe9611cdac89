// Which instruction set the kernels of the CPU use. Chosen once, at the first question: the best
// the machine has, or what KDGAT_ISA says. Knows no tensors.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engine/kernels/cpu/isa/tables.h"

namespace kdgat::kernels {

/// "portable", "avx2" or "avx512". Throws Error(kUsage) if KDGAT_ISA names no level of this
/// machine.
std::string_view isa_level();
/// Lowest first.
std::vector<std::string> isa_levels_available();
/// From now on, in all threads; Error(kUsage) as above. For tests and benchmarks.
void set_isa_level(std::string_view name);

/// The inner loops of the chosen level, T float or double.
template <class T>
const isa::Tables<T>& loops();
template <>
const isa::Tables<float>& loops<float>();
template <>
const isa::Tables<double>& loops<double>();

}  // namespace kdgat::kernels
