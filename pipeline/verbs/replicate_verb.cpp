// `kdgat replicate-child`: one replicate of a run, in the process that kdgat run --seeds started
// for it (tune/replicate_runs.h says what it is told and answers).
#include <fcntl.h>
#include <unistd.h>

#include <iostream>
#include <iterator>
#include <ostream>
#include <streambuf>
#include <string>

#include "kdgat/exact_json.h"
#include "pipeline/execute/child.h"
#include "pipeline/system/owned_fd.h"
#include "pipeline/tune/replicate_runs.h"
#include "pipeline/verbs/commands/run_command.h"
#include "pipeline/verbs/json/json_forms.h"

namespace kdgat {
namespace {

using nlohmann::json;

/// Writes to a descriptor; what its reader no longer takes is lost.
class DescriptorBuffer : public std::streambuf {
 public:
  explicit DescriptorBuffer(int fd) : fd_(fd) {}

 protected:
  int_type overflow(int_type c) override {
    if (!traits_type::eq_int_type(c, traits_type::eof())) {
      const char one = traits_type::to_char_type(c);
      xsputn(&one, 1);
    }
    return traits_type::not_eof(c);
  }
  std::streamsize xsputn(const char* text, std::streamsize size) override {
    write_all(fd_, {text, static_cast<std::size_t>(size)});
    return size;
  }

 private:
  int fd_;
};

int run_replicate(Context& context, const ReplicateRequest& request, std::ostream& host) {
  std::vector<std::string> words = request.words;
  words.insert(words.end(), {"--seed", std::to_string(request.seed), "--threads",
                             std::to_string(request.threads), "--progress", "jsonl"});
  RunStyle style;
  style.flags.takes_seeds = true;
  style.replicate_of = request.replicate_of;
  style.command = request.command;
  style.on_begin = [&](const std::string& run) {
    host << json_line(record::write<json>(ReplicateLine{.run = run})) << std::flush;
  };
  return run_words(context, words, style);
}

int replicate_verb(Context& context, const std::vector<std::string>&) {
  for (const int fd : {kEventsFd, kCancelFd, kLockFd}) ::fcntl(fd, F_SETFD, FD_CLOEXEC);
  json request =
      json::parse(std::string{std::istreambuf_iterator<char>(std::cin), {}}, nullptr, false);
  restore_exact(request);
  if (!request.is_object() || ::fcntl(kEventsFd, F_GETFD) == -1) {
    throw Error(ExitCode::kUsage, "replicate-child is started by kdgat run --seeds");
  }
  DescriptorBuffer to_host(kEventsFd);
  // Results are read from the run's folder.
  std::ostream host(&to_host), results(nullptr);
  ReplicateLine end;
  try {
    Context own{results, host, std::move(context.catalog), context.plugin_folders, true, 0, {}};
    end.answer = run_replicate(own, record::read<ReplicateRequest>(request), host);
  } catch (const Error& e) {
    end.answer = static_cast<int>(e.code());
    end.error = e.what();
  }
  host << json_line(record::write<json>(end)) << std::flush;
  return *end.answer;
}

}  // namespace

Verb make_replicate_verb() {
  return {"replicate-child", "", Needs::kPlugins, replicate_verb, nullptr, true};
}

}  // namespace kdgat
