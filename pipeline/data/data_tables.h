// What `kdgat data import`, `inspect` and `inject` print for people. Reads their results, see
// data.h.
#pragma once

#include <iosfwd>
#include <nlohmann/json.hpp>

namespace kdgat {

void print_import(std::ostream& out, const nlohmann::json& result);
void print_inspect(std::ostream& out, const nlohmann::json& result);
void print_inject(std::ostream& out, const nlohmann::json& result);

}  // namespace kdgat
