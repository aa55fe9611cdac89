#include "score/score.h"

#include "kdgat/stage.h"

KDGAT_STAGE(kdgat::score::Score)
