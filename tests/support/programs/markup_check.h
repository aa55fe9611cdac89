// Whether a page is well-formed and whole: tags nest and close, attributes are quoted, every
// special character is an entity, nothing is loaded from elsewhere. Stricter than HTML: a report
// has no need of more.
#pragma once

#include <algorithm>
#include <cctype>
#include <set>
#include <string>
#include <vector>

namespace kdgat::test {

/// Reads a page once, from its begin to its end.
class MarkupCheck {
 public:
  explicit MarkupCheck(const std::string& text) : text_(text) {}

  /// The first thing wrong, and where; "" if nothing is.
  std::string problem() {
    while (at_ < text_.size() && problem_.empty()) {
      if (text_[at_] == '<') {
        read_tag();
      } else {
        read_text("<");
      }
    }
    if (problem_.empty() && !open_.empty()) fail("<" + open_.back() + "> is never closed");
    for (const char* other :
         {"http://", "https://", "url(", "@import", "<script", " src=", "srcset", "javascript:"}) {
      at_ = text_.find(other);
      if (problem_.empty() && at_ != std::string::npos) fail("loads or runs something");
    }
    return problem_;
  }

 private:
  void fail(const std::string& what) {
    problem_ = what + " at \"" + text_.substr(std::min(at_, text_.size()), 60) + "\"";
  }

  bool skip(const std::string& word) {
    if (text_.compare(at_, word.size(), word) != 0) return false;
    at_ += word.size();
    return true;
  }

  std::string read_name() {
    const std::size_t from = at_;
    while (at_ < text_.size() && (std::isalnum(static_cast<unsigned char>(text_[at_])) ||
                                  text_[at_] == '-' || text_[at_] == ':')) {
      ++at_;
    }
    return text_.substr(from, at_ - from);
  }

  /// Up to one of `ends`; within it no bare special character.
  void read_text(const std::string& ends) {
    for (; at_ < text_.size() && ends.find(text_[at_]) == std::string::npos; ++at_) {
      if (text_[at_] == '<' || text_[at_] == '>') return fail("a bare bracket");
      if (text_[at_] != '&') continue;
      const std::string entity = text_.substr(at_, text_.find(';', at_) - at_);
      static const std::set<std::string> kKnown = {"&amp", "&lt", "&gt", "&quot", "&#39"};
      if (!kKnown.contains(entity)) return fail("a bare &");
    }
  }

  void read_tag() {
    static const std::set<std::string> kVoid = {"meta", "link", "br"};
    if (skip("<!DOCTYPE html>")) return;
    ++at_;
    const bool is_end = skip("/");
    const std::string name = read_name();
    if (name.empty()) return fail("a bracket without a name");
    while (problem_.empty() && skip(" ")) {
      if (read_name().empty() || !skip("=\"")) return fail("an attribute that is not quoted");
      read_text("\"");
      if (!skip("\"")) return fail("an attribute without an end");
    }
    const bool is_whole = skip("/");
    if (!skip(">")) return fail("a tag without an end");
    if (is_end) {
      if (open_.empty() || open_.back() != name) return fail("</" + name + "> closes nothing");
      open_.pop_back();
    } else if (!is_whole && !kVoid.contains(name)) {
      open_.push_back(name);
      if (name == "style") at_ = std::min(text_.find("</style>", at_), text_.size());
    }
  }

  const std::string& text_;
  std::size_t at_ = 0;
  std::vector<std::string> open_;
  std::string problem_;
};

inline std::string markup_problem(const std::string& text) { return MarkupCheck(text).problem(); }

}  // namespace kdgat::test
