// A leading "~/" in the name of a file, which a shell does not see in a profile, in a variable or
// behind the = of a flag.
#pragma once

#include <string>

namespace kdgat {

/// `text` with the home folder ($HOME) for a leading "~/", any other text as it is. Throws
/// Error(kUsage) for a leading "~user/", and where HOME is not set.
std::string expand_home(const std::string& text);
/// The same of text that names a file or folder: "~" is the home folder, "~user" is refused.
std::string expand_home_path(const std::string& path);

}  // namespace kdgat
