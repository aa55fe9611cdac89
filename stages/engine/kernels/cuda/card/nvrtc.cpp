#include "engine/kernels/cuda/card/nvrtc.h"

#include <algorithm>
#include <cstdlib>
#include <sstream>

#include "kdgat/error.h"

namespace kdgat::kernels::cuda {

namespace fs = std::filesystem;

std::vector<std::string> nvrtc_names(const std::vector<fs::path>& folders) {
  if (const char* named = std::getenv("KDGAT_NVRTC"); named != nullptr && *named != '\0') {
    return {named};
  }
  std::vector<std::string> out;
  for (const fs::path& folder : folders) {
    std::vector<std::string> here;
    std::error_code ignored;
    for (const fs::directory_entry& entry : fs::directory_iterator(folder, ignored)) {
      const std::string name = entry.path().filename();
      // LibTorch's own has a hash in its name; "alt" and "builtins" belong to the compiler.
      const bool is_it = name.starts_with("libnvrtc") && name.find(".so") != std::string::npos &&
                         name.find("builtins") == std::string::npos &&
                         name.find(".alt.") == std::string::npos;
      if (is_it) here.push_back(entry.path());
    }
    std::sort(here.rbegin(), here.rend());
    out.insert(out.end(), here.begin(), here.end());
  }
  out.insert(out.end(), {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so.11.2"});
  return out;
}

namespace {

/// Opens the compiler's library of built-in functions. The compiler asks the loader for it by name
/// alone when it compiles; NVRTC 13.0 has no RUNPATH, and the loader looks in no folder of a Python
/// package. A library that is open already is found by its name.
void open_builtins(const fs::path& compiler) {
  if (!compiler.has_parent_path()) return;
  std::error_code ignored;
  for (const fs::directory_entry& entry : fs::directory_iterator(compiler.parent_path(), ignored)) {
    const std::string name = entry.path().filename();
    const bool is_it =
        name.starts_with("libnvrtc-builtins") && name.find(".alt.") == std::string::npos;
    if (is_it) Library::is_there(entry.path());
  }
}

}  // namespace

Nvrtc::Nvrtc(const std::vector<std::string>& names) : library_(names) {
  open_builtins(library_.name());
  int (*version)(int*, int*) = nullptr;
  int (*count)(int*) = nullptr;
  int (*known)(int*) = nullptr;
  library_.find(error_, "nvrtcGetErrorString");
  library_.find(version, "nvrtcVersion");
  library_.find(count, "nvrtcGetNumSupportedArchs");
  library_.find(known, "nvrtcGetSupportedArchs");
  library_.find(create_, "nvrtcCreateProgram");
  library_.find(compile_, "nvrtcCompileProgram");
  library_.find(destroy_, "nvrtcDestroyProgram");
  library_.find(log_size_, "nvrtcGetProgramLogSize");
  library_.find(log_, "nvrtcGetProgramLog");
  library_.find(cubin_size_, "nvrtcGetCUBINSize");
  library_.find(cubin_, "nvrtcGetCUBIN");
  library_.find(ptx_size_, "nvrtcGetPTXSize");
  library_.find(ptx_, "nvrtcGetPTX");
  int major = 0, minor = 0, architectures = 0;
  check(version(&major, &minor), "version");
  version_ = std::to_string(major) + "." + std::to_string(minor);
  check(count(&architectures), "architectures");
  architectures_.resize(static_cast<std::size_t>(std::max(architectures, 0)));
  check(known(architectures_.data()), "architectures");
  std::sort(architectures_.begin(), architectures_.end());
}

void Nvrtc::check(int status, const char* what) const {
  if (status == 0) return;
  throw Error(ExitCode::kPlugin, library_.name() + ": " + what + ": " + error_(status));
}

int Nvrtc::target_of(int architecture) const {
  const auto above = std::upper_bound(architectures_.begin(), architectures_.end(), architecture);
  if (above != architectures_.begin()) return *(above - 1);
  throw Error(
      ExitCode::kPlugin,
      "NVRTC " + version_ + " makes no code for sm_" + std::to_string(architecture) +
          ", the least is sm_" +
          (architectures_.empty() ? std::string("?") : std::to_string(architectures_.front())));
}

std::vector<std::string> Nvrtc::words(int architecture) const {
  const int target = target_of(architecture);
  return {std::string("--gpu-architecture=") + (target == architecture ? "sm_" : "compute_") +
              std::to_string(target),
          "--std=c++17", "--ptxas-options=-v"};
}

std::string Nvrtc::options(int architecture) const {
  std::string out;
  for (const std::string& word : words(architecture)) out.append(word).append(" ");
  return out;
}

std::string Nvrtc::compile(std::string_view source, int architecture, std::string* log) const {
  const std::vector<std::string> all = words(architecture);
  std::vector<const char*> options;
  options.reserve(all.size());
  for (const std::string& word : all) options.push_back(word.c_str());

  struct Made {
    const Nvrtc& by;
    Program program = nullptr;
    ~Made() { by.destroy_(&program); }
  } made{*this};
  const std::string text(source);
  check(create_(&made.program, text.c_str(), "kdgat.cu", 0, nullptr, nullptr), "source");
  const int status = compile_(made.program, static_cast<int>(options.size()), options.data());
  // With the zero at its end.
  const auto read = [&](int (*size_of)(Program, size_t*), int (*get)(Program, char*),
                        const char* what) {
    size_t size = 0;
    check(size_of(made.program, &size), what);
    std::string out(size, '\0');
    check(get(made.program, out.data()), what);
    return out;
  };
  std::string said = read(log_size_, log_, "log");
  said.resize(std::min(said.size(), said.find('\0')));
  if (log != nullptr) *log = said;
  if (status != 0) {
    throw Error(ExitCode::kPlugin,
                library_.name() + ": " + error_(status) + ": " + first_errors(said));
  }
  const bool is_code = target_of(architecture) == architecture;
  return is_code ? read(cubin_size_, cubin_, "code") : read(ptx_size_, ptx_, "PTX");
}

std::string first_errors(std::string_view log) {
  constexpr int kLines = 3;
  constexpr std::size_t kMost = 400;
  std::string out, first;
  int lines = 0;
  std::istringstream in{std::string(log)};
  for (std::string line; lines < kLines && std::getline(in, line);) {
    if (first.empty()) first = line;
    if (line.find("error") == std::string::npos) continue;
    if (lines++ > 0) out += "; ";
    out += line;
  }
  if (lines == 0) out = first;
  if (out.size() > kMost) out.replace(kMost, std::string::npos, " ...");
  return out;
}

namespace {

/// The whole number right before `words` in a line; 0 if they are not there.
int number_before(std::string_view line, std::string_view words) {
  const std::size_t end = line.find(words);
  if (end == std::string_view::npos) return 0;
  const std::size_t other = line.substr(0, end).find_last_not_of("0123456789");
  const std::size_t begin = other == std::string_view::npos ? 0 : other + 1;
  return begin == end ? 0 : std::stoi(std::string(line.substr(begin, end - begin)));
}

}  // namespace

std::vector<KernelUse> kernel_uses(std::string_view log) {
  constexpr std::string_view kEntry = "Compiling entry function '";
  std::vector<KernelUse> out;
  std::istringstream in{std::string(log)};
  for (std::string line; std::getline(in, line);) {
    if (const std::size_t at = line.find(kEntry); at != std::string::npos) {
      const std::size_t name = at + kEntry.size();
      out.push_back({line.substr(name, line.find('\'', name) - name)});
    }
    if (out.empty()) continue;
    KernelUse& use = out.back();
    use.stack_bytes += number_before(line, " bytes stack frame");
    use.spilled_bytes += number_before(line, " bytes spill stores");
    use.spilled_bytes += number_before(line, " bytes spill loads");
    use.registers += number_before(line, " registers");
    use.shared_bytes += number_before(line, " bytes smem");
  }
  std::sort(out.begin(), out.end(),
            [](const KernelUse& a, const KernelUse& b) { return a.kernel < b.kernel; });
  return out;
}

}  // namespace kdgat::kernels::cuda
