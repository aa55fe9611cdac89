#include "fields/molecules/equivariant/equivariant.h"

#include "engine/memory/out_of_memory.h"
#include "kdgat/stage.h"

KDGAT_STAGE(kdgat::memory::Guarded<kdgat::equivariant::Equivariant>)
