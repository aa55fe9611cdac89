// What is said and done when there is no more memory.
#pragma once

#include <c10/core/Device.h>

#include <exception>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "engine/memory/meter.h"
#include "engine/memory/own_space.h"
#include "kdgat/error.h"
#include "kdgat/stage.h"

namespace kdgat::memory {

/// kGpuMemory or kHostMemory.
ExitCode out_of_memory_code(c10::Device device);

/// Writes oom-report.md into `folder` (nothing if that is empty): what was asked for, the largest
/// live tensors by label, plan against actual, and what would help. Never throws.
void write_oom_report(const std::filesystem::path& folder, c10::Device device,
                      const std::string& what);

/// The plan of this thread's stage (MemoryPlan::json()), for the report.
void set_reported_plan(nlohmann::json plan);

/// The end of a stage that has no more memory: exit 81 or 82. `doing` and the system's `failure`
/// are for people.
class OutOfMemory : public Error {
 public:
  OutOfMemory(c10::Device device, const std::string& doing, std::string failure);
  const std::string& failure() const { return failure_; }

 private:
  std::string failure_;
};

/// A stage whose run() turns out of memory, wherever it happens, into a report and exit 81 or 82;
/// one of several in a process gets a space of its own.
template <class Stage>
struct Guarded : Stage {
  using Options = typename Stage::Options;

  static nlohmann::json plan(const Options& options, const Request& request) {
    const OwnSpace space(request);
    return Stage::plan(options, request);
  }

  static nlohmann::json run(const Options& options, const Request& request, Host& host) {
    const OwnSpace space(request);
    try {
      return Stage::run(options, request, host);
    } catch (const std::exception& error) {
      const auto* known = dynamic_cast<const OutOfMemory*>(&error);
      if (known == nullptr && !is_out_of_memory(error)) throw;
      const c10::Device device(request.device);
      write_oom_report(request.run_dir, device, known ? known->failure() : error.what());
      if (known != nullptr) throw;
      throw OutOfMemory(device, "", error.what());
    }
  }
};

}  // namespace kdgat::memory
