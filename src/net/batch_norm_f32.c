#include "net/batch_norm.h"

#include "backend/float32.h"

#include "net/batch_norm_body.h"
