/* The files of a run folder, one posterior:
 *
 *     config.json, summary.json   JSON objects
 *     posterior.nc                ArviZ's schema; chain = 1:
 *         posterior      w(chain, draw, parent, child)  sigma(chain, draw, node)
 *                        intercept(chain, draw, node)  order(chain, draw, position)
 *         sample_stats   lp(chain, draw), log p of a draw  log_q(chain, draw)
 *         constant_data  edge_prob(parent, child); attributes threshold, x_shape (of one row)
 *         latents        z(sample, node)  z_sd(sample, node)
 *         decoder        layer_0(node, unit_1) .. layer_n(unit_n, feature)  bias(feature), or
 *                        bias_0(unit_1) .. bias_n(feature); attributes kind, activation, x_noise;
 *                        of positions layer_0(input, unit_1) .. layer_n(unit_n, channel), the
 *                        last two inputs the position, and backdrop(height, width, channel)
 *         encoder        named arrays, see infer/encoder/stored_encoder.h; attribute kind
 *         mechanisms     only where one bends (scm/mechanism/bent.h): knots(node)
 *                        knot(node, knot)  value, second(node, knot, curve)  first(offset)
 *                        parent(term, side)  coef(term, curve)
 *     checkpoint, trace.csv       the estimator's own
 *
 * Old files lack some: no intercept is zeros, no bias is none, no activation is gelu, no encoder is
 * none, no mechanisms is linear ones. Nodes have names as the coordinates node, parent and child.
 * posterior.nc is written last: where it is, the run is whole. Nothing says when it was written, so
 * equal runs are equal files.
 */
#ifndef LSCM_RESULT_STORE_RUN_FOLDER_H
#define LSCM_RESULT_STORE_RUN_FOLDER_H

#include "data/netcdf/netcdf.h"
#include "scm/posterior/posterior.h"

#define RUN_POSTERIOR "posterior.nc"
#define RUN_CONFIG "config.json"
#define RUN_SUMMARY "summary.json"
#define RUN_CHECKPOINT "checkpoint"
#define RUN_TRACE "trace.csv"
#define RUN_REPORT "report.html"

extern const char *const DECODER_NAMES[5];    /* by decoder_kind */
extern const char *const ACTIVATION_NAMES[3]; /* by decoder_activation */

/* folder/name in new memory; NULL when there is none. */
char *run_path(const char *folder, const char *name);

/* posterior.nc alone. `to` exists; `what` ("writing run/posterior.nc") opens every sentence. */
lscm_status posterior_write(const lscm_posterior *p, const char *to, const char *what,
                            lscm_error *why);
/* Everything is checked: shapes, orders that w follows, finite numbers. */
lscm_status posterior_read(lscm_posterior **out, const char *path, lscm_error *why);

/* An array that must be there, with as many dimensions, none of them empty. */
lscm_status posterior_array_shape(const netcdf_file *file, const char *group, const char *name,
                                  int ndim, array_shape *shape, lscm_error *why);
/* Reads an array of exactly these dimensions; 0 ends them. */
lscm_status posterior_read_array(const netcdf_file *file, const char *group, const char *name,
                                 const size_t dims[LSCM_MAX_DIMS], double *out, lscm_error *why);

/* The group mechanisms. Its arrays, whose memory is `curves`, to be freed; those of the terms are
 * the mechanisms' own. Read, they are as bent.h promises, and causes come before their effects in
 * the order of the draw, which is there already. */
enum { BENT_ARRAYS = 7 };
lscm_status posterior_bent_arrays(const bent_mechanisms *bent, double **curves,
                                  netcdf_array out[BENT_ARRAYS], lscm_error *why);
lscm_status posterior_read_bent(const netcdf_file *file, lscm_posterior *p, lscm_error *why);

/* The group encoder. An array as the file has it; names (its dimensions) are the caller's memory
 * for those of its axes. */
enum { ENCODER_AXIS = ENCODER_NAME + 3 };
netcdf_array posterior_encoder_array(const encoder_array *array, char names[][ENCODER_AXIS]);
netcdf_attribute posterior_encoder_kind(const encoder_store *store);
lscm_status posterior_read_encoder(const netcdf_file *file, lscm_posterior *p, lscm_error *why);

#endif
