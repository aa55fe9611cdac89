// What must neither be written nor shown: passwords and tokens in addresses, settings and command
// lines. Looks at texts alone; what a password is for is not known here.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace kdgat {

/// `text` without user and password of the addresses in it, and with *** in the place of each value
/// of NAME=VALUE where the name ends in token, password, secret, api_key or the like. A value that
/// a shell looks up ($NAME, $(command)) is none and stays.
std::string without_secrets(const std::string& text);

bool holds_secret(const std::string& text);

/// Whether an address (scheme://) stands in it: much can hide in one.
bool holds_address(std::string_view text);

/// write_file(); what is private is for its owner alone to read.
void write_guarded(const std::filesystem::path& path, std::string_view text, bool is_private);
/// The same; private is what holds an address.
void write_guarded(const std::filesystem::path& path, std::string_view text);

}  // namespace kdgat
