#include "classify/classify.h"

#include "kdgat/stage.h"
#include "memory/out_of_memory.h"

KDGAT_STAGE(kdgat::memory::Guarded<kdgat::classify::Classify>)
