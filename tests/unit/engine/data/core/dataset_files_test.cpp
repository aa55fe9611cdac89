#include "engine/data/core/dataset_files.h"

#include <catch2/catch.hpp>
#include <filesystem>
#include <set>

#include "engine/data/core/part_names.h"
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
  data::Notes notes;
  const auto files =
      find_log_files(folder.path(), {"suppress", "masquerade"}, true, notes, kLeaveOut);
  CHECK(names(files) == Names{"test_01_known/x.log test test_01_known",
                              "train_01_attack_free/a.csv train",
                              "train_02_with_attacks/dos.csv.gz train"});
  CHECK(notes.size() == 6);
  CHECK(notes[0].message == "left out, as no logs end so: 1 .md");
  CHECK(notes[1].message ==
        "2 logs left out: other folders are named for train, val or test, these are not: other "
        "(1), the folder itself (1)");

  notes.clear();
  const auto twice =
      find_log_files(folder.path(), {"suppress", "masquerade"}, false, notes, kLeaveOut);
  CHECK(names(twice) ==
        Names{"test_01_known/x.log test test_01_known", "train_01_attack_free/a.csv train",
              "train_02_with_attacks/a.csv train", "train_02_with_attacks/dos.csv.gz train"});
  notes.clear();
  CHECK(find_log_files(folder.path(), {}, false, notes).size() == 9);
  CHECK(notes.size() == 1);
}

TEST_CASE("files of one name but other content are no doubles", "[dataset_files]") {
  const test::ScratchFolder folder;
  write_text(folder / "train_01/a.csv", "one");
  write_text(folder / "train_02/a.csv", "two");
  data::Notes notes;
  CHECK(find_log_files(folder.path(), {}, true, notes).size() == 2);
}

TEST_CASE("linked files have the names of the links", "[dataset_files]") {
  const test::ScratchFolder folder, elsewhere;
  write_text(elsewhere / "drive.csv", "one");
  write_text(folder / "train_01/a.csv", "two");
  std::filesystem::create_symlink(elsewhere / "drive.csv", folder / "train_01/b.csv");
  data::Notes notes;
  CHECK(names(find_log_files(folder.path(), {}, true, notes)) ==
        Names{"train_01/a.csv train", "train_01/b.csv train"});
}

TEST_CASE("a folder of logs without train folders trains with all", "[dataset_files]") {
  const test::ScratchFolder folder;
  write_text(folder / "b.csv", "b");
  write_text(folder / "a.txt", "a");
  write_text(folder / "deep/c.log.gz", "c");
  write_text(folder / "deep/d.crtd", "d");
  data::Notes notes;
  CHECK(names(find_log_files(folder.path(), {}, true, notes)) ==
        Names{"a.txt train", "b.csv train", "deep/c.log.gz train", "deep/d.crtd train"});
}

TEST_CASE("files that are named for parts, in no folder for one, are reported", "[dataset_files]") {
  const test::ScratchFolder folder;
  test::write_text(folder / "dos/train.csv", "a");
  test::write_text(folder / "dos/test.csv", "b");
  Notes notes;
  for (const LogFile& file : find_log_files(folder.path(), {}, true, notes, kLeaveOut)) {
    CHECK(file.role == "train");
  }
  REQUIRE(notes.size() == 1);
  CHECK_THAT(notes[0].message, Catch::Contains("named for parts") &&
                                   Catch::Contains("all of them are taken for training"));
}

TEST_CASE("one file and standard input are data sets of one log", "[dataset_files]") {
  const test::ScratchFolder folder;
  write_text(folder / "suppress.dat", "b");
  data::Notes notes;
  CHECK(names(find_log_files(folder / "suppress.dat", {"suppress"}, true, notes)) ==
        Names{"suppress.dat train"});
  CHECK(names(find_log_files("-", {}, true, notes)) == Names{"standard input train"});
}

TEST_CASE("every folder above a file may name its part, in any case", "[dataset_files]") {
  const test::ScratchFolder folder;
  for (const char* name :
       {"Train/benign/a.csv", "Train/dos/b.csv", "TEST/benign/c.csv", "TEST/dos/drive1/d.csv",
        "Validation/e.csv", "val/f.csv", "extra/g.csv"}) {
    write_text(folder / name, name);
  }
  data::Notes notes;
  const Names read = {"TEST/benign/c.csv test TEST", "TEST/dos/drive1/d.csv test TEST",
                      "Train/benign/a.csv train",    "Train/dos/b.csv train",
                      "Validation/e.csv val",        "val/f.csv val"};
  CHECK(names(find_log_files(folder.path(), {}, true, notes, kLeaveOut)) == read);
  REQUIRE(notes.size() == 1);
  CHECK_THAT(notes[0].message, Catch::EndsWith("these are not: extra (1)"));
  CHECK_THAT(notes[0].hint, Catch::Contains("other_folders=train"));
  notes.clear();
  const auto all = find_log_files(folder.path(), {}, true, notes, "test");
  CHECK(all.size() == 7);
  CHECK(names(all).at(5) == "extra/g.csv test extra");
  CHECK(notes.empty());
}

