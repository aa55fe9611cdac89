#include "fields/texts/textgcn/textgcn.h"

#include "engine/memory/out_of_memory.h"
#include "kdgat/stage.h"

KDGAT_STAGE(kdgat::memory::Guarded<kdgat::textgcn::TextGcn>)
