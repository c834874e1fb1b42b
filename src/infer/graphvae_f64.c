#include "infer/graphvae.h"

#include "backend/float64.h"

#include "infer/graphvae_body.h"
