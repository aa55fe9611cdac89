#include "score_native/score_native.h"

#include "kdgat/stage.h"

KDGAT_STAGE(kdgat::score_native::ScoreNative)
