#include "engine/data/core/dataset_files.h"

#include <catch2/catch.hpp>
#include <filesystem>

#include "support/can/log_text.h"
#include "support/programs/command.h"

namespace kdgat::data {
namespace {

using test::write_text;

std::vector<std::string> names(const std::vector<LogFile>& files) {
  std::vector<std::string> out;
  for (const LogFile& file : files) {
    out.push_back(file.name + " " + file.role + (file.scenario.empty() ? "" : " " + file.scenario));
  }
  return out;
}

using Names = std::vector<std::string>;

TEST_CASE("a published folder gives train files, test scenarios and notes", "[dataset_files]") {
  const test::ScratchFolder folder;
  for (const char* name :
       {"train_01_attack_free/a.csv", "train_02_with_attacks/dos.csv.gz",
        "train_02_with_attacks/suppress-1.csv", "test_05_suppress/suppress-2.csv",
        "test_01_known/x.log", "other/z.csv", "top.csv", "train_02_with_attacks/.hidden.csv",
        "train_02_with_attacks/readme.md", "test_06/masquerade-timed-1.csv"}) {
    write_text(folder / name, name);
  }
  write_text(folder / "train_02_with_attacks/a.csv", "train_01_attack_free/a.csv");
  std::vector<Diagnostic> notes;
  const auto files = find_log_files(folder.path(), {"suppress", "masquerade"}, true, notes);
  CHECK(names(files) == Names{"test_01_known/x.log test test_01_known",
                              "train_01_attack_free/a.csv train",
                              "train_02_with_attacks/dos.csv.gz train"});
  CHECK(notes.size() == 4);

  notes.clear();
  const auto twice = find_log_files(folder.path(), {"suppress", "masquerade"}, false, notes);
  CHECK(names(twice) ==
        Names{"test_01_known/x.log test test_01_known", "train_01_attack_free/a.csv train",
              "train_02_with_attacks/a.csv train", "train_02_with_attacks/dos.csv.gz train"});
  notes.clear();
  CHECK(find_log_files(folder.path(), {}, false, notes).size() == 7);
  CHECK(notes.empty());
}

TEST_CASE("files of one name but other content are no doubles", "[dataset_files]") {
  const test::ScratchFolder folder;
  write_text(folder / "train_01/a.csv", "one");
  write_text(folder / "train_02/a.csv", "two");
  std::vector<Diagnostic> notes;
  CHECK(find_log_files(folder.path(), {}, true, notes).size() == 2);
}

TEST_CASE("linked files have the names of the links", "[dataset_files]") {
  const test::ScratchFolder folder, elsewhere;
  write_text(elsewhere / "drive.csv", "one");
  write_text(folder / "train_01/a.csv", "two");
  std::filesystem::create_symlink(elsewhere / "drive.csv", folder / "train_01/b.csv");
  std::vector<Diagnostic> notes;
  CHECK(names(find_log_files(folder.path(), {}, true, notes)) ==
        Names{"train_01/a.csv train", "train_01/b.csv train"});
}

TEST_CASE("a folder of logs without train folders trains with all", "[dataset_files]") {
  const test::ScratchFolder folder;
  write_text(folder / "b.csv", "b");
  write_text(folder / "a.txt", "a");
  write_text(folder / "deep/c.log.gz", "c");
  std::vector<Diagnostic> notes;
  CHECK(names(find_log_files(folder.path(), {}, true, notes)) ==
        Names{"a.txt train", "b.csv train", "deep/c.log.gz train"});
}

TEST_CASE("one file and standard input are data sets of one log", "[dataset_files]") {
  const test::ScratchFolder folder;
  write_text(folder / "suppress.dat", "b");
  std::vector<Diagnostic> notes;
  CHECK(names(find_log_files(folder / "suppress.dat", {"suppress"}, true, notes)) ==
        Names{"suppress.dat train"});
  CHECK(names(find_log_files("-", {}, true, notes)) == Names{"standard input train"});
}

TEST_CASE("a missing source and a folder without logs are refused", "[dataset_files]") {
  const test::ScratchFolder folder;
  std::vector<Diagnostic> notes;
  CHECK(test::data_error([&] { find_log_files(folder / "none", {}, true, notes); }) ==
        (folder / "none").string() + ": no such file or folder");
  CHECK_THAT(test::data_error([&] { find_log_files(folder.path(), {}, true, notes); }),
             Catch::StartsWith(folder.path().string() + ": no logs in this folder\n"));
  write_text(folder / "suppress-1.csv", "x");
  CHECK_THAT(test::data_error([&] { find_log_files(folder.path(), {"suppress"}, true, notes); }),
             Catch::Contains("but those that are left out"));
}

}  // namespace
}  // namespace kdgat::data
