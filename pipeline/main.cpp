#include <exception>
#include <iostream>

#include "pipeline/cli.h"

int main(int argc, char** argv) {
  std::ios::sync_with_stdio(false);
  try {
    return kdgat::run_command({argv + 1, argv + argc}, std::cout, std::cerr);
  } catch (const std::exception& e) {
    std::cerr << "error: " << e.what() << '\n';
  }
  return static_cast<int>(kdgat::ExitCode::kStageFailed);
}
