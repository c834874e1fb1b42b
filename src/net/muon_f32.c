#include "net/muon.h"

#include "backend/float32.h"

#include "net/muon_body.h"
