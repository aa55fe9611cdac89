#include "export/verify_page.h"

#include "kdgat/text.h"

namespace kdgat::exporting {

std::string verify_page(const Exported& exported, const ExportOptions& options,
                        const Checks& checks) {
  const ExportFormat& format = export_format(options.format);
  std::string out = "# What was checked\n\n";
  out += "`" + options.name + "` was made of the " + exported.kind + " " + exported.model +
         " (xxh3-128 " + exported.hash + ")" + exported.of + " by kdgat, as " + format.title +
         (format.takes_int8 ? " with " + options.weights + " weights" : "") +
         ".\n\n| checked | on | windows | largest difference of scores | decisions that differ |\n"
         "|---|---|---|---|---|\n";
  for (const Check& check : checks.done) {
    out += "| " + check.what + " | " + check.where + " | " + grouped(check.windows) + " | " +
           format_number("%.3g", check.largest_difference) + " | " +
           grouped(check.decisions_differ) + " |\n";
  }
  for (const Check& check : checks.done) {
    if (!check.more.empty()) out += "\n" + check.where + ": " + check.more + ".\n";
  }
  for (const std::string& sentence : checks.not_done) out += "\nNot checked: " + sentence + "\n";
  out += "\nAn exact export is not written where a score differs by more than " +
         format_number("%.0e", kMostDifference) +
         ", or a decision although its score is farther from the threshold than the largest "
         "difference.\n" +
         exported.size + "\n## To check it again\n\n" + exported.again;
  return out;
}

}  // namespace kdgat::exporting
