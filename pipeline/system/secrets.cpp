#include "pipeline/system/secrets.h"

#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <system_error>

#include "kdgat/atomic_file.h"

namespace kdgat {
namespace {

constexpr std::string_view kSchemeEnd = "://";
constexpr const char* kBlanksAndQuotes = " \t\r\n\"'`<>";

bool is_name(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-' || c == '.';
}

bool is_secret_name(std::string_view name) {
  constexpr std::array<std::string_view, 9> kEnds = {"token",      "password",   "passwd",
                                                     "secret",     "apikey",     "accesskey",
                                                     "privatekey", "credential", "credentials"};
  std::string letters;
  for (const char c : name) {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0) {
      letters += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    }
  }
  return std::any_of(kEnds.begin(), kEnds.end(),
                     [&](std::string_view end) { return letters.ends_with(end); });
}

/// A password may hold an @ or a / that should have been written %40 or %2F: all up to the last @
/// of the word goes.
std::string without_users(std::string text) {
  for (std::size_t at = text.find(kSchemeEnd); at != std::string::npos;
       at = text.find(kSchemeEnd, at)) {
    at += kSchemeEnd.size();
    const std::size_t end = std::min(text.find_first_of(kBlanksAndQuotes, at), text.size());
    const std::size_t user = text.substr(0, end).rfind('@');
    if (user != std::string::npos && user >= at) text.erase(at, user + 1 - at);
  }
  return text;
}

/// Where the value at `begin` ends; `begin` itself for one that is no secret.
std::size_t end_of_value(const std::string& text, std::size_t begin) {
  if (begin >= text.size()) return begin;
  const char quote = text[begin];
  const bool is_quoted = quote == '"' || quote == '\'';
  const std::size_t first = begin + (is_quoted ? 1 : 0);
  if (first < text.size() && (text[first] == '$' || text[first] == '`')) return begin;
  const std::string ends = is_quoted ? std::string(1, quote) : std::string(kBlanksAndQuotes) + "&#";
  const std::size_t end = std::min(text.find_first_of(ends, first), text.size());
  return is_quoted && end < text.size() ? end + 1 : end;
}

std::string without_values(std::string text) {
  constexpr std::string_view kHidden = "***";
  for (std::size_t equal = text.find('='); equal != std::string::npos;
       equal = text.find('=', equal + 1)) {
    std::size_t name = equal;
    while (name > 0 && is_name(text[name - 1])) --name;
    if (!is_secret_name(std::string_view(text).substr(name, equal - name))) continue;
    const std::size_t begin = equal + 1, end = end_of_value(text, begin);
    if (end > begin) text.replace(begin, end - begin, kHidden);
  }
  return text;
}

}  // namespace

std::string without_secrets(const std::string& text) { return without_values(without_users(text)); }

bool holds_secret(const std::string& text) { return without_secrets(text) != text; }

bool holds_address(std::string_view text) {
  return text.find(kSchemeEnd) != std::string_view::npos;
}

void write_guarded(const std::filesystem::path& path, std::string_view text, bool is_private) {
  constexpr mode_t kOwnerAlone = 0600;
  AtomicFile file(path);
  if (is_private && ::fchmod(file.fd(), kOwnerAlone) != 0) {
    throw Error(ExitCode::kData, "cannot keep " + path.string() +
                                     " from others: " + std::generic_category().message(errno));
  }
  file.write(text);
  file.commit();
}

void write_guarded(const std::filesystem::path& path, std::string_view text) {
  write_guarded(path, text, holds_address(text));
}

}  // namespace kdgat
