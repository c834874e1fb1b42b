#include "net/normed.h"

#include "backend/float32.h"

#include "net/normed_body.h"
