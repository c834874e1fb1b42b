/* The exact posterior over DAGs of made families. */
#ifndef LSCM_TESTS_DAG_TESTING_H
#define LSCM_TESTS_DAG_TESTING_H

#include "enumerate_dags.h"
#include "infer/graph/graph.h"
#include "made_families.h"
#include "testing.h"

static const rng R = {12, 34};

static double edge_prob[MADE_NODES * MADE_NODES];
static lscm_error why;

/* Fills edge_prob. */
static inline dag_result exact(const made_families *m, const size_t *order, const dag_draws *draws)
{
    dag_result out = {.edge_prob = edge_prob};
    for (size_t k = 0; k < m->d * m->d; k++) {
        edge_prob[k] = NAN;
    }
    assert_ok(dag_exact(
        &(dag_problem){&(mechanisms){&linear_gaussian, m->d, m->f, m->prior}, order, R, NULL, NULL},
        draws, &out, &why));
    assert_true(out.r_hat == 1 && out.ess == (double)draws->count);
    return out;
}

#endif
