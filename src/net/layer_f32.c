#include "net/layer.h"

#include "backend/float32.h"

#include "net/layer_body.h"
