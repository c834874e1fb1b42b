/* Pictures: one (PNG or JPEG), a grid of them, and folders with a list of what was done for each.
 */
#ifndef LSCM_DATA_PICTURE_PICTURE_H
#define LSCM_DATA_PICTURE_PICTURE_H

#include "data/dataset/dataset.h"

#include "data/picture/caption.h"      /* words under a picture */
#include "data/picture/jpeg_picture.h" /* one picture, JPEG */
#include "data/picture/pictures.h"     /* a folder and its list */
#include "data/picture/png_picture.h"  /* one picture, PNG */

/* A folder of pictures and their list, interventions.csv, or a CSV that is such a list; both
 * leave the columns out that `options` says. */
lscm_status pictures_open(lscm_dataset *data, const lscm_open_options *options, lscm_error *why);
lscm_status pictures_open_list(lscm_dataset *data, const lscm_open_options *options,
                               lscm_error *why);
/* A folder with pictures or with their list, and not of the BIOLS layout? */
bool pictures_are_in(const char *folder);
lscm_status pictures_write(const lscm_dataset *data, const char *to, meter *m, lscm_error *why);
/* A grid of up to 64 pictures spread evenly over the rows. */
lscm_status png_write(const lscm_dataset *data, const char *to, meter *m, lscm_error *why);

#endif
