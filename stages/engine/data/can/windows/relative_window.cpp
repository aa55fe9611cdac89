#include "engine/data/can/windows/relative_window.h"

namespace kdgat::data {

std::vector<std::string> relative_names() {
  return {"unknown",    "length",    "crowd",      "surplus",   "crowd_off",
          "crowd_off2", "off_share", "crowd_back", "crowd_new", "off_new",
          "off_back",   "new",       "back",       "silence",   "tight"};
}

}  // namespace kdgat::data
