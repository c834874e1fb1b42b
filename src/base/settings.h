/* Settings from the inside: the table of a group, and structs that the library makes for it (see
 * lscm.h). */
#ifndef LSCM_BASE_SETTINGS_H
#define LSCM_BASE_SETTINGS_H

#include "lscm.h"

struct lscm_settings_table {
    const lscm_setting *rows;
    size_t count;
    size_t size; /* of the struct */
};

/* What a field of the struct is, by its type. */
#define SETTING_KIND(field)                                                                        \
    _Generic((field), int64_t                                                                      \
             : LSCM_INTEGER, double                                                                \
             : LSCM_REAL, bool                                                                     \
             : LSCM_FLAG, default                                                                  \
             : LSCM_CHOICE)

/* A row of the table for X(type, name, ..) of a struct. */
#define SETTING_ROW(group, name, meta, initial, least, most, choices, help)                        \
    {#name,   meta, SETTING_KIND(((group *)0)->name), offsetof(group, name), initial, least, most, \
     choices, help},

/* A new struct: a copy of `settings`, or the defaults for NULL. NULL without memory. */
void *settings_new(const lscm_settings_table *table, const void *settings);

#endif
