#include "net/layer.h"

#include "backend/float64.h"

#include "net/layer_body.h"
