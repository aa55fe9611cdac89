#include "pipeline/verbs/commands/completion_at.h"

#include <algorithm>
#include <set>

#include "pipeline/cli/command_form.h"
#include "pipeline/memory/cards.h"
#include "pipeline/plugin/schema.h"
#include "pipeline/profile/profile_layers.h"
#include "pipeline/show/text.h"
#include "pipeline/slurm/site_profile.h"
#include "pipeline/verbs/commands/typed_words.h"

namespace kdgat {
namespace {

const std::vector<Candidate>& global_flags() {
  static const std::vector<Candidate> flags = {{"--json", "results as JSON"},
                                               {"--help", "help"},
                                               {"--quiet", "print less"},
                                               {"--verbose", "print more"},
                                               {"--plugin-dir", "look for stages here first"}};
  return flags;
}

class AtCursor {
 public:
  AtCursor(const std::vector<Verb>& verbs, const Context& context, const Words& words)
      : verbs_(verbs), context_(context), before_(with_values(words)) {
    if (before_.empty()) return;
    current_ = before_.back();
    before_.pop_back();
  }

  Completion offered() {
    auto place = before_.begin();
    while (place != before_.end() && is_flag(*place)) {
      const bool has_value = *place == "--plugin-dir" && place + 1 != before_.end();
      place += has_value ? 2 : 1;
    }
    if (place == before_.end()) {
      add_verbs();
      add(global_flags());
      add({{"--version", "the version"}});
      return std::move(out_);
    }
    const auto verb = std::find_if(verbs_.begin(), verbs_.end(),
                                   [&](const Verb& one) { return one.name == *place; });
    before_.erase(before_.begin(), place + 1);
    if (verb == verbs_.end()) return {};
    form_ = form_of(*verb, context_, before_);
    if (form_.called.empty() && !before_.empty()) {
      form_ = form_of(*verb, context_, {});
      form_.actions.clear();  // none of them was said
    }
    for (const std::string& action : form_.actions) add({{action, ""}});
    if (form_.actions.empty()) add_words_of_form();
    return std::move(out_);
  }

 private:
  void add(const std::vector<Candidate>& candidates, const std::string& before = "") {
    for (const Candidate& one : candidates) {
      if (said_.insert(before + one.word).second) {
        out_.candidates.push_back({before + one.word, one.about});
      }
    }
  }

  void add_verbs() {
    for (const Verb& verb : verbs_) {
      if (!verb.hidden) add({{verb.name, verb.summary}});
    }
  }

  const CommandForm::Flag* flag(const std::string& name) const {
    for (const CommandForm::Flag& one : form_.flags) {
      if (std::find(one.names.begin(), one.names.end(), name) != one.names.end()) return &one;
    }
    return nullptr;
  }

  const CommandForm::Option* option(const std::string& key) const {
    for (const CommandForm::Option& one : form_.options) {
      if (one.key == key) return &one;
    }
    // A step of a profile may have any name.
    const std::size_t dot = key.rfind('.');
    return form_.of_profile && dot != std::string::npos ? option(key.substr(dot + 1)) : nullptr;
  }

  bool takes_next(const std::string& word) const {
    if (!is_flag(word) || word.find('=') != std::string::npos) return false;
    if (word == "--plugin-dir") return true;
    if (const CommandForm::Flag* found = flag(word)) return found->takes_value;
    const CommandForm::Option* found = option(key_of(word));
    return found != nullptr && found->takes_value();
  }

  void add_words_of_form() {
    for (const std::string& word : plain_words()) {
      if (stage_ == nullptr && form_.of_profile) stage_ = context_.catalog.find(word);
    }
    if (!before_.empty() && takes_next(before_.back())) return add_values(before_.back(), "");
    const std::size_t equal = current_.find('=');
    if (equal != std::string::npos && equal > 0) {
      const std::string name = current_.substr(0, equal), before = current_.substr(0, equal + 1);
      if (takes_next(name)) return add_values(name, before);
      // A flag of a boolean may have its value in the same word.
      const std::string key = is_flag(name) ? key_of(name) : name;
      const bool is_key = form_.takes_keys || is_flag(name);
      if (is_key && option(key) != nullptr) return add_values(key, before);
    }
    if (is_flag(current_) || current_ == "-") return add_flags();
    add_offer(offer_of_word(), "");
    if (!form_.takes_keys) return;
    for (const CommandForm::Option& one : form_.options) {
      if (is_wanted(one.key)) add({{one.key + "=", about(one)}});
    }
  }

