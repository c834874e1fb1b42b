/* The table of the fit's settings; see lscm.h. */
#include "lscm.h"

lscm_settings_table lscm_fit_table(void)
{
#define ROW(kind, name, meta, initial, least, most, choices, help)                                 \
    {#name, meta,    LSCM_##kind, offsetof(lscm_fit_settings, name), initial, least,               \
     most,  choices, help},
    static const lscm_setting rows[] = {LSCM_FIT_TABLE(ROW)};
#undef ROW
    return (lscm_settings_table){rows, sizeof rows / sizeof rows[0]};
}
