// What `kdgat data import` and `inspect` print for people. Reads their results, see data.h.
#pragma once

#include <iosfwd>
#include <nlohmann/json.hpp>

namespace kdgat {

void print_import(std::ostream& out, const nlohmann::json& result);
void print_inspect(std::ostream& out, const nlohmann::json& result);

}  // namespace kdgat