  void add_values(const std::string& name, const std::string& before) {
    if (const CommandForm::Flag* found = flag(name)) return add_offer(found->offer, before);
    const CommandForm::Option* found = option(is_flag(name) ? key_of(name) : name);
    if (found == nullptr) {
      out_.has_files = true;  // of --plugin-dir
      return;
    }
    const std::vector<Candidate> values = form_.of_profile
                                              ? value_candidates(name, context_.catalog)
                                              : values_of(found->option, is_flag(name));
    add(values, before);
    const std::string& type = found->option.type;
    out_.has_files = values.empty() && (type.empty() || type == "string");
  }

  void add_flags() {
    for (const CommandForm::Flag& one : form_.flags) {
      for (const std::string& name : one.names) add({{name, ""}});
    }
    for (const CommandForm::Option& one : form_.options) {
      if (is_wanted(one.key)) add({{flag_of(one.key), about(one)}});
    }
    add(global_flags());
  }

  static std::string about(const CommandForm::Option& one) {
    return first_sentence(one.option.words);
  }

  void add_offer(const Offer& offer, const std::string& before) {
    for (const std::string& word : offer.words) add({{word, ""}}, before);
    for (const Offer::Kind kind : offer.kinds) add_kind(kind, before);
  }

  void add_kind(Offer::Kind kind, const std::string& before) {
    std::vector<Candidate> found;
    switch (kind) {
      case Offer::kFiles:
        out_.has_files = true;
        break;
      case Offer::kRuns:
        found = run_candidates(root_said(before_));
        out_.has_files = true;  // a run may be named by its folder
        break;
      case Offer::kPresets:
        // Several, with commas between them.
        return add(preset_candidates(default_preset_folders()),
                   current_.substr(0, std::max(before.size(), current_.rfind(',') + 1)));
      case Offer::kSites:
        for (const std::string& name : site_names(site_folders()))
          found.push_back({name, "a site"});
        break;
      case Offer::kStages:
        if (stage_ != nullptr) break;  // one is enough
        for (const auto& [name, plugin] : context_.catalog.all()) {
          found.push_back({name, first_sentence(plugin.summary)});
        }
        break;
      case Offer::kCards:
        for (const Card& card : known_cards()) found.push_back({card.name, "a card"});
        break;
      case Offer::kVerbs:
        return add_verbs();
    }
    add(found, before);
  }

  /// The words that belong to no flag, without those that the verb is called by.
  Words plain_words() const {
    Words out;
    for (std::size_t i = 0; i < before_.size(); ++i) {
      const std::string& word = before_[i];
      if (takes_next(word)) {
        ++i;
      } else if (!is_flag(word) && !(form_.takes_keys && word.find('=') != std::string::npos)) {
        out.push_back(word);
      }
    }
    constexpr std::ptrdiff_t kProgramAndVerb = 1;  // blanks in "kdgat runs"
    const auto called = std::count(form_.called.begin(), form_.called.end(), ' ') - kProgramAndVerb;
    out.erase(out.begin(), out.begin() + std::min<std::ptrdiff_t>(
                                             std::max<std::ptrdiff_t>(called, 0), std::ssize(out)));
    return out;
  }

  const Offer& offer_of_word() const {
    const std::size_t place = plain_words().size();
    return place < form_.words.size() ? form_.words[place] : form_.further;
  }

  /// Options with the name of a stage before them only where such a name is typed; where a stage is
  /// said, only its own and those of no stage.
  bool is_wanted(const std::string& key) const {
    if (!form_.of_profile) return true;
    if (key.find('.') != std::string::npos && !key.starts_with("data.")) {
      return current_.find('.') != std::string::npos;
    }
    const auto has = [&](const PluginDescription& plugin) {
      return !own_option_name(plugin.options, key).empty();
    };
    const auto& all = context_.catalog.all();
    return stage_ == nullptr || has(*stage_) ||
           std::none_of(all.begin(), all.end(), [&](const auto& one) { return has(one.second); });
  }

  const std::vector<Verb>& verbs_;
  const Context& context_;
  Words before_;  ///< after the verb, once that is found
  std::string current_;
  CommandForm form_;
  const PluginDescription* stage_ = nullptr;  ///< that is said, of which options are wanted
  Completion out_;
  std::set<std::string> said_;
};

}  // namespace

Completion completion_at(const std::vector<Verb>& verbs, const Context& context,
                         const Words& words) {
  return AtCursor(verbs, context, words).offered();
}

std::string completion_text(const Completion& completion) {
  return candidates_text(completion.candidates) + (completion.has_files ? "\t\n" : "");
}

}  // namespace kdgat
