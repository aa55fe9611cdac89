#include "pipeline/memory/memory_options.h"

#include <cctype>

#include "pipeline/show/quantity.h"
#include "pipeline/show/text.h"

namespace kdgat {

void MemoryOptions::declare(CommandLine& line) {
  const auto read = [this, &line](const std::string& name) {
    try {
      set(line, find_card(name));
    } catch (const Error& e) {
      line.problem(e.diagnostics().front().message, e.diagnostics().front().hint);
    }
  };
  line.value("--gpu", read, Offer::kCards);
  line.flag("--static", is_static_);
}

void MemoryOptions::declare_device(CommandLine& line, ProfileRequest& profile) {
  const auto read = [this, &line, &profile](const std::string& word) {
    if (std::isdigit(static_cast<unsigned char>(word.front())) == 0) {
      profile.overrides.push_back({"device", word, line.place()});
      return;
    }
    try {
      set(line, card_of_size(parse_bytes(word)));
    } catch (const Error& e) {
      line.problem("--device: " + e.diagnostics().front().message, e.diagnostics().front().hint);
    }
  };
  line.value("--device", read, {"auto", "cpu", "cuda"});
}

void MemoryOptions::set(CommandLine& line, const Card& card) {
  if (card_ && card_->name != card.name) {
    line.problem("a plan is made for one card, not for " + card_->name + " and " + card.name);
  }
  if (card.total <= card.context) {
    line.problem(
        card.name + " is less than the " + format_bytes(card.context) + " that CUDA itself takes",
        "a size has a unit: 16GiB");
  }
  card_ = card;
}

void MemoryOptions::apply(MemoryRequest& request) const {
  request.measure = !is_static_;
  if (!card_) return;
  request.device = card_->name;
  request.total = static_cast<int64_t>(card_->total);
  request.context = static_cast<int64_t>(card_->context);
}

}  // namespace kdgat
