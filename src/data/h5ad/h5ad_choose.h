/* Which columns of obs hold the targets and the values, where the user does not say: the one that
 * has a usual name. Where there is none, the one that seems to be it is asked for.
 */
#ifndef LSCM_DATA_H5AD_H5AD_CHOOSE_H
#define LSCM_DATA_H5AD_H5AD_CHOOSE_H

#include "data/h5ad/h5ad_file.h"
#include "data/h5ad/h5ad_words.h"

typedef struct h5ad_obs {
    const h5ad_file *file;
    char **columns; /* (count) */
    size_t count;
} h5ad_obs;

lscm_status h5ad_obs_open(h5ad_obs *obs, const h5ad_file *file, lscm_error *why);
/* Forgets a column; false where there is none of that name. */
bool h5ad_obs_ignore(h5ad_obs *obs, const char *column);
/* Safe on a zeroed one. */
void h5ad_obs_close(h5ad_obs *obs);

/* The column that the user named, or else the only one with a usual name; the sentence lists what
 * there is and has the flag, with the column that names `genes` in its rows or sounds like it. */
lscm_status h5ad_obs_target(const h5ad_obs *obs, const char *given, const h5ad_words *genes,
                            size_t rows, const char **column, lscm_error *why);
/* The same for values; NULL where none is given and none, or more than one, has a usual name. */
lscm_status h5ad_obs_value(const h5ad_obs *obs, const char *given, const char **column,
                           lscm_error *why);
/* The only column whose name sounds like values, or "NAME". */
const char *h5ad_obs_dose(const h5ad_obs *obs);
/* "a, b, c", as far as they fit. */
const char *h5ad_obs_text(const h5ad_obs *obs, char *out, size_t size);

#endif
