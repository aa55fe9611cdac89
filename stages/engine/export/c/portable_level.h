// PortableLevel: kernels compute as C files do while it lives.
#pragma once

#include <string>

#include "engine/kernels/cpu/isa/level.h"

namespace kdgat::exporting {

/// The level of the process: use it while no other thread computes.
class PortableLevel {
 public:
  PortableLevel() : before_(kernels::isa_level()) { kernels::set_isa_level("portable"); }
  ~PortableLevel() { kernels::set_isa_level(before_); }
  PortableLevel(const PortableLevel&) = delete;
  PortableLevel& operator=(const PortableLevel&) = delete;

 private:
  std::string before_;
};

}  // namespace kdgat::exporting
