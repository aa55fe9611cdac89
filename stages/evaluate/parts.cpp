#include "evaluate/parts.h"

#include <algorithm>
#include <utility>

#include "kdgat/error.h"

namespace kdgat::evaluate {

std::vector<std::string> parts_to_judge(const train::Data& data,
                                        const std::vector<std::string>& wanted) {
  std::vector<std::string> out;
  for (const auto& [part, ids] : data.split.parts) {
    const bool is_test = part.rfind("test", 0) == 0;
    const bool is_wanted =
        wanted.empty() || std::find(wanted.begin(), wanted.end(), part) != wanted.end();
    if (part == "val" || (is_test && is_wanted)) out.push_back(part);
  }
  std::sort(out.begin(), out.end(), [](const std::string& a, const std::string& b) {
    return std::pair(a != "val", a) < std::pair(b != "val", b);
  });
  return out;
}

std::string shown_part(const std::string& part) {
  return part.rfind("test/", 0) == 0 ? part.substr(5) : part;
}

void refuse_ablation(const EvaluateOptions& options) {
  if (options.ablate == "none") return;
  throw Error(ExitCode::kUsage, "ablate=" + options.ablate + " is for windows of logs",
              "what the edges of labelled graphs give, a classifier with conv=none shows");
}

}  // namespace kdgat::evaluate
