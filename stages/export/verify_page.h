// VERIFY.md of an export: what was made of what, what it was checked on, and how to check it again.
#pragma once

#include <string>

#include "export/check.h"
#include "export/export_options.h"

namespace kdgat::exporting {

/// In every export; a folder with it is one.
inline constexpr const char* kVerifyFile = "VERIFY.md";

struct Exported {
  std::string model;  ///< file name
  std::string hash;   ///< xxh3-128 of the file
  std::string kind;   ///< "classifier", "autoencoder", "detector"
  std::string of;     ///< "" or ", for the vehicle van-7"
  std::string size;   ///< Markdown: what it takes; "" where it is not known
  std::string again;  ///< Markdown: how to check it again
};

std::string verify_page(const Exported& exported, const ExportOptions& options,
                        const Checks& checks);

}  // namespace kdgat::exporting
