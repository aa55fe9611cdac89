#define CATCH_CONFIG_RUNNER
#include <catch2/catch.hpp>
#include <cstdlib>

int main(int count, char* words[]) {
  // Runs of tests go to no server but those of tests.
  ::unsetenv("MLFLOW_TRACKING_URI");
  return Catch::Session().run(count, words);
}
