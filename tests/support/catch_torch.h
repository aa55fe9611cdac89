// Catch2 beside LibTorch: torch's CHECK would silently replace Catch2's and abort, so torch comes
// first and its macros go.
#pragma once

#include <torch/torch.h>

#undef CHECK
#undef CHECK_EQ
#undef CHECK_NE
#undef CHECK_LT
#undef CHECK_LE
#undef CHECK_GT
#undef CHECK_GE
#undef CHECK_NOTNULL

#include <catch2/catch.hpp>
