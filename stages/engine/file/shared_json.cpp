// Compiled with KDGAT_HAS_SHARED_JSON, as the header comes ahead of the first line here.
#include "engine/file/shared_json.h"
