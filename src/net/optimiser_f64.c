#include "net/optimiser.h"

#include "backend/float64.h"

#include "net/optimiser_body.h"
