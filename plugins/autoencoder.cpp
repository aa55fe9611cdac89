#include "autoencoder/autoencoder.h"

#include "kdgat/stage.h"

KDGAT_STAGE(kdgat::autoencoder::Autoencoder)
