/* A plug-in without a device behind it, to try the library's side of src/backend/plugin.h. What is
 * wrong with it is said by LSCM_FAKE in the environment: "version", "bytes", "none", "refuses". Its
 * devices are the CPU. */
#include "backend/plugin.h"

#include <stdlib.h>
#include <string.h>

static bool is(const char *what)
{
    const char *said = getenv("LSCM_FAKE");
    return said != NULL && strcmp(said, what) == 0;
}

static lscm_status count(size_t *out, lscm_error *why)
{
    *out = is("none") ? 0 : 2;
    return *out > 0 ? LSCM_OK : fail(why, LSCM_MISSING, "the fake has no device today");
}

static lscm_status about(size_t index, device_about *out, lscm_error *why)
{
    (void)why;
    *out = (device_about){.name = "Fake", .major = 9, .minor = (int)index};
    out->memory = (size_t)8 << 30;
    out->memory_free = (size_t)6 << 30;
    return LSCM_OK;
}

static lscm_status open_device(device *out, size_t index, lscm_error *why)
{
    (void)out;
    return is("refuses") ? fail(why, LSCM_MISSING, "cuda:%zu is too old for the fake", index)
                         : LSCM_OK;
}

LSCM_API const device_plugin *lscm_device_plugin(void);

const device_plugin *lscm_device_plugin(void)
{
    static const device_plugin good = {LSCM_VERSION, sizeof(device), count, about, open_device};
    static const device_plugin older = {"0.1.7", sizeof(device), count, about, open_device};
    static const device_plugin other = {LSCM_VERSION, sizeof(device) + 8, count, about,
                                        open_device};
    return is("version") ? &older : is("bytes") ? &other : &good;
}
