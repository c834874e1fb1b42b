/* Between the files of bends. */
#ifndef LSCM_INFER_MECHANISM_BEND_PARTS_H
#define LSCM_INFER_MECHANISM_BEND_PARTS_H

#include "infer/mechanism/bends.h"

/* The ridge at which gains are told, in the middle of those that weights may have (graph/hyper.h).
 */
static const double BEND_RIDGE = 0.01;

/* G and H, and the probability of each kind: straight and bent alike, and of families whose pairs
 * are there curved and together alike. */
typedef struct bend_kind {
    double curve, pair; /* 0: none */
} bend_kind;
bend_kind bend_kind_of(size_t kind);
/* log P(kind) of a family with these parents; -infinity where it has no such kind. */
double bend_log_prior(const bend_family *f, bend_reach reach, uint32_t parents, size_t kind);

/* Functions of the candidates in a mask: their places in the sums (room for f->width); straight
 * ones alone, or pairs too. */
size_t bend_functions(const bend_family *f, uint32_t parents, size_t kind, size_t *place);
/* What the prior precision of function `at` is multiplied by in a kind: 1/G, 1/H, or 1. */
double bend_scale(const bend_family *f, size_t at, size_t kind);

/* The regression of a node on n functions at a level. */
typedef struct bend_fit {
    double *a;      /* (n + 1, n + 1): lower factor of A, the node's row last */
    double rest;    /* q */
    double log_det; /* log |A| - log |L| */
} bend_fit;
/* a: room for (n + 1)^2; scale: t u_i^2. */
bend_fit bend_fit_of(const bend_family *f, size_t level, size_t kind, const size_t *place, size_t n,
                     double scale, double *a);
/* -(nu + n - 1)/2 log q - 1/2 log |A| / |L| with so many parents. */
double bend_log_evidence(const bend_family *f, const dag_prior *prior, size_t parents, double rest,
                         double log_det);
/* t u_i^2 */
static inline double bend_least(const bend_family *f, const dag_prior *prior)
{
    return BEND_RIDGE * prior->unit[f->node] * prior->unit[f->node];
}

/* bend_sums.c: curves of all nodes; sums of all families, whose pairs are known by then. */
lscm_status bend_curves(bends *b, const latent_rows *rows, lscm_error *why);
lscm_status bend_sums(bends *b, const latent_rows *rows, const dag_prior *prior, lscm_error *why);
/* bend_select.c: candidates in the order in which forward selection takes them where parents may be
 * curved, all or the first `most`; returns how many of them make the rows likelier. */
typedef struct bend_select_room {
    size_t *place; /* (width) */
    double *a;     /* (width, width) */
} bend_select_room;
void bend_select_lay_out(bend_select_room *room, arena *a, size_t width);
size_t bend_select(const bend_family *f, bend_reach reach, const dag_prior *prior, size_t most,
                   const bend_select_room *room, size_t *order);
/* The log evidence of these parents at a level, curved or straight, the best kind. */
double bend_best(const bend_family *f, size_t level, bend_reach reach, uint32_t parents,
                 const dag_prior *prior, const bend_select_room *room);
/* bend_gain.c: what one parent set gains at a level; what families gain, of levels that are there.
 */
double bend_gain_of(const bends *b, const bend_family *f, size_t level, const dag_prior *prior,
                    const bend_select_room *room, uint32_t set);
lscm_status bend_gains(bends *b, const families *f, const dag_prior *prior, lscm_error *why);

#endif
