#include "watch/watch.h"

#include "kdgat/stage.h"

KDGAT_STAGE(kdgat::watch::Watch)
