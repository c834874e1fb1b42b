#include "net/mlp.h"

#include "backend/float64.h"

#include "net/mlp_body.h"
