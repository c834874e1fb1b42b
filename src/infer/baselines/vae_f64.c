#include "infer/baselines/vae.h"

#include "backend/float64.h"

#include "infer/baselines/vae_body.h"
