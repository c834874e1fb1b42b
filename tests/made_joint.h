/* A problem of joint.h on a made signal: anchors, exact graphs to start from, room for draws. */
#ifndef LSCM_TESTS_MADE_JOINT_H
#define LSCM_TESTS_MADE_JOINT_H

#include "infer/anchored/anchored.h"
#include "infer/encoder/encoder.h"
#include "infer/sample/sample.h"
#include "made_linear_view.h"

#include "testing.h"

enum { MOST_DRAWS = 2000, MOST_CHAINS = 4 };

static lscm_error why;

/* A problem, and room for its draws. */
typedef struct bench {
    made_signal m;
    bool effects;
    anchor anchor;
    view_scatter scatter;
    families families;
    double unit[MADE_MOST], slope[MADE_MOST * MADE_MOST], edge_prob[MADE_MOST * MADE_MOST];
    joint_problem problem;
    dag_result exact; /* at the z of the anchors */
    uint32_t parents[MOST_CHAINS * MADE_MOST];
    size_t order[MOST_CHAINS * MADE_MOST];
    joint_draws draws;
} bench;

static inline void *zeros(size_t count, size_t size)
{
    void *p = calloc(count, size);
    assert_non_null(p);
    return p;
}

/* Families over the rows of z, all nodes candidates but for forbidden (d, d); the exact posterior.
 */
static inline void solve(bench *b, const double *z, const dag_prior *prior,
                         const uint8_t *forbidden, const uint8_t *required)
{
    size_t d = b->m.s.d;
    size_t count[MADE_MOST] = {0};
    size_t candidate[MADE_MOST * MADE_MOST];
    dag_draws start = {MOST_CHAINS, d, b->parents, b->order};
    for (size_t i = 0; i < d; i++) {
        for (size_t j = 0; j < d; j++) {
            if (j != i && (forbidden == NULL || forbidden[j * d + i] == 0)) {
                candidate[i * d + count[i]++] = j;
            }
        }
    }
    b->exact.edge_prob = b->edge_prob;
    families_close(&b->families);
    assert_ok(families_of(&b->families, &(latent_rows){&b->m.s.design, z, NULL, b->effects},
                          &(candidate_lists){d, count, candidate, required}, &why));
    assert_ok(dag_exact(&(dag_problem){&(mechanisms){&linear_gaussian, d, b->families.list, *prior},
                                       NULL, (rng){1, 1}, NULL, NULL},
                        &start, &b->exact, &why));
}

static inline void open_bench(bench *b, const made_design *c, lcg *g, const uint8_t *forbidden,
                              const uint8_t *required)
{
    size_t d = c->d;
    *b = (bench){.m = made_signal_of(c, g), .effects = c->effects};
    for (size_t i = 0; i < MADE_MOST; i++) {
        b->unit[i] = 1;
    }
    dag_prior prior = {.ridge = c->ridge,
                       .dof = c->dof,
                       .log_odds = log(c->edge / (1 - c->edge)),
                       .variance = c->equal ? 0.05 : 0,
                       .unit = b->unit,
                       .spread = c->spread,
                       .hole = c->hole};
    double *z = zeros(b->m.s.rows * d, sizeof *z);
    assert_ok(anchor_of(&b->anchor, &b->m.s, NULL, &why));
    assert_ok(encoder_complete(&b->m.s, NULL, &b->anchor, b->slope, &why));
    anchor_apply(&b->m.s, b->anchor.intercept, b->slope, z);
    solve(b, z, &prior, forbidden, required);
    free(z);
    assert_ok(view_scatter_of(&b->scatter, &b->m.s, NULL, c->effects, &why));
    b->problem = (joint_problem){.view = &b->m.s,
                                 .anchor = &b->anchor,
                                 .slope = b->slope,
                                 .scatter = &b->scatter,
                                 .mechanisms = {&linear_gaussian, d, b->families.list, prior},
                                 .equal = c->equal,
                                 .noisy = c->x_noise > 0,
                                 .interchangeable = forbidden == NULL && required == NULL};
    b->draws = (joint_draws){.order = zeros(MOST_DRAWS * d, sizeof(size_t)),
                             .w = zeros(MOST_DRAWS * d * d, sizeof(double)),
                             .sigma = zeros(MOST_DRAWS * d, sizeof(double)),
                             .intercept = zeros(MOST_DRAWS * d, sizeof(double)),
                             .effect = zeros(MOST_DRAWS * d, sizeof(double)),
                             .log_p = zeros(MOST_DRAWS, sizeof(double)),
                             .shift = zeros(MOST_DRAWS * d, sizeof(double)),
                             .slope = zeros(MOST_DRAWS * d * d, sizeof(double))};
}

static inline void sample(bench *b, size_t chains, size_t sweeps, size_t draws, uint64_t seed)
{
    dag_draws start = {chains, b->m.s.d, b->parents, b->order};
    joint_settings settings = {.chains = chains, .sweeps = sweeps};
    b->draws.count = draws;
    assert_ok(joint_sample(&b->problem, &settings, &start, (rng){seed, 5}, &b->draws, NULL, &why));
}

static inline void close_bench(bench *b)
{
    free(b->draws.order);
    free(b->draws.w);
    free(b->draws.sigma);
    free(b->draws.intercept);
    free(b->draws.effect);
    free(b->draws.log_p);
    free(b->draws.shift);
    free(b->draws.slope);
    families_close(&b->families);
    view_scatter_close(&b->scatter);
    anchor_close(&b->anchor);
    made_signal_free(&b->m);
}

static const made_design SMALL = {.d = 3,
                                  .observational = 12,
                                  .sets = 6,
                                  .per_set = 8,
                                  .single = true,
                                  .value = 2,
                                  .actuator = 0.03,
                                  .ridge = 0.1,
                                  .dof = 3,
                                  .edge = 0.5};

#endif
