#include "distill/distill.h"

#include "kdgat/stage.h"

KDGAT_STAGE(kdgat::distill::Distill)
