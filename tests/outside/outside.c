/* A stranger's program: it makes data, and has functions with the names of internal ones, which
 * must not meet. */
#include <lscm.h>
#include <stdio.h>
#include <string.h>

int fail(void);

int fail(void)
{
    return 0;
}

int main(void)
{
    lscm_error why = {0};
    lscm_dataset *data = NULL;
    lscm_simulation *settings = lscm_simulation_new();
    lscm_status status =
        settings != NULL ? lscm_simulation_preset(settings, "paper-linear", 5, &why) : LSCM_MEMORY;
    if (status == LSCM_OK) {
        status = lscm_simulate(&data, settings, "outside", &why);
    }
    puts(status == LSCM_OK ? lscm_version() : why.text);
    lscm_dataset_free(data);
    lscm_simulation_free(settings);
    return status != LSCM_OK || strcmp(lscm_version(), LSCM_VERSION) != 0 || fail();
}
