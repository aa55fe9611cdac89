#include "fusion/fusion.h"

#include "kdgat/stage.h"

KDGAT_STAGE(kdgat::fusion::Fusion)
