/* The experiment unseen-interventions, between computing (unseen.c) and showing (unseen_report.c).
 */
#ifndef LSCM_CLI_UNSEEN_H
#define LSCM_CLI_UNSEEN_H

#include "experiments/reproduce.h"

/* Who predicts the mean of x under do(). */
enum { BY_POSTERIOR, BY_EMPTY_GRAPH, BY_TRUE_MODEL, PREDICTIONS };

typedef struct unseen {
    lscm_simulation *settings;
    const char *preset;
    size_t d, features, count, samples;
    size_t height, width;       /* of a picture; 0 where x is none */
    uint8_t *targets;           /* (count, d) */
    double *values;             /* (count, d) */
    double *truth, *predicted;  /* (count, features): means of x; predicted by the posterior */
    double *error[PREDICTIONS]; /* (count) each: mean squared difference from truth */
    double seconds;             /* of the fit */
} unseen;

/* Over all do(). */
double unseen_average(const unseen *u, int by);

/* The CSV; `self` is an unseen. */
void unseen_write_csv(FILE *out, const void *self);
/* True means, predicted means and their difference, a column for each do(): *pixels is malloc'ed
 * and must outlive *out. */
lscm_status unseen_figure(const unseen *u, lscm_dataset **out, double **pixels, lscm_error *why);
void unseen_print(const unseen *u, const results *r, bool json);

#endif
