#include "curriculum/curriculum.h"

#include "kdgat/stage.h"

KDGAT_STAGE(kdgat::curriculum::Curriculum)
