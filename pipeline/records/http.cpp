#include "pipeline/records/http.h"

#include <memory>
#include <nlohmann/json.hpp>

#include "kdgat/error.h"
#include "kdgat/text.h"
#include "pipeline/system/subprocess.h"

namespace kdgat {
namespace {

using nlohmann::json;

class HttpProcess {
 public:
  explicit HttpProcess(double seconds) : seconds_(seconds) {}

  HttpResponse request(const HttpRequest& request) {
    const json line = {{"method", request.method},           {"url", request.url},
                       {"headers", request.headers},         {"body", request.body},
                       {"credentials", request.credentials}, {"query", request.query}};
    const Deadline until = deadline_in(seconds_);
    try {
      if (!process_) {
        process_ = std::make_unique<Subprocess>(
            std::vector<std::string>{beside_executable("kdgat_http").string()});
      }
      const std::string text =
          line.dump(-1, ' ', false, json::error_handler_t::replace).append("\n");
      if (!process_->write(text, until)) return failed(until);
      const auto answer = process_->read_line(until);
      if (!answer) return failed(until);
      const json read = json::parse(*answer, nullptr, false);
      return {read.value("status", 0), read.value("body", ""), read.value("error", "")};
    } catch (const json::exception&) {
      return failed(until);
    } catch (const Error& e) {
      return {0, "", e.what()};
    }
  }

 private:
  HttpResponse failed(Deadline until) {
    process_.reset();
    if (std::chrono::steady_clock::now() < until) {
      return {0, "", "the process that makes requests (kdgat_http) ended unexpectedly"};
    }
    return {0, "", "no whole answer came in time: " + format_number("%.3g", seconds_) + " s"};
  }

  double seconds_;
  std::unique_ptr<Subprocess> process_;
};

}  // namespace

Http http_process(double seconds) {
  return [process = std::make_shared<HttpProcess>(seconds)](const HttpRequest& request) {
    return process->request(request);
  };
}

}  // namespace kdgat
