#include "fusion/fusion.h"

#include "engine/memory/out_of_memory.h"
#include "kdgat/stage.h"

KDGAT_STAGE(kdgat::memory::Guarded<kdgat::fusion::Fusion>)
