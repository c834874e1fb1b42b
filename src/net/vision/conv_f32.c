#include "net/vision/conv.h"

#include "backend/float32.h"

#include "net/vision/conv_body.h"
