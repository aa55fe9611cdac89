#include "engine/data/can/logs/forms/forms.h"

#include <algorithm>
#include <array>

#include "engine/data/can/logs/forms/text_head.h"

namespace kdgat::data {
namespace {

/// Two lines that are neither blank nor a comment, to their ends.
bool has_two_lines(std::string_view head) {
  for (int line = 0; line < 2; ++line) {
    head = without_comments(head);
    if (head.find('\n') == std::string_view::npos) return false;
    next_line(head);
  }
  return true;
}

}  // namespace

std::span<const LogForm> log_forms() {
  static constexpr std::array<LogForm, 8> forms = {{{"asc", is_asc, open_asc},
                                                    {"blf", is_blf, open_blf},
                                                    {"mf4", is_mf4, open_mf4},
                                                    {"pcap", is_pcap, open_pcap},
                                                    {"pcapng", is_pcapng, open_pcapng},
                                                    {"trc", is_trc, open_trc},
                                                    {"busmaster", is_busmaster, open_busmaster},
                                                    {"crtd", is_crtd, open_crtd}}};
  return forms;
}

const LogForm* form_of(std::string_view head) {
  const auto forms = log_forms();
  const auto fits = [head](const LogForm& form) { return form.fits(head); };
  const auto found = std::find_if(forms.begin(), forms.end(), fits);
  return found == forms.end() ? nullptr : &*found;
}

const LogForm* form_of(file::ByteReader& bytes) {
  constexpr std::size_t kLeast = 8, kMost = 4096;
  std::string_view head = bytes.peek(kLeast, kMost);
  for (;;) {
    const LogForm* form = form_of(head);
    const std::size_t known = head.size();
    if (form != nullptr || known == kMost || has_two_lines(head)) return form;
    head = bytes.peek(known + 1, kMost);
    if (head.size() == known) return nullptr;
  }
}

}  // namespace kdgat::data
