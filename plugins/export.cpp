#include "export/export.h"

#include "kdgat/stage.h"

KDGAT_STAGE(kdgat::exporting::Export)
