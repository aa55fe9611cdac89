#include "engine/data/can/logs/forms/forms.h"

#include <array>

namespace kdgat::data {

std::span<const LogForm> log_forms() {
  static constexpr std::array<LogForm, 6> forms = {{{"asc", is_asc, open_asc},
                                                    {"blf", is_blf, open_blf},
                                                    {"mf4", is_mf4, open_mf4},
                                                    {"pcap", is_pcap, open_pcap},
                                                    {"pcapng", is_pcapng, open_pcapng},
                                                    {"trc", is_trc, open_trc}}};
  return forms;
}

}  // namespace kdgat::data
