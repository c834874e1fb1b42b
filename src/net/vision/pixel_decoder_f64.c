#include "net/vision/pixel_decoder.h"

#include "backend/float64.h"

#include "net/vision/pixel_decoder_body.h"
