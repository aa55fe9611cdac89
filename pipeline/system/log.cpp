#include "pipeline/system/log.h"

#include <spdlog/logger.h>
#include <spdlog/sinks/basic_file_sink.h>

#include <algorithm>
#include <fstream>
#include <sstream>

#include "kdgat/error.h"

namespace kdgat {

struct StepLog::Sink {
  explicit Sink(const std::filesystem::path& path)
      : logger("step", std::make_shared<spdlog::sinks::basic_file_sink_st>(path.string())) {
    logger.set_pattern("%Y-%m-%d %H:%M:%S.%e %l %v");
    logger.flush_on(spdlog::level::trace);
    logger.set_error_handler([](const std::string&) {});
  }
  spdlog::logger logger;
};

StepLog::StepLog(const std::filesystem::path& path) {
  try {
    sink_ = std::make_unique<Sink>(path);
  } catch (const spdlog::spdlog_ex& e) {
    throw Error(ExitCode::kData, "cannot write " + path.string() + ": " + e.what());
  }
}
StepLog::~StepLog() = default;
StepLog::StepLog(StepLog&&) noexcept = default;

void StepLog::write(const std::string& level, const std::string& text) {
  sink_->logger.log(level == "error"     ? spdlog::level::err
                    : level == "warning" ? spdlog::level::warn
                                         : spdlog::level::info,
                    text);
}

std::string last_lines(const std::filesystem::path& path, int count) {
  constexpr std::streamoff kTail = 1 << 14;
  std::ifstream in(path, std::ios::binary | std::ios::ate);
  if (!in) return "";
  in.seekg(std::max<std::streamoff>(0, static_cast<std::streamoff>(in.tellg()) - kTail));
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) {
    if (!line.empty()) lines.push_back(std::move(line));
  }
  std::string out;
  const std::size_t wanted = static_cast<std::size_t>(count);
  for (std::size_t i = lines.size() > wanted ? lines.size() - wanted : 0; i < lines.size(); ++i) {
    out += (out.empty() ? "" : "\n") + lines[i];
  }
  return out;
}

}  // namespace kdgat
