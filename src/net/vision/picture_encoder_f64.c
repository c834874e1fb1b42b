#include "net/vision/picture_encoder.h"

#include "backend/float64.h"

#include "net/vision/picture_encoder_body.h"
