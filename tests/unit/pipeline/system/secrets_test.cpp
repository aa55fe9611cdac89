#include "pipeline/system/secrets.h"

#include <catch2/catch.hpp>

#include "support/programs/command.h"

using namespace kdgat;
using namespace kdgat::test;

TEST_CASE("passwords and tokens are taken out of texts, the rest stays", "[secrets]") {
  const std::pair<const char*, const char*> cases[] = {
      {"http://ann:pw@host:5000/x", "http://host:5000/x"},
      {"see https://ann@host and http://b:c@d", "see https://host and http://d"},
      {"http://ann:p/w@x@host/y", "http://host/y"},
      {"'http://ann:pw@host'", "'http://host'"},
      {"http://host?token=abc&kind=run", "http://host?token=***&kind=run"},
      {"http://host/a#access_token=abc", "http://host/a#access_token=***"},
      {"MLFLOW_TRACKING_PASSWORD=pw next", "MLFLOW_TRACKING_PASSWORD=*** next"},
      {"export AWS_SECRET=\"a b\" c", "export AWS_SECRET=*** c"},
      {"api-key=abc", "api-key=***"},
      {"--export=ALL,HF_TOKEN=abc", "--export=ALL,HF_TOKEN=***"},
      // Nothing to hide.
      {"http://host:5000/mlflow", "http://host:5000/mlflow"},
      {"mail ann@host, then kdgat run lr=0.1", "mail ann@host, then kdgat run lr=0.1"},
      {"tokens=5 min_tokens=3", "tokens=5 min_tokens=3"},
      {"export HF_TOKEN=$(cat token)", "export HF_TOKEN=$(cat token)"},
      {"export HF_TOKEN=\"$OTHER\"", "export HF_TOKEN=\"$OTHER\""},
      {"token=", "token="},
      {"", ""}};
  for (const auto& [text, shown] : cases) {
    INFO(text);
    CHECK(without_secrets(text) == shown);
    CHECK(holds_secret(text) == (std::string(text) != shown));
    CHECK(without_secrets(shown) == shown);
  }
}

TEST_CASE("a file with an address is for its owner alone", "[secrets]") {
  const ScratchFolder scratch;
  const auto readers = [&](const std::string& text) {
    write_guarded(scratch / "a", text);
    CHECK(read_text(scratch / "a") == text);
    return static_cast<unsigned>(std::filesystem::status(scratch / "a").permissions()) & 0077U;
  };
  CHECK(readers("{\"mlflow_uri\": \"/home/ann/mlruns\"}") == 0044);
  CHECK(readers("{\"mlflow_uri\": \"http://host\"}") == 0);
}
