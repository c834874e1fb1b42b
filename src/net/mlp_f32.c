#include "net/mlp.h"

#include "backend/float32.h"

#include "net/mlp_body.h"
