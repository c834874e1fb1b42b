#include "net/network.h"

#include "backend/float32.h"

#include "net/network_body.h"
