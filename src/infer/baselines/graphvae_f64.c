#include "infer/baselines/graphvae.h"

#include "backend/float64.h"

#include "infer/baselines/graphvae_body.h"
