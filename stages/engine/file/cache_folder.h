// Where what can be made again is kept between processes of a user.
#pragma once

#include <filesystem>

namespace kdgat::file {

/// kdgat/ in $XDG_CACHE_HOME or ~/.cache, which need not be there yet; empty without a home.
std::filesystem::path cache_folder();

}  // namespace kdgat::file
