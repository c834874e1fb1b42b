#include "net/vision/tiles.h"

#include "backend/float32.h"

#include "net/vision/tiles_body.h"
