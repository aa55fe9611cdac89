#include <ostream>

#include "pipeline/show/status.h"

namespace kdgat {
namespace {

class JsonlStatus : public Status {
 public:
  JsonlStatus(std::ostream& out, Clock clock)
      : out_(out), clock_(std::move(clock)), zero_(clock_()) {}

  void announce(const std::vector<std::string>& steps) override {
    write({{"event", "steps"}, {"steps", steps}});
  }
  void begin(const std::string& step) override { write({{"event", "begin"}, {"step", step}}); }
  void progress(const Progress& now) override {
    write({{"event", "progress"},
           {"step", now.step},
           {"phase", now.phase},
           {"unit", now.unit},
           {"done", now.done},
           {"total", now.total},
           {"metrics", now.metrics},
           {"memory_bytes", now.memory_bytes}});
  }
  void end(const StepEnd& end) override {
    write({{"event", "end"},
           {"step", end.step},
           {"outcome", end.outcome},
           {"text", end.text},
           {"seconds", end.seconds},
           {"memory_bytes", end.memory_bytes}});
  }
  void message(const std::string& level, const std::string& text) override {
    write({{"event", "message"}, {"level", level}, {"text", text}});
  }
  void failure(const Failure& one) override {
    write({{"event", "message"}, {"level", "error"}, {"text", one.text()}, {"failure", one}});
  }

 private:
  void write(nlohmann::json event) {
    event["time"] = clock_() - zero_;
    out_ << event.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) << '\n'
         << std::flush;
  }

  std::ostream& out_;
  Clock clock_;
  double zero_;
};

}  // namespace

std::unique_ptr<Status> make_jsonl_status(std::ostream& out, Clock clock) {
  return std::make_unique<JsonlStatus>(out, std::move(clock));
}

}  // namespace kdgat
