#include "net/vision/tiles.h"

#include "backend/float64.h"

#include "net/vision/tiles_body.h"
