// --progress of verbs that tell of steps as they work, and KDGAT_PROGRESS in its place.
#pragma once

#include <memory>
#include <string>

#include "pipeline/cli/cli.h"
#include "pipeline/cli/command_line.h"

namespace kdgat {

class ProgressFlag {
 public:
  void declare(CommandLine& line);
  /// In the form that was asked for. Throws Error(kUsage) if the environment names none there is.
  std::unique_ptr<Status> status(const Context& context) const;

 private:
  std::string form_;  ///< "" if the flag was not said
};

}  // namespace kdgat
