#include "pipeline/execute/ranks.h"

#include <catch2/catch.hpp>
#include <map>
#include <string>

using namespace kdgat;

namespace {

Place place(const std::map<std::string, std::string>& variables) {
  return place_of([&](const char* name) -> const char* {
    const auto found = variables.find(name);
    return found == variables.end() ? nullptr : found->second.c_str();
  });
}

}  // namespace

TEST_CASE("a program without others is alone", "[ranks]") {
  CHECK(place({}).world == 1);
  CHECK(place({{"RANK", "0"}, {"WORLD_SIZE", "1"}}).world == 1);
  // A batch script's own step is no srun.
  CHECK(place({{"SLURM_JOB_ID", "7"}, {"SLURM_NTASKS", "4"}, {"SLURM_PROCID", "0"}}).world == 1);
  CHECK(place({{"SLURM_STEP_ID", "0"}, {"SLURM_STEP_NUM_TASKS", "1"}}).world == 1);
}

TEST_CASE("RANK and WORLD_SIZE name the place, as torchrun sets them", "[ranks]") {
  const Place p = place({{"RANK", "3"},
                         {"WORLD_SIZE", "4"},
                         {"LOCAL_RANK", "1"},
                         {"MASTER_ADDR", "node1"},
                         {"MASTER_PORT", "29500"},
                         {"SLURM_STEP_ID", "0"},
                         {"SLURM_STEP_NUM_TASKS", "9"}});
  CHECK(p.rank == 3);
  CHECK(p.world == 4);
  CHECK(p.local_rank == 1);
  CHECK(p.address == "node1:29500");
  CHECK_THROWS_WITH(place({{"RANK", "0"}, {"WORLD_SIZE", "2"}}), Catch::Contains("MASTER_ADDR"));
  CHECK_THROWS_WITH(place({{"RANK", "x"}, {"WORLD_SIZE", "2"}}),
                    Catch::Contains("RANK=x is not a number"));
  CHECK_THROWS_WITH(
      place({{"RANK", "2"}, {"WORLD_SIZE", "2"}, {"MASTER_ADDR", "a"}, {"MASTER_PORT", "1"}}),
      Catch::Contains("rank 2 of 2"));
}

TEST_CASE("inside of srun SLURM names the place", "[ranks]") {
  std::map<std::string, std::string> task = {
      {"SLURM_STEP_ID", "2"}, {"SLURM_JOB_ID", "31"}, {"SLURM_STEP_NUM_TASKS", "8"},
      {"SLURM_PROCID", "5"},  {"SLURM_LOCALID", "1"}, {"SLURM_STEP_NODELIST", "gpu[03-05,9],x"}};
  const Place p = place(task);
  CHECK(p.rank == 5);
  CHECK(p.world == 8);
  CHECK(p.local_rank == 1);
  CHECK(p.address.substr(0, 6) == "gpu03:");
  task["SLURM_PROCID"] = "6";
  CHECK(place(task).address == p.address);
  CHECK(place(task).name == p.name);
  task["SLURM_STEP_ID"] = "3";
  CHECK(place(task).address != p.address);
  CHECK(place(task).name != p.name);
  const std::string before = place(task).name;
  task["SLURM_RESTART_COUNT"] = "1";
  CHECK(place(task).name != before);
}

TEST_CASE("the first host of a node list", "[ranks]") {
  CHECK(first_host("node7") == "node7");
  CHECK(first_host("a,b[1-2]") == "a");
  CHECK(first_host("n[001-004]") == "n001");
  CHECK(first_host("n[2,4]-ib") == "n2");
  CHECK(first_host("").empty());
}
