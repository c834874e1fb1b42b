#include "backend/batch_norm.h"

#include "backend/float32.h"

#include "backend/batch_norm_body.h"
