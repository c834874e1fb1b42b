#include "net/network.h"

#include "backend/float64.h"

#include "net/network_body.h"
