#include "backend/batch_norm.h"

#include "backend/float64.h"

#include "backend/batch_norm_body.h"
