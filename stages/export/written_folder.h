// WrittenFolder: a folder of files that stands under its name when all of them are there.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace kdgat::exporting {

class WrittenFolder {
 public:
  /// `mark`: a file that every folder of this kind has; only one with it is replaced. Throws
  /// Error(kUsage) where something stands under that name that is not to be replaced, Error(kData)
  /// where nothing can be written beside it.
  WrittenFolder(std::filesystem::path folder, std::string mark, bool replaces);
  WrittenFolder(const WrittenFolder&) = delete;
  WrittenFolder& operator=(const WrittenFolder&) = delete;
  /// Without commit() nothing is left.
  ~WrittenFolder();

  /// Where the files are until commit().
  const std::filesystem::path& staging() const { return staging_; }
  void write(const std::string& name, std::string_view bytes) const;
  void commit();

 private:
  std::filesystem::path folder_, staging_;
  std::string mark_;
};

}  // namespace kdgat::exporting
