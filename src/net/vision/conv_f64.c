#include "net/vision/conv.h"

#include "backend/float64.h"

#include "net/vision/conv_body.h"
