#include "pipeline/records/http.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <chrono>
#include <memory>
#include <sstream>
#include <utility>
#include <vector>

#include "kdgat/error.h"
#include "kdgat/program_path.h"
#include "kdgat/text.h"
#include "pipeline/records/mlflow_address.h"
#include "pipeline/system/json_file.h"
#include "pipeline/system/owned_fd.h"

namespace kdgat {
namespace {

constexpr std::size_t kMostBody = std::size_t{4} << 20;
constexpr std::size_t kMostHeaders = std::size_t{256} << 10;
constexpr std::size_t kMostReport = std::size_t{1} << 20;
constexpr int kMostRedirects = 10;
constexpr const char* kTooLong = "the answer is longer than 4 MiB";
/// The first that says in its report what went wrong.
constexpr std::pair kOldestCurl{7, 75};

/// What ends the making of a request, in words.
[[noreturn]] void refuse(const std::string& what) { throw Error(ExitCode::kData, what); }

/// What a request line may hold: a server may send to any bytes.
std::string encoded(const std::string& url) {
  std::string out;
  for (const char c : url) {
    const auto byte = static_cast<unsigned char>(c);
    constexpr const char* kDigits = "0123456789ABCDEF";
    if (byte > 0x20 && byte < 0x7f) {
      out += c;
    } else {
      out += {'%', kDigits[byte / 16], kDigits[byte % 16]};
    }
  }
  return out;
}

/// "https://host:8080" in lower case, without the port that its scheme has anyway. Fails for what
/// is no such address, and where a user stands before the host: which host it is must be certain.
std::string origin_of(const std::string& url) {
  std::string out = url.substr(0, url.find_first_of("/?#", url.find("://") + 3));
  std::transform(out.begin(), out.end(), out.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  const std::size_t host = out.find("://") + 3;
  const std::size_t bracket = out.rfind(']');
  const std::size_t colon = out.find(':', bracket == std::string::npos ? host : bracket);
  const std::string port = colon == std::string::npos ? ":0" : out.substr(colon);
  if (!(out.starts_with("http://") || out.starts_with("https://")) || host == out.size() ||
      host == colon || port == ":" || out.find_first_of("@\\") != std::string::npos ||
      port.find_first_not_of("0123456789", 1) != std::string::npos) {
    refuse("not a URL: " + encoded(without_password(out)));
  }
  if (port == (out.starts_with("https:") ? ":443" : ":80")) out.resize(colon);
  return out;
}

std::string with_query(const std::string& url, const std::string& query) {
  if (query.empty()) return url;
  return url + (url.find('?') == std::string::npos ? "?" : "&") + query;
}

/// A server may repeat the query of a request where it sends to; of `secret` nothing goes there.
std::string without_query(const std::string& url, const std::string& secret) {
  const std::size_t mark = url.find('?');
  if (mark == std::string::npos || secret.empty()) return url;
  std::string kept;
  std::istringstream parts(url.substr(mark + 1));
  for (std::string part; std::getline(parts, part, '&');) {
    if (("&" + secret + "&").find("&" + part + "&") != std::string::npos) continue;
    kept += (kept.empty() ? "?" : "&") + part;
  }
  return url.substr(0, mark) + kept;
}

/// A line of curl's configuration, which ends where this value does, whatever is in it.
std::string option(const std::string& name, const std::string& value) {
  std::string out = name + " = \"";
  for (const char c : value) {
    if (c == '"' || c == '\\') out += '\\';
    out += c == '\n' ? "\\n" : std::string(1, c);
  }
  return out + "\"\n";
}

std::string header_options(const std::map<std::string, std::string>& headers) {
  std::string out;
  for (const auto& [name, value] : headers) {
    if ((name + value).find_first_of("\r\n") != std::string::npos) {
      refuse("the header " + name + " has a line break");
    }
    out += option("header", value.empty() ? name + ";" : std::string(name) += ": " + value);
  }
  return out;
}

std::string tls_options() {
  std::string out;
  const std::string insecure = variable("MLFLOW_TRACKING_INSECURE_TLS");
  if (insecure == "true" || insecure == "1") out += "insecure\n";
  if (const std::string file = variable("MLFLOW_TRACKING_SERVER_CERT_PATH"); !file.empty()) {
    // Beside the file the system's folder would count, so another takes its place.
    out += option("cacert", file) + option("capath", "/proc/self/fdinfo");
  }
  return out;
}

/// A file of this process as another names it.
std::string path_of(const OwnedFd& fd) {
  return "/proc/" + std::to_string(::getpid()) + "/fd/" + std::to_string(fd.get());
}

/// Where the headers at the beginning end, with those of "100 Continue" before them; npos if they
/// do not.
std::size_t end_of_headers(const std::string& text) {
  for (std::size_t at = 0;;) {
    const bool are_first = text.compare(std::min(at + 8, text.size()), 2, " 1") == 0;  // HTTP/1.1
    for (std::size_t line = at, end = 0;; line = at) {
      end = text.find('\n', line);
      if (end == std::string::npos) return end;
      at = end + 1;
      if (end == line || text.compare(line, end - line, "\r") == 0) break;
    }
    if (!are_first) return at;
  }
}

/// The last line of a text, which is taken from it.
std::string take_line(std::string& text) {
  const std::size_t at = text.rfind('\n');
  if (at == std::string::npos) return "";
  std::string line = text.substr(at + 1);
  text.resize(at);
  return line;
}

/// "Connection refused" of "* connect to 127.0.0.1 port 1 failed: Connection refused": what the
/// system said of the last address that was tried, which is not in curl's message.
std::string reason_in(const std::string& log, const std::string& otherwise) {
  const std::string mark = " failed: ";
  const std::size_t at = log.rfind(mark);
  if (at == std::string::npos) return otherwise;
  const std::size_t begin = at + mark.size();
  return log.substr(begin, log.find('\n', begin) - begin);
}

/// What curl's exit code, its message and its log say.
std::string words_of(int code, const std::string& said, const std::string& log) {
  switch (code) {
    case 1:  // a protocol that is none, or not allowed: HTTP/0.9
    case 8:
      return "the answer is not HTTP: " + said;
    case 6:
      return "no connection: " + said;
    case 7:
      return "no connection: " + reason_in(log, said);
    case 18:
    case 52:
      return "the connection ended before the whole answer";
    case 28:
      return "no whole answer came in time: " + said;
    case 35:
      return "TLS: no agreement with the server: " + said;
    case 55:
      return "the connection ended while the request was sent";
    case 56:
      return "no whole answer: " + said;
    case 60:
      return "TLS: the server's certificate is not trusted: " + said;
    case 77: {
      const std::string file = variable("MLFLOW_TRACKING_SERVER_CERT_PATH");
      return "TLS: the certificates " + (file.empty() ? "of the system" : "in " + file) +
             " cannot be read";
    }
    default:
      return "curl ended with " + std::to_string(code) + ": " + said;
  }
}

class Curl {
 public:
  explicit Curl(double seconds) : seconds_(seconds) {}

  HttpResponse request(const HttpRequest& request) {
    try {
      return followed(request, deadline_in(seconds_));
    } catch (const std::exception& e) {
      return {0, "", e.what()};
    }
  }

 private:
  struct Answer {
    HttpResponse response;
    std::string location;  ///< where it sends to; "" = nowhere
  };

  HttpResponse followed(const HttpRequest& request, Deadline until) {
    if (program_.empty()) {
      const CurlProgram found = find_curl(until);
      if (!found.problem.empty()) refuse(found.problem + "; install it (" + kCurlHint + ")");
      program_ = found.path;
    }
    const std::string first = origin_of(request.url);
    HttpRequest now = request;
    now.url = with_query(request.url, request.query);
    for (int i = 0; i <= kMostRedirects; ++i) {
      const bool is_first = origin_of(now.url) == first;
      now.credentials = is_first ? request.credentials : decltype(request.credentials)();
      if (!is_first) now.url = without_query(now.url, request.query);
      Answer answer = exchange(now, until);
      if (answer.location.empty()) return std::move(answer.response);
      now.url = std::move(answer.location);
      constexpr int kSeeOther = 303;  // what was sent has been taken
      if (answer.response.status == kSeeOther) {
        now.method = "GET";
        now.body.clear();
      }
    }
    refuse("too many redirections");
  }

  Answer exchange(const HttpRequest& request, Deadline until) const {
    const OwnedFd body = memory_file(request.body), log = memory_file("");
    Subprocess curl({program_, "--disable", "--config", "-"}, {"LC_ALL=C"});
    curl.write(config_of(request, path_of(body), path_of(log)), until);
    curl.close_input();
    constexpr std::size_t kMost = kMostHeaders + kMostBody + kMostReport;
    std::string said = curl.read_all(until, kMost);
    const std::size_t head = std::min(end_of_headers(said), said.size());
    if (head > kMostHeaders) refuse("the headers of the answer are longer than 256 KiB");
    if (said.size() > kMost) refuse(kTooLong);
    if (std::chrono::steady_clock::now() >= until) {
      refuse("no whole answer came in time: " + format_number("%.3g", seconds_) + " s");
    }
    int code = 0, status = 0;
    std::size_t size = 0;
    if (!(std::istringstream(take_line(said)) >> code >> status >> size)) {
      refuse(program_ + ", which makes requests, ended unexpectedly");
    }
    const std::string location = take_line(said), message = take_line(said);
    if (code != 0) refuse(words_of(code, message, file_text(path_of(log)).value_or("")));
    if (size > kMostBody) refuse(kTooLong);
    constexpr std::array kMoved = {301, 302, 303, 307, 308};
    const bool has_moved = std::find(kMoved.begin(), kMoved.end(), status) != kMoved.end();
    // Behind so many bytes may be the trailers of one in chunks.
    return {{status, said.substr(std::min(head, said.size()), size), ""},
            has_moved ? location : ""};
  }

  std::string config_of(const HttpRequest& request, const std::string& body,
                        const std::string& log) const {
    std::string out =
        "globoff\nhttp1.1\ninclude\npath-as-is\nsilent\nverbose\nnoproxy = \"*\"\n"
        "proto = \"=http,https\"\nuser-agent = \"kdgat\"\nheader = \"Expect:\"\n"
        "write-out = \"\\n%{errormsg}\\n%{redirect_url}\\n"
        "%{exitcode} %{http_code} %{size_download}\"\n";
    out += option("url", encoded(request.url)) + option("request", request.method) +
           option("stderr", log) + header_options(request.headers) +
           header_options(request.credentials) + tls_options();
    // It ends by itself where nobody is left to end it.
    out += option("max-time", format_number("%.3f", seconds_));
    if (request.method == "GET" && request.body.empty()) return out;
    // Some versions send nothing where they cannot read the file; with its length no server takes
    // that for the whole.
    return out + option("data-binary", "@" + body) +
           option("header", "Content-Length: " + std::to_string(request.body.size()));
  }

  double seconds_;
  std::string program_;
};

}  // namespace

Http http_process(double seconds) {
  return [curl = std::make_shared<Curl>(seconds)](const HttpRequest& request) {
    return curl->request(request);
  };
}

CurlProgram find_curl(Deadline until) {
  const std::string need = ", and requests to a server need " + std::to_string(kOldestCurl.first) +
                           "." + std::to_string(kOldestCurl.second) + " or later";
  CurlProgram out{program_path("curl"), "", ""};
  if (out.path.empty()) {
    out.problem = "no curl in PATH" + need;
    return out;
  }
  std::istringstream line;
  try {
    Subprocess process({out.path, "--disable", "--version"});
    line.str(process.read_line(until).value_or(""));  // curl 7.88.1 (x86_64...
  } catch (const std::exception& e) {
    out.problem = e.what();
    return out;
  }
  std::string name;
  int major = 0, minor = 0;
  char dot = 0;
  line >> name >> out.version;
  std::istringstream(out.version) >> major >> dot >> minor;
  if (std::pair(major, minor) < kOldestCurl) {
    out.problem = out.path + " is version " + (out.version.empty() ? "?" : out.version) + need;
  }
  return out;
}

}  // namespace kdgat
