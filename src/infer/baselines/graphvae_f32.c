#include "infer/baselines/graphvae.h"

#include "backend/float32.h"

#include "infer/baselines/graphvae_body.h"
