// What every test of the command line is written with. For tests/cli alone: it opens names.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>

#include "support/runs/runs.h"

namespace fs = std::filesystem;
using nlohmann::json;
using namespace kdgat::test;
