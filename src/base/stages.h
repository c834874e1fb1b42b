/* One total over the stages of a piece of work, as the share of the time that all of it takes:
 *
 *     t/(t + left + sum_k T_k)
 *
 * t: seconds so far; left: of the stage at work; T_k: what a later stage is expected to take, in
 * seconds or as a multiple of another stage. A stage at its share p, as it reports it itself, has
 * T (1 - p) left where T was expected of it, else t_s (1 - p)/(p - p_0) by its own t_s seconds and
 * the share p_0 that it began with. While something is not known the share stays what it was; it
 * never goes back. Stages may have stages of their own, that report to them. */
#ifndef LSCM_BASE_STAGES_H
#define LSCM_BASE_STAGES_H

#include "lscm.h"

enum { STAGES_MOST = 8 };

typedef struct stages {
    const lscm_progress *to; /* may be NULL */
    lscm_progress own;       /* for the stage at work */
    lscm_progress part;      /* .. or for a part of it, whose share is not that of the stage */
    double (*clock)(void);
    size_t count, at;
    size_t like[STAGES_MOST];  /* T is `times` that of this one .. */
    double times[STAGES_MOST]; /* .. or seconds, where like is itself; NAN: not known */
    double took[STAGES_MOST];  /* seconds, of those that are over */
    double begun, entered;
    double patience;     /* seconds of which nothing is told of those that follow; 0 */
    double first, share; /* of the stage at work; NAN: nothing was reported */
    uint64_t done;       /* of LSCM_WHOLE */
} stages;

/* The first of `count` is at work, all others take no time. `out` must stay where it is. */
void stages_begin(stages *out, size_t count, const lscm_progress *to);
/* NAN: not known. */
void stages_expect(stages *s, size_t k, double seconds);
void stages_expect_like(stages *s, size_t k, size_t like, double times);
/* The stage before is over. Back to an earlier one: those after it are expected to take what they
 * took. */
void stages_enter(stages *s, size_t k);
double stages_took(const stages *s, size_t k);
/* What s->own does; false: stop. */
bool stages_report(stages *s, const char *what, uint64_t done, uint64_t total);

#endif
