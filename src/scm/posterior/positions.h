/* Decoders of positions (decoder.h), a tile of pixels at a time: row r of z makes picture r, whose
 * pixels are taken line by line; tile t of it are the next POSITIONS_TILE of them. */
#ifndef LSCM_SCM_POSTERIOR_POSITIONS_H
#define LSCM_SCM_POSTERIOR_POSITIONS_H

#include "scm/posterior/decoder.h"

/* Tiles in a picture. */
size_t positions_tiles(const decoder *g);
/* Doubles of scratch that a tile needs. */
size_t positions_scratch(const decoder *g);
/* Piece r * positions_tiles + t: tile t of row r of z (rows, d), to its place in x (rows, D). */
void positions_apply(const decoder *g, size_t piece, const double *z, double *scratch, double *x);

#endif
