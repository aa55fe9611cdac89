#include "pipeline/tune/trial_process.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "kdgat/exact_json.h"
#include "pipeline/system/log.h"
#include "pipeline/system/subprocess.h"

namespace kdgat {

using nlohmann::json;

TrialProcess::TrialProcess(std::filesystem::path log_file, const ProcessSettings& settings)
    : settings_(settings),
      log_file_(std::move(log_file)),
      output_(open_file(log_file_, O_WRONLY | O_APPEND | O_CREAT)),
      kills_before_(settings.machine.oom_kills()) {
  Pipe requests = make_pipe();
  requests_ = std::move(requests.write);
  ChildSpec spec = child_spec(settings_, settings_.allocator);
  spec.verb = "trials-child";
  spec.request_fd = requests.read.get();
  spec.output_fd = output_.get();
  child_ = std::make_unique<Child>(spec);
}

TrialProcess::~TrialProcess() {
  requests_.reset();
  if (!out_.empty()) return;  // Child kills it
  while (child_->poll(100, [](std::string_view) {})) {
  }
}

void TrialProcess::write(const json& line) {
  write_all(requests_.get(), exact_dump(line) + "\n");  // one that has died: poll() says so
}

void TrialProcess::start(int64_t id, const StageCall& call) {
  out_.insert(id);
  write({{"start", id}, {"call", call.to_json()}});
}

void TrialProcess::cancel(int64_t id, int code) { write({{"cancel", id}, {"code", code}}); }

void TrialProcess::kill() { child_->kill(); }

uint64_t TrialProcess::memory() const { return settings_.machine.anonymous_memory(child_->pid()); }

bool TrialProcess::poll(int milliseconds, const OnTrialEvent& on_event, const OnTrialEnd& on_end) {
  peak_ = std::max(peak_, memory());
  const bool is_alive = child_->poll(milliseconds, [&](std::string_view text) {
    json line = json::parse(text, nullptr, false);
    if (!line.is_object() || !line.contains("id")) return;
    const int64_t id = line.at("id");
    line.erase("id");
    if (!line.contains("answer")) return on_event(id, line);
    if (out_.erase(id) == 0) return;
    on_end(id, {StageAnswer::from_json(line.at("answer")), line.value("seconds", 0.0),
                line.value("cpu_seconds", 0.0), false});
  });
  if (is_alive) return true;
  TrialEnd end;
  end.died = true;
  end.answer = answer_of_end(child_->end(), settings_.machine.oom_kills() - kills_before_, peak_,
                             settings_.machine, log_file_);
  for (const int64_t id : std::exchange(out_, {})) on_end(id, end);
  return false;
}

}  // namespace kdgat
