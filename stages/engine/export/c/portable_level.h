// PortableLevel: kernels compute as C files do while it lives.
#pragma once

#include <string>

#include "engine/kernels/cpu/isa/level.h"

namespace kdgat::exporting {

/// The level of the process: use it while no other thread computes.
class PortableLevel {
 public:
  PortableLevel() : before_(model::isa_level()) { model::set_isa_level("portable"); }
  ~PortableLevel() { model::set_isa_level(before_); }
  PortableLevel(const PortableLevel&) = delete;
  PortableLevel& operator=(const PortableLevel&) = delete;

 private:
  std::string before_;
};

}  // namespace kdgat::exporting
