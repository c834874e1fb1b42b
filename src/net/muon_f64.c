#include "net/muon.h"

#include "backend/float64.h"

#include "net/muon_body.h"
