/* What liblscm and a plug-in of devices, liblscm_cuda.so.0.2, say to each other: the plug-in
 * exports lscm_device_plugin alone, which hands out the table below. It is built with a library of
 * the very same version, and is refused beside any other. */
#ifndef LSCM_BACKEND_PLUGIN_H
#define LSCM_BACKEND_PLUGIN_H

#include "backend/backend.h"

/* A device as its driver has it. */
typedef struct device_about {
    char name[128];             /* "NVIDIA H200" */
    int major, minor;           /* compute capability */
    size_t memory, memory_free; /* bytes */
} device_about;

typedef struct device_plugin {
    const char *version; /* LSCM_VERSION */
    size_t bytes;        /* sizeof(device): what both see of it */
    /* How many there are; where there are none, the sentence is why. */
    lscm_status (*count)(size_t *out, lscm_error *why);
    lscm_status (*about)(size_t index, device_about *out, lscm_error *why);
    /* Adds to *out, which the CPU's open has filled, what this device does in its own way, and
     * puts its own `close` in place. *out is as it was where it fails. */
    lscm_status (*open)(device *out, size_t index, lscm_error *why);
} device_plugin;

#define DEVICE_PLUGIN "lscm_device_plugin"
typedef const device_plugin *(*device_plugin_of)(void);

#endif
