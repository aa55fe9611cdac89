// The profiles of the published programs for texts (testGCN.json), key by key.
#pragma once

#include "kdgat/published.h"

namespace kdgat::textgcn {

/// `stage`: the name under which it takes options.
PublishedProfile published_profile(const std::string& stage);

}  // namespace kdgat::textgcn
