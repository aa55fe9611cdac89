#include "pipeline/memory/cards.h"

#include <cctype>

#include "kdgat/error.h"
#include "kdgat/margins.h"
#include "pipeline/show/quantity.h"
#include "pipeline/show/text.h"

namespace kdgat {
namespace {

Card card(const char* name, double gib) {
  return {name, static_cast<uint64_t>(gib * (uint64_t{1} << 30)), uint64_t{margins::kCardContext}};
}

std::string plain(const std::string& name) {
  std::string out;
  for (const char c : name) {
    if (c != ' ')
      out += c == '_' ? '-' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  for (const char* end : {"gib", "gb", "g"}) {
    if (out.ends_with(end)) return out.substr(0, out.size() - std::string(end).size());
  }
  return out;
}

}  // namespace

const std::vector<Card>& known_cards() {
  static const std::vector<Card> cards = {
      card("a10-24", 21.9),       card("a100-40", 39.3),    card("a100-80", 79.1),
      card("h100-80", 79.1),      card("h200-141", 139.7),  card("l4-24", 21.9),
      card("l40-48", 44.3),       card("p100-16", 15.8),    card("rtx2080-8", 7.7),
      card("rtx2080ti-11", 10.7), card("rtx3060-12", 11.7), card("rtx3070-8", 7.7),
      card("rtx3080-10", 9.7),    card("rtx3090-24", 23.6), card("rtx4060-8", 7.7),
      card("rtx4090-24", 23.6),   card("t4-16", 14.5),      card("v100-16", 15.7),
      card("v100-32", 31.7)};
  return cards;
}

Card find_card(const std::string& name) {
  std::vector<std::string> names;
  for (const Card& one : known_cards()) {
    if (one.name == plain(name)) return one;
    names.push_back(one.name);
  }
  const std::string near = nearest(plain(name), names);
  throw Error(ExitCode::kUsage, "unknown card " + name,
              (near.empty() ? "" : "did you mean " + near + "? ") + "There are " +
                  joined(names, ", ") + "; --device 16GiB plans for any size");
}

Card card_of_size(uint64_t bytes) {
  return {exact_bytes(bytes), bytes, uint64_t{margins::kCardContext}};
}

}  // namespace kdgat
