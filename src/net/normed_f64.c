#include "net/normed.h"

#include "backend/float64.h"

#include "net/normed_body.h"
