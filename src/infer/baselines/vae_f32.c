#include "infer/baselines/vae.h"

#include "backend/float32.h"

#include "infer/baselines/vae_body.h"
