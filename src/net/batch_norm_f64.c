#include "net/batch_norm.h"

#include "backend/float64.h"

#include "net/batch_norm_body.h"
