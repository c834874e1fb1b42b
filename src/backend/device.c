/* The devices there are; another is an entry here. */
#include "backend/cpu.h"

typedef lscm_status (*opener)(device *out, lscm_error *why);

static const opener openers[DEVICE_COUNT] = {[DEVICE_CPU] = cpu_open};

lscm_status device_open(device *out, device_kind kind, lscm_error *why)
{
    return openers[kind](out, why);
}

void device_close(device *on)
{
    if (on->close != NULL) {
        on->close(on);
    }
}
