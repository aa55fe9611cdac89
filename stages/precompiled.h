// What nearly every source with LibTorch parses, precompiled once for all of them (see
// stages.cmake). Sources include what they use all the same: clang-tidy and a build with
// KDGAT_PRECOMPILE=OFF read them without this file.
#pragma once

#include <ATen/ATen.h>
#include <torch/autograd.h>
#include <torch/nn/module.h>
#include <torch/nn/pimpl.h>
#include <torch/types.h>
#include <torch/utils.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/file/shared_json.h"
