#include "infer/vae.h"

#include "backend/float32.h"

#include "infer/vae_body.h"
