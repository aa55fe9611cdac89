// Which versions of kdgat a profile is written for.
#pragma once

#include <string>

namespace kdgat {

/// What is wrong between a requirement and a version; "" if nothing is. A requirement is a list
/// such as ">=0.1, <1"; a number alone ("0.2") is the least. Versions are up to three numbers,
/// those left out are 0.
std::string problem_of_version(const std::string& requirement, const std::string& version);

}  // namespace kdgat
