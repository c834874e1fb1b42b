/* What lscm compare knows about each run, and how it shows it. */
#ifndef LSCM_CLI_COMPARE_H
#define LSCM_CLI_COMPARE_H

#include "common/cli.h"

#include <jansson.h>

typedef struct compared {
    const char *path;
    lscm_posterior *run;
    json_t *config, *summary;
    double likely, expected; /* edges over 1/2; the sum of all probabilities */
    lscm_distance spread;    /* between two draws of its own */
    lscm_scores *scores;     /* where there is a truth, else NaN */
} compared;

typedef struct comparison {
    const compared *runs;
    size_t count;               /* of runs */
    const lscm_distance *apart; /* (count, count): run k and a later run l at k * count + l */
    const size_t *edges;        /* (shown): places in (d, d) where the runs differ most */
    size_t shown;
    bool scored;         /* there is a truth */
    const double *truth; /* (d, d): its weights, or NULL */
} comparison;

void compare_print(const comparison *all);
void compare_print_json(const comparison *all);

#endif
