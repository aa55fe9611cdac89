// Passwords and tokens of an MLflow address in everything that a run, its report, its submission
// and kdgat sync write and say.
#include <sys/stat.h>

#include <catch2/catch.hpp>

#include "kdgat/atomic_file.h"
#include "support/runs/fake_mlflow.h"
#include "support/runs/runs.h"

using namespace kdgat;
using namespace kdgat::test;
using Catch::Contains;
namespace fs = std::filesystem;

namespace {

constexpr const char* kPassword = "pa55w0rd-of-ann";
constexpr const char* kToken = "t0ken-of-ann";

/// Where a secret stands, if anywhere: in a text, or in a file below a folder.
std::string places(const std::string& text, const fs::path& folder) {
  const std::string encoded = "YW5uOnBhNTV3MHJkLW9mLWFubg";  // ann:password, as it is sent
  const auto holds = [&](const std::string& content) {
    return content.find(kPassword) != std::string::npos ||
           content.find(kToken) != std::string::npos || content.find(encoded) != std::string::npos;
  };
  std::string out = holds(text) ? "said: " + text : "";
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    const bool is_text = entry.is_regular_file() && holds(read_text(entry.path()));
    if (is_text || holds(entry.path().string())) out += entry.path().string() + "\n";
  }
  return out;
}

mode_t mode_of(const fs::path& file) {
  struct stat found {};
  REQUIRE(::stat(file.c_str(), &found) == 0);
  return found.st_mode & 07777;
}

/// A folder, an address with secrets, and an sbatch that takes everything.
struct Place {
  Place() {
    fs::create_directories(scratch / "bin");
    write_file(scratch / "bin/sbatch", "#!/bin/bash\necho 7\n");
    fs::permissions(scratch / "bin/sbatch", fs::perms::owner_all);
    host = server.url().substr(std::string("http://").size());
    uri = std::string("http://ann:") + kPassword + "@" + host + "?token=" + kToken;
  }
  /// What was said; fails the test if it did not end with `code`.
  std::string say(const std::string& words, int code = 0, const std::string& before = "") const {
    const CommandResult result = run_shell(
        "PATH=\"$PWD/bin:$PATH\" " + before + " " + kdgat_word() + " " + words, scratch.path());
    INFO(words << "\n" << result.out << result.err);
    REQUIRE(result.exit_code == code);
    return result.out + result.err;
  }

  ScratchFolder scratch;
  FakeMlflow server;
  std::string host, uri;
};

}  // namespace

TEST_CASE("no password or token is written or shown", "[records][secrets]") {
  Place at;
  const std::string to = " --mlflow-uri '" + at.uri + "' ";
  std::string said = at.say("run example steps=2 --root runs" + to);
  CHECK(at.server.last_authorization() == "Basic YW5uOnBhNTV3MHJkLW9mLWFubg==");
  CHECK_THAT(at.server.last_query(), Contains(kToken));
  const fs::path run = newest_run(at.scratch / "runs/default");
  const std::string id = run.filename().string();
  said += at.say("plan example steps=2 --explain" + to);
  said += at.say("run example steps=3 --dry-run --json" + to);
  said += at.say("run example steps=x" + to, 2);
  said += at.say("config show --origin example" + to);
  said += at.say("config show --json example" + to);
  said += at.say("report " + id);
  said += at.say("runs show " + id);
  said += at.say("runs list --json");
  said += at.say("sync " + id + " --to '" + at.uri + "'");
  said += at.say("sync " + id + " --json", 0, "MLFLOW_TRACKING_URI='" + at.uri + "'");
  said += at.say("submit example steps=4 --dry-run" + to);
  said += at.say("submit example steps=4" + to);
  said += at.say("run example steps=5", 0, "MLFLOW_TRACKING_URI='" + at.uri + "'");
  at.server.mood = FakeMlflow::Mood::kError;
  said += at.say("run example steps=6" + to);
  said += at.say("sync --to '" + at.uri + "'", 3);
  CHECK(places(said, at.scratch.path()).empty());
  CHECK_THAT(said, Contains(at.host));  // the address itself is told

  // What holds an address is for its owner alone.
  std::size_t with_address = 0;
  for (const auto& entry : fs::recursive_directory_iterator(at.scratch / "runs")) {
    if (!entry.is_regular_file() || read_text(entry.path()).find(at.host) == std::string::npos) {
      continue;
    }
    INFO(entry.path());
    CHECK(mode_of(entry.path()) == 0600);
    ++with_address;
  }
  CHECK(with_address >= 5);  // run.json, mlflow.json, report.html, submission.json, a script
}

TEST_CASE("an address in which the end of a password cannot be told is refused unseen",
          "[records][secrets]") {
  const Place at;
  for (const std::string& address : {std::string("http://ann:") + kPassword + "/x@" + at.host,
                                     std::string("http://ann:") + kPassword + " x@" + at.host,
                                     std::string("sqlite://ann:") + kPassword + "@host/db"}) {
    INFO(address);
    std::string said = at.say("run example steps=2 --mlflow-uri '" + address + "'", 2);
    said += at.say("run example steps=2 -n --mlflow-uri '" + address + "'", 2);
    said += at.say("run example steps=2", 2, "MLFLOW_TRACKING_URI='" + address + "'");
    said += at.say("sync --to '" + address + "'", 2);
    CHECK(places(said, at.scratch.path()).empty());
    CHECK_FALSE(fs::exists(at.scratch / "runs"));
  }
}
