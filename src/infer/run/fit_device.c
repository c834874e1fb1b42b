/* The device of a fit: taken when networks come, said when the run is saved. */
#include "infer/run/belonging.h"
#include "infer/run/fit_state.h"

lscm_status fit_take_device(fit *f, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    if (f->device_taken) {
        return LSCM_OK;
    }
    device_close(&f->device);
    TRY(device_open(&f->device, f->settings.device, f->device_reason, why));
    f->device_taken = true;
done:
    return status;
}

void fit_say_device(const fit *f, json_t *summary)
{
    static const char *const names[] = {"device", NULL};
    if (f->device_taken) {
        (void)json_object_set_new(summary, "device", json_string(f->device.name));
    } else if (f->settings.device >= LSCM_DEVICE_CUDA) {
        belonging_unused(f, names, "this fit trains no network");
    }
    if (f->device_reason[0] != '\0') {
        (void)json_object_set_new(summary, "device_reason", json_string(f->device_reason));
    }
}
