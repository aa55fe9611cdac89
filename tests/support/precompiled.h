// What nearly every test without LibTorch parses, precompiled once for all of them (see
// tests.cmake).
#pragma once

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>
#include <string>
#include <vector>
