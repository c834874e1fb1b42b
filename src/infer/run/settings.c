/* The settings of a fit; see lscm.h. */
#include "base/settings.h"

#include <stdlib.h>

const lscm_settings_table *lscm_fit_table(void)
{
#define ROW(type, ...) SETTING_ROW(lscm_fit_settings, __VA_ARGS__)
    static const lscm_setting rows[] = {LSCM_FIT_TABLE(ROW)};
#undef ROW
    static const lscm_settings_table table = {rows, sizeof rows / sizeof rows[0],
                                              sizeof(lscm_fit_settings)};
    return &table;
}

lscm_fit_settings *lscm_fit_settings_new(void)
{
    return settings_new(lscm_fit_table(), NULL);
}

lscm_fit_settings *lscm_fit_settings_copy(const lscm_fit_settings *settings)
{
    return settings_new(lscm_fit_table(), settings);
}

void lscm_fit_settings_free(lscm_fit_settings *settings)
{
    free(settings);
}
