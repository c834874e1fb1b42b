/* Opening a device: the CPU, or one of a plug-in that is loaded for it and is the device's to its
 * close. No plug-in is loaded before a device of its own is asked for, or looked for. */
#include "backend/cpu.h"
#include "backend/loaded.h"

#include <stdio.h>

/* Number of the CUDA device that is asked for; AUTO's is the first. */
static size_t index_of(lscm_device asked)
{
    return asked > LSCM_DEVICE_CUDA_0 ? (size_t)asked - LSCM_DEVICE_CUDA_0 : 0;
}

static lscm_status cuda_find(loaded *out, size_t index, device_about *about, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    size_t count = 0;
    TRY(loaded_open(out, why));
    TRY(out->plugin->count(&count, why));
    if (index >= count) {
        status =
            fail(why, LSCM_MISSING,
                 "there is no device cuda:%zu: this machine has %zu, from cuda:0 on; lscm info "
                 "--device lists them",
                 index, count);
        goto done;
    }
    TRY(out->plugin->about(index, about, why));
done:
    return status;
}

static lscm_status cuda_open(device *out, size_t index, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    loaded from = {0};
    device_about about;
    TRY(cpu_open(out, why));
    TRY(cuda_find(&from, index, &about, why));
    TRY(from.plugin->open(out, index, why));
    (void)snprintf(out->name, sizeof out->name, "cuda:%zu %s", index, about.name);
    out->library = from.library;
    from = (loaded){0};
done:
    loaded_close(&from);
    return status;
}

lscm_status device_find(lscm_device asked, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    loaded from = {0};
    device_about about;
    if (asked >= LSCM_DEVICE_CUDA) {
        TRY(cuda_find(&from, index_of(asked), &about, why));
    }
done:
    loaded_close(&from);
    return status;
}

lscm_status device_open(device *out, lscm_device asked, char reason[DEVICE_REASON], lscm_error *why)
{
    lscm_status status = LSCM_OK;
    lscm_error without;
    if (reason != NULL) {
        reason[0] = '\0';
    }
    if (asked == LSCM_DEVICE_CPU) {
        return cpu_open(out, why);
    }
    status = cuda_open(out, index_of(asked), &without);
    if (status != LSCM_OK && asked != LSCM_DEVICE_AUTO) {
        return fail(why, status, "%s", without.text);
    }
    if (status != LSCM_OK && reason != NULL) {
        (void)snprintf(reason, DEVICE_REASON, "%s", without.text);
    }
    return status == LSCM_OK ? status : cpu_open(out, why);
}

void device_close(device *on)
{
    loaded from = {.library = on->library};
    if (on->close != NULL) {
        on->close(on);
    }
    loaded_close(&from);
}
