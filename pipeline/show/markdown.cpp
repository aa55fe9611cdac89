#include "pipeline/show/markdown.h"

#include <algorithm>
#include <sstream>
#include <vector>

#include "pipeline/show/markup.h"

namespace kdgat {
namespace {

bool begins(const std::string& text, const std::string& with) { return text.rfind(with, 0) == 0; }

std::string trimmed(const std::string& text) {
  const std::size_t first = text.find_first_not_of(" \t\r");
  if (first == std::string::npos) return "";
  return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

/// A link that neither runs a script nor opens a file.
bool is_safe_link(const std::string& link) {
  const bool is_web = begins(link, "https://") || begins(link, "http://");
  return (is_web || begins(link, "#")) && link.find_first_of(" \t\n\"'<>") == std::string::npos;
}

std::string inline_html(const std::string& text);

/// The markup of what begins at `at`, which moves behind it; "" if that is a plain character.
std::string span_at(const std::string& text, std::size_t& at) {
  const auto enclosed = [&](const std::string& mark, const char* tag, bool is_code) -> std::string {
    if (text.compare(at, mark.size(), mark) != 0) return "";
    const std::size_t begin = at + mark.size(), end = text.find(mark, begin);
    if (end == std::string::npos || end == begin || text[begin] == ' ' || text[end - 1] == ' ') {
      return "";
    }
    const std::string inner = text.substr(begin, end - begin);
    at = end + mark.size();
    return element(tag, is_code ? escaped(inner) : inline_html(inner));
  };
  for (const auto& [mark, tag] : {std::pair{"`", "code"}, {"**", "b"}, {"*", "i"}}) {
    std::string out = enclosed(mark, tag, mark == std::string("`"));
    if (!out.empty()) return out;
  }
  if (text[at] != '[') return "";
  const std::size_t middle = text.find("](", at);
  const std::size_t end = middle == std::string::npos ? middle : text.find(')', middle);
  if (end == std::string::npos) return "";
  const std::string link = text.substr(middle + 2, end - middle - 2);
  if (!is_safe_link(link)) return "";
  const std::string inner = text.substr(at + 1, middle - at - 1);
  at = end + 1;
  return element("a", escaped(inner), "href=\"" + escaped(link) + "\" rel=\"noopener\"");
}

std::string inline_html(const std::string& text) {
  std::string out, plain;
  for (std::size_t at = 0; at < text.size();) {
    const std::string span = span_at(text, at);
    if (span.empty()) {
      plain += text[at++];
      continue;
    }
    out += escaped(plain) + span;
    plain.clear();
  }
  return out + escaped(plain);
}

/// Where the words of an item of a list begin; 0 if a line is none.
std::size_t item_begin(const std::string& line, bool& is_numbered) {
  is_numbered = false;
  if (begins(line, "- ") || begins(line, "* ") || begins(line, "+ ")) return 2;
  const std::size_t digits = std::min(line.find_first_not_of("0123456789"), line.size());
  is_numbered = digits > 0 && line.compare(digits, 2, ". ") == 0;
  return is_numbered ? digits + 2 : 0;
}

class Reader {
 public:
  explicit Reader(int top) : top_(top) {}

  std::string html(const std::string& text) {
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) take(line);
    if (is_code_) end_code();
    end_block();
    return out_;
  }

 private:
  void take(const std::string& whole) {
    const std::string line = trimmed(whole);
    if (begins(line, "```")) {
      if (is_code_) return end_code();
      end_block();
      is_code_ = true;
      return;
    }
    if (is_code_) {
      block_ += whole + "\n";
      return;
    }
    bool is_numbered = false;
    const std::size_t hashes = std::min(line.find_first_not_of('#'), line.size());
    constexpr std::size_t kLevels = 6;
    if (line.empty()) return end_block();
    if (hashes > 0 && hashes <= kLevels && hashes < line.size() && line[hashes] == ' ') {
      end_block();
      const int level = std::min(static_cast<int>(hashes) - 1 + top_, static_cast<int>(kLevels));
      out_ +=
          element("h" + std::to_string(level), inline_html(trimmed(line.substr(hashes)))) + "\n";
    } else if (line == "---" || line == "***") {
      end_block();
      out_ += "<hr>\n";
    } else if (const std::size_t at = item_begin(line, is_numbered); at > 0) {
      begin(is_numbered ? "ol" : "ul");
      items_.push_back(line.substr(at));
    } else if (line[0] == '>') {
      begin("blockquote");
      block_ += (block_.empty() ? "" : "\n") + trimmed(line.substr(1));
    } else if (!items_.empty()) {
      items_.back() += "\n" + line;
    } else {
      begin("p");
      block_ += (block_.empty() ? "" : "\n") + line;
    }
  }

  void begin(const std::string& tag) {
    if (tag_ != tag) end_block();
    tag_ = tag;
  }

  void end_block() {
    if (!items_.empty()) {
      std::string inner;
      for (const std::string& item : items_) inner += element("li", inline_html(item)) + "\n";
      out_ += element(tag_, "\n" + inner) + "\n";
    } else if (!block_.empty()) {
      out_ += element(tag_, inline_html(block_)) + "\n";
    }
    items_.clear();
    block_.clear();
    tag_.clear();
  }

  void end_code() {
    out_ += element("pre", escaped(block_)) + "\n";
    block_.clear();
    is_code_ = false;
  }

  int top_;
  std::string out_, block_, tag_;
  std::vector<std::string> items_;
  bool is_code_ = false;
};

}  // namespace

std::string markdown_html(const std::string& text, int top) { return Reader(top).html(text); }

}  // namespace kdgat
