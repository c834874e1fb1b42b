#include "infer/vae.h"

#include "backend/float64.h"

#include "infer/vae_body.h"
