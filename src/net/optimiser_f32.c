#include "net/optimiser.h"

#include "backend/float32.h"

#include "net/optimiser_body.h"