TEST_CASE("of folders that contradict each other the inner one counts", "[dataset_files]") {
  const test::ScratchFolder folder;
  write_text(folder / "test_bench/train/a.csv", "a");
  write_text(folder / "test_bench/test_02/b.csv", "b");
  data::Notes notes;
  CHECK(names(find_log_files(folder.path(), {}, true, notes)) ==
        Names{"test_bench/test_02/b.csv test test_bench", "test_bench/train/a.csv train"});
  REQUIRE(notes.size() == 1);
  CHECK(notes[0].where == (folder / "test_bench/train").string());
  CHECK_THAT(notes[0].message, Catch::Contains("the folder test_bench around it"));
}

TEST_CASE("names of folders name parts by their words", "[dataset_files]") {
  for (const char* name : {"train", "Train_01", "TRAINING", "trainset", "my-train", "TrainData"}) {
    CHECK(part_of_folder(name) == "train");
  }
  for (const char* name : {"val", "VALID", "validation_2", "my_val", "valData", "dev"}) {
    CHECK(part_of_folder(name) == "val");
  }
  for (const char* name : {"test", "tests", "Testing", "20news-bydate-test", "testdata"}) {
    CHECK(part_of_folder(name) == "test");
  }
  for (const char* name : {"latest", "strain", "valley", "can-train-and-test", "extra", ""}) {
    CHECK(part_of_folder(name).empty());
  }
  CHECK(part_of_name("testimonials").empty());
}

TEST_CASE("endings count in any case, and what is left out is named", "[dataset_files]") {
  const test::ScratchFolder folder;
  for (const char* name : {"a.LOG", "b.Csv", "c.log.GZ", "d.TXT", "e.MF4", "f.png", "g.PNG",
                           "h.csv.bz2", "README", ".hidden", "old.labels.csv"}) {
    write_text(folder / name, name);
  }
  data::Notes notes;
  CHECK(names(find_log_files(folder.path(), {}, true, notes)) ==
        Names{"a.LOG train", "b.Csv train", "c.log.GZ train", "d.TXT train", "e.MF4 train"});
  REQUIRE(notes.size() == 2);
  CHECK(notes[0].where == (folder / "old.labels.csv").string());
  CHECK_THAT(notes[0].message, Catch::StartsWith("left out: no log"));
  CHECK(notes[1].message == "left out, as no logs end so: 1 .bz2, 2 .png, 1 without an ending");
}

TEST_CASE("links to folders are followed once", "[dataset_files]") {
  namespace fs = std::filesystem;
  const test::ScratchFolder folder, elsewhere;
  write_text(elsewhere / "drive/a.csv", "a");
  write_text(folder / "train/b.csv", "b");
  fs::create_directory_symlink(elsewhere / "drive", folder / "test");
  fs::create_directory_symlink(elsewhere / "drive", folder / "test_again");
  fs::create_directory_symlink("..", folder / "train/loop");
  fs::create_symlink("nowhere.csv", folder / "train/c.csv");
  data::Notes notes;
  CHECK(names(find_log_files(folder.path(), {}, true, notes)) ==
        Names{"test/a.csv test test", "train/b.csv train"});
  std::set<std::string> left_out;
  for (const Diagnostic& note : notes) left_out.insert(note.where);
  CHECK(left_out == std::set<std::string>{(folder / "test_again").string(),
                                          (folder / "train/loop").string(),
                                          (folder / "train/c.csv").string()});
}

TEST_CASE("folders as the world has them are divided", "[dataset_files]") {
  const auto shared = test::shared_path("field");
  if (!shared) return;
  data::Notes notes;
  CHECK(names(find_log_files(*shared / "nested_split", {}, true, notes, kLeaveOut)) ==
        Names{"test/benign/c.csv test test", "test/dos/d.csv test test", "train/benign/a.csv train",
              "train/dos/b.csv train"});
  CHECK(notes.empty());
  CHECK(names(find_log_files(*shared / "val_folder", {}, true, notes, kLeaveOut)) ==
        Names{"test/c.csv test test", "train/a.csv train", "val/b.csv val"});
  REQUIRE(notes.size() == 1);
  CHECK_THAT(notes[0].message, Catch::Contains("extra (1)"));
  CHECK(names(find_log_files(*shared / "capital_ending", {}, true, notes, kLeaveOut)) ==
        Names{"a.LOG train", "b.log train"});
}

TEST_CASE("a missing source and a folder without logs are refused", "[dataset_files]") {
  const test::ScratchFolder folder;
  data::Notes notes;
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
