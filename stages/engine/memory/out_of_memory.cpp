#include "engine/memory/out_of_memory.h"

#include <sstream>
#include <utility>

#include "kdgat/atomic_file.h"
#include "kdgat/text.h"

namespace kdgat::memory {
namespace {

/// A message of LibTorch without its backtrace.
std::string first_part(const std::string& what) {
  return what.substr(0, what.find("\nException raised from"));
}

const char* kHelp =
    "gradient_checkpointing=true, a smaller batch_size (with accumulate_grad_batches to keep the "
    "step), teacher=cache, or smaller widths (a student preset)";

nlohmann::json& reported_plan() {
  thread_local nlohmann::json plan;
  return plan;
}

}  // namespace

void set_reported_plan(nlohmann::json plan) { reported_plan() = std::move(plan); }

ExitCode out_of_memory_code(c10::Device device) {
  return device.is_cpu() ? ExitCode::kHostMemory : ExitCode::kGpuMemory;
}

void write_oom_report(const std::filesystem::path& folder, c10::Device device,
                      const std::string& what) {
  if (folder.empty()) return;
  const nlohmann::json& plan = reported_plan();
  try {
    std::ostringstream out;
    const Counters now = meter(device).counters();
    out << "# Out of memory on " << device.str() << "\n\n" << first_part(what) << "\n\n";
    out << "| | |\n|---|---|\n";
    if (device.is_cpu()) {
      const Failure failure = Arena::instance().last_failure();
      out << "| asked for | " << mebibytes(failure.bytes) << " |\n";
      out << "| held by tensors then | " << mebibytes(failure.allocated) << " |\n";
      if (failure.limit > 0) out << "| limit of tensors | " << mebibytes(failure.limit) << " |\n";
      out << "| held beside tensors now | " << mebibytes(anonymous_memory() - now.reserved)
          << " |\n";
    }
    out << "| largest ever held by tensors | " << mebibytes(now.peak_allocated) << " |\n";
    if (plan.is_object()) {
      out << "| planned | " << mebibytes(plan.value("predicted", int64_t{0})) << " |\n";
    }
    if (device.is_cpu()) {
      out << "\nThe largest live tensors when the request failed:\n\n| bytes | made in "
             "|\n|---|---|\n";
      for (const LiveBlock& block : Arena::instance().last_failure().largest) {
        out << "| " << mebibytes(block.bytes) << " | " << (*block.label == 0 ? "-" : block.label)
            << " |\n";
      }
    }
    if (plan.is_object()) out << "\nThe plan: `" << plan.value("line", "") << "`\n";
    out << "\nWhat would help: " << kHelp << ".\n";
    write_file(folder / "oom-report.md", out.str());
  } catch (const std::exception&) {
    // The error that is about to be reported says more than that its report failed.
  }
}

OutOfMemory::OutOfMemory(c10::Device device, const std::string& doing, std::string failure)
    : Error(out_of_memory_code(device),
            std::string("out of ") + (device.is_cpu() ? "host" : "GPU") + " memory" +
                (doing.empty() ? "" : " " + doing) + ": " + first_part(failure),
            std::string("oom-report.md in the step's folder says more; ") + kHelp),
      failure_(std::move(failure)) {}

}  // namespace kdgat::memory
