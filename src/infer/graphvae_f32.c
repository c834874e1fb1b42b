#include "infer/graphvae.h"

#include "backend/float32.h"

#include "infer/graphvae_body.h"
