#include "evaluate/evaluate.h"

#include "kdgat/stage.h"

KDGAT_STAGE(kdgat::evaluate::Evaluate)
