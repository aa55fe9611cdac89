#include "export/c_size.h"

#include <sys/utsname.h>

#include <fstream>
#include <sstream>
#include <vector>

#include "engine/export/c/runtime_texts.h"
#include "export/run_program.h"
#include "kdgat/text.h"

namespace kdgat::exporting {
namespace {

namespace fs = std::filesystem;

constexpr const char* kSizeFlags = "-Os";

std::string machine() {
  utsname of{};
  return ::uname(&of) == 0 ? of.machine : "this machine";
}

/// Compiles and runs one program beside the export; false where that fails.
bool run_beside(std::vector<std::string> words, const std::string& text, const fs::path& source,
                int64_t& number) {
  std::ofstream(source, std::ios::binary) << text;
  const fs::path program = fs::path(source).replace_extension();
  words.insert(words.end(), {"-o", program.string(), source.string()});
  if (run_program(words).code != 0) return false;
  const Ran ran = run_program({program.string()});
  return ran.code == 0 && static_cast<bool>(std::istringstream(ran.output) >> number);
}

}  // namespace

std::optional<MeasuredSize> measured_size(const fs::path& folder, const std::string& name,
                                          const std::string& compiler, const fs::path& work) {
  const std::string object = (work / "sized.o").string();
  const std::vector<std::string> compile = {compiler,
                                            "-std=c99",
                                            kSizeFlags,
                                            "-ffp-contract=off",
                                            "-fno-asynchronous-unwind-tables",
                                            "-fno-pic",
                                            "-I",
                                            folder.string()};
  std::vector<std::string> words = compile;
  words.insert(words.end(), {"-c", "-o", object, (folder / (name + ".c")).string()});
  if (run_program(words).code != 0) return std::nullopt;
  const Ran sized = run_program({"size", object});
  std::istringstream rows(sized.output);
  std::string head;
  int64_t text = 0, data = 0, bss = 0;
  if (sized.code != 0 || !std::getline(rows, head) || !(rows >> text >> data >> bss)) {
    return std::nullopt;
  }
  MeasuredSize out{compiler + " " + kSizeFlags + ", " + machine(), text + data, data + bss};
  std::vector<std::string> with = compile;
  with.erase(with.begin() + 1);  // ucontext.h is no C99
  // Constants that name others stay constants, and no call is looked up on the measured stack.
  with.insert(with.end(), {"-no-pie", "-Wl,-z,now", object});
  const std::map<std::string, std::string> names = {{"NAME", name}};
  const std::string state = "#include <stdio.h>\n#include \"" + name +
                            ".h\"\nint main(void) { return printf(\"%lu\", "
                            "(unsigned long)sizeof(kdgat_state)) < 0; }\n";
  if (!run_beside(with, state, work / "state.c", out.state) ||
      !run_beside(with, runtime_text("stack.c", names), work / "stack.c", out.stack)) {
    return std::nullopt;
  }
  return out;
}

std::string MeasuredSize::page() const {
  return "\n## What it takes\n\nMeasured of what `" + compiler +
         "` makes of it; the header has bounds for any target.\n\n| | bytes |\n|---|---|\n| flash: "
         "code and constants (`size`) | " +
         grouped(flash) + " |\n| memory: `sizeof(kdgat_state)` | " + grouped(state) +
         " |\n| memory beside it | " + grouped(memory) +
         " |\n| stack, on the frames of the test vectors | " + grouped(stack) + " |\n";
}

}  // namespace kdgat::exporting
