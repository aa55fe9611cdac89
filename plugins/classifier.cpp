#include "classifier/classifier.h"

#include "kdgat/stage.h"

KDGAT_STAGE(kdgat::classifier::Classifier)
