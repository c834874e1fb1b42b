/* The plug-in of CUDA devices while it is loaded. It is looked for where the system's loader looks:
 * LD_LIBRARY_PATH, beside what has this library in itself and in ../lib from there, and the
 * system's folders. */
#ifndef LSCM_BACKEND_LOADED_H
#define LSCM_BACKEND_LOADED_H

#include "backend/plugin.h"

typedef struct loaded {
    void *library;
    const device_plugin *plugin;
} loaded;

/* LSCM_MISSING where it is not installed, or is not this library's. */
lscm_status loaded_open(loaded *out, lscm_error *why);
/* One that was never opened, all zero, too. */
void loaded_close(loaded *l);

#endif
