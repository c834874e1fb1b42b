#include "backend/loaded.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

enum { LONGEST = 64 };

/* "liblscm_cuda.so.0.2": each 0.x has its own, like the library. */
static void file_name(char out[LONGEST])
{
    const char *version = LSCM_VERSION;
    (void)snprintf(out, LONGEST, "liblscm_cuda.so.%.*s", (int)(strrchr(version, '.') - version),
                   version);
}

/* Not there, or there and itself in want of something. */
static lscm_status fail_load(const char *name, lscm_error *why)
{
    const char *said = dlerror();
    bool absent = said == NULL ||
                  (strncmp(said, name, strlen(name)) == 0 && strstr(said, "No such file") != NULL);
    return absent
               ? fail(why, LSCM_MISSING,
                      "the plug-in for CUDA devices, %s, is not installed; docs/gpu.md says how "
                      "it is built",
                      name)
               : fail(why, LSCM_MISSING,
                      "the plug-in for CUDA devices cannot be loaded (%s); docs/gpu.md says what "
                      "it needs",
                      said);
}

lscm_status loaded_open(loaded *out, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    device_plugin_of plugin_of = NULL;
    char name[LONGEST];
    file_name(name);
    loaded l = {.library = dlopen(name, RTLD_NOW | RTLD_LOCAL)};
    if (l.library == NULL) {
        return fail_load(name, why);
    }
    *(void **)(void *)&plugin_of = dlsym(l.library, DEVICE_PLUGIN); /* as POSIX has it */
    l.plugin = plugin_of != NULL ? plugin_of() : NULL;
    if (l.plugin == NULL) {
        status =
            fail(why, LSCM_MISSING, "%s is no plug-in of lscm: it has no %s", name, DEVICE_PLUGIN);
    } else if (strcmp(l.plugin->version, LSCM_VERSION) != 0 || l.plugin->bytes != sizeof(device)) {
        status = fail(why, LSCM_MISSING,
                      "the plug-in for CUDA devices, %s, was built with lscm %s and this is %s; "
                      "build both from the same sources",
                      name, l.plugin->version, LSCM_VERSION);
    } else {
        *out = l;
        l = (loaded){0};
    }
    loaded_close(&l);
    return status;
}

void loaded_close(loaded *l)
{
    if (l->library != NULL) {
        (void)dlclose(l->library);
    }
    *l = (loaded){0};
}
