/* Mechanisms that are known against their definition, what rows say of them against least squares
 * and enumeration, and the seam itself: a law that no data have a say in. */
#include "infer/graph/graph.h"
#include "infer/mechanism/mechanism.h"

#include "design_testing.h"
#include "enumerate_dags.h"
#include "lcg.h"
#include "testing.h"

enum { D = 5, ROWS = 400 };

typedef struct world {
    size_t order[D];
    double w[D * D], c[D], s[D];
    mechanism_model m;
    double z[ROWS * D], noise[ROWS * D];
    uint8_t mask[ROWS * D];
} world;

/* Rows by the definition, node after node; each node is set in a fifth of them, to N(0, 2^2). */
static void make(world *x, uint64_t seed)
{
    lcg g = {seed};
    lcg_weights(&g, D, 0.6, x->order, x->w);
    x->m = (mechanism_model){.d = D, .w = x->w, .intercept = x->c, .sigma = x->s};
    for (size_t i = 0; i < D; i++) {
        x->c[i] = lcg_normal(&g);
        x->s[i] = 0.5 + lcg_uniform(&g);
    }
    for (size_t r = 0; r < ROWS; r++) {
        double *z = x->z + r * D;
        for (size_t k = 0; k < D; k++) {
            size_t i = x->order[k];
            x->noise[r * D + i] = x->s[i] * lcg_normal(&g);
            x->mask[r * D + i] = lcg_uniform(&g) < 0.2 ? 1 : 0;
            z[i] = x->c[i] + x->noise[r * D + i];
            for (size_t j = 0; j < D; j++) {
                z[i] += x->w[j * D + i] != 0 ? z[j] * x->w[j * D + i] : 0;
            }
            z[i] = x->mask[r * D + i] != 0 ? 2 * lcg_normal(&g) : z[i];
        }
    }
}

/* z - c - z W is the noise wherever a node was free; one node and all of a row have the same bits.
 */
static void residuals(void **state)
{
    (void)state;
    static world x;
    double e[D];
    make(&x, 3);
    for (size_t r = 0; r < ROWS; r++) {
        mechanism_residuals(&x.m, x.z + r * D, e);
        for (size_t i = 0; i < D; i++) {
            double one = mechanism_residual(&x.m, i, x.z + r * D);
            assert_memory_equal(&one, &e[i], sizeof one);
            if (x.mask[r * D + i] == 0) {
                assert_near(e[i], x.noise[r * D + i], 1e-12);
            }
        }
    }
}

/* Simulated from its noise, a row has that noise for its residual; so have n rows at once. */
static void simulated(void **state)
{
    (void)state;
    static world x;
    static double columns[D * ROWS];
    make(&x, 4);
    for (size_t r = 0; r < ROWS; r++) {
        double z[D];
        for (size_t k = 0; k < D; k++) {
            size_t i = x.order[k];
            z[i] = mechanism_simulate(&x.m, i, x.order, k, z, x.noise[r * D + i]);
            columns[i * ROWS + r] = x.c[i] + x.noise[r * D + i];
        }
        for (size_t i = 0; i < D; i++) {
            assert_near(mechanism_residual(&x.m, i, z), x.noise[r * D + i], 1e-12);
        }
        memcpy(x.z + r * D, z, sizeof z);
    }
    for (size_t k = 0; k < D; k++) {
        mechanism_simulate_column(&x.m, x.order[k], x.order, k, ROWS, columns);
    }
    for (size_t r = 0; r < ROWS; r++) {
        for (size_t i = 0; i < D; i++) {
            assert_near(columns[i * ROWS + r], x.z[r * D + i], 1e-12);
        }
    }
}

/* What one unit more of node k's noise changes, under every mask; z counted from elsewhere. */
static void reach_and_moves(void **state)
{
    (void)state;
    static world x;
    make(&x, 5);
    for (uint32_t set = 0; set < 1U << D; set++) {
        uint8_t mask[D];
        double reach[D * D] = {0};
        for (size_t i = 0; i < D; i++) {
            mask[i] = (uint8_t)(set >> i & 1);
            reach[i * D + i] = 1;
        }
        mechanism_reach(&x.m, x.order, mask, D, reach);
        for (size_t k = 0; k < D; k++) {
            double z[2][D];
            for (size_t side = 0; side < 2; side++) {
                for (size_t at = 0; at < D; at++) {
                    size_t i = x.order[at];
                    double more = side == 1 && i == k ? 1 : 0;
                    z[side][i] = mask[i] != 0
                                     ? more
                                     : mechanism_simulate(&x.m, i, x.order, at, z[side], more);
                }
            }
            for (size_t i = 0; i < D; i++) {
                assert_near(reach[k * D + i], z[1][i] - z[0][i], 1e-12);
            }
        }
    }
    const double by[D] = {1, -2, 0.5, 3, -1};
    double z[D];
    double c[D];
    for (size_t i = 0; i < D; i++) {
        z[i] = x.z[i] + by[i];
        c[i] = mechanism_moved(&x.m, i, by);
    }
    const mechanism_model moved = {.d = D, .w = x.w, .intercept = c, .sigma = x.s};
    for (size_t i = 0; i < D; i++) {
        assert_near(mechanism_residual(&moved, i, z), mechanism_residual(&x.m, i, x.z), 1e-12);
    }
}

static void all_candidates(size_t *count, size_t *candidate)
{
    for (size_t i = 0; i < D; i++) {
        for (size_t j = 0; j < D; j++) {
            if (j != i) {
                candidate[i * (D - 1) + count[i]++] = j;
            }
        }
    }
}

static const double UNIT[D] = {1, 0.7, 1.3, 0.9, 1.1};
static const dag_prior PRIOR = {.ridge = 0.1, .dof = 3, .log_odds = -0.5, .unit = UNIT};

static lscm_error why;

/* The families of a world as a law gathers them, with room for the lists. */
typedef struct told {
    world x;
    size_t count[D], candidate[D * (D - 1)];
    design design;
    families f;
    mechanisms all;
} told;

static void gather(told *t, const mechanism_law *law, uint64_t seed)
{
    memset(t, 0, sizeof *t);
    make(&t->x, seed);
    all_candidates(t->count, t->candidate);
    design_again(&t->design, ROWS, D, t->x.mask, NULL);
    const latent_rows rows = {&t->design, t->x.z, NULL, false};
    const candidate_lists lists = {D - 1, t->count, t->candidate, NULL};
    assert_ok(law->gather(&t->f, &rows, &lists, &why));
    t->all = (mechanisms){law, D, t->f.list, PRIOR};
    assert_ok(mechanisms_check(&t->all, &why));
}

static uint32_t true_parents(const world *x, const family *f)
{
    uint32_t parents = 0;
    for (size_t k = 0; k < f->count; k++) {
        parents |= x->w[f->candidate[k] * D + f->node] != 0 ? 1U << k : 0;
    }
    return parents;
}

/* Draws given the true parents: the residuals of their mean are the smallest but for the ridge, so
 * nearly orthogonal to every parent, with mean 0 and, over n + dof - 1, the mean variance. */
static void draws(void **state)
{
    (void)state;
    enum { DRAWS = 4000 };
    static told t;
    gather(&t, &linear_gaussian, 7);
    for (size_t i = 0; i < D; i++) {
        const family *f = &t.all.family[i];
        uint32_t parents = true_parents(&t.x, f);
        double w[D * D] = {0};
        double c[D] = {0};
        double precision = 0;
        for (size_t k = 0; k < DRAWS; k++) {
            double one[D * D] = {0};
            mechanism m = mechanisms_draw(&t.all, i, parents, (rng){1, 2}, k, one + i);
            for (size_t e = 0; e < (size_t)D * D; e++) {
                w[e] += one[e] / DRAWS;
            }
            c[i] += m.intercept / DRAWS;
            precision += 1 / (m.sigma * m.sigma) / DRAWS;
        }
        const mechanism_model mean = {.d = D, .w = w, .intercept = c};
        double sum = 0;
        double squares = 0;
        double with[D] = {0};
        for (size_t r = 0; r < ROWS; r++) {
            if (t.x.mask[r * D + i] == 0) {
                double e = mechanism_residual(&mean, i, t.x.z + r * D);
                sum += e;
                squares += e * e;
                for (size_t j = 0; j < D; j++) {
                    with[j] += e * t.x.z[r * D + j];
                }
            }
        }
        double sd = sqrt(squares / f->rows);
        double error = 5 * sd / sqrt((double)DRAWS); /* of a mean over draws, in units of its sd */
        assert_near(sum / sqrt(f->rows), 0, 2 * error);
        size_t size = 0;
        for (size_t k = 0; k < f->count; k++) {
            size_t j = f->candidate[k];
            if ((parents >> k & 1) != 0) {
                double scale = sqrt(f->scatter[k * (f->count + 1) + k] + f->rows * 4);
                assert_near(with[j] / scale, 0.1 * UNIT[j] * UNIT[j] * w[j * D + i] / scale,
                            4 * error);
                size++;
            } else {
                assert_true(w[j * D + i] == 0);
            }
        }
        double nu = 3 + (double)size + f->rows - 1;
        assert_near(precision * squares / nu, 1, 0.01 + 5 * sqrt(2 / nu / DRAWS));
    }
    families_close(&t.f);
    design_close(&t.design);
}

/* All sets at once, one at a time, and of a part of the candidates; all graphs, enumerated. */
static void evidence(void **state)
{
    (void)state;
    static told t;
    double edge_prob[D * D];
    double score[1 << (D - 1)];
    double work[2][1 << (D - 1)];
    gather(&t, &linear_gaussian, 8);
    for (size_t i = 0; i < D; i++) {
        const family *f = &t.all.family[i];
        linear_gaussian.score_all(f, &PRIOR, &(family_table){work[0], work[1]}, score);
        for (uint32_t set = 0; set < 1U << f->count; set++) {
            assert_near(score[set], mechanisms_score(&t.all, i, set), 1e-9);
        }
        family_room part;
        linear_gaussian.narrow(&part, f, 0xb); /* without the third */
        assert_int_equal(part.f.count, 3);
        for (uint32_t set = 0; set < 8; set++) {
            uint32_t whole = (set & 3) | (set & 4) << 1;
            assert_near(linear_gaussian.score(&part.f, &PRIOR, set), score[whole], 1e-9);
        }
    }
    dag_yardstick truth;
    dag_result out = {.edge_prob = edge_prob};
    enumerate_dags(&truth, t.all.family, D, &PRIOR, NULL, NULL, NULL);
    assert_ok(dag_exact(&(dag_problem){.mechanisms = &t.all}, &(dag_draws){.d = D}, &out, &why));
    assert_near(out.log_evidence, truth.log_evidence, 1e-8);
    for (size_t e = 0; e < (size_t)D * D; e++) {
        assert_near(edge_prob[e], truth.edge_prob[e], 1e-9);
    }
    families_close(&t.f);
    design_close(&t.design);
}

/* One variance for all: the squares of all residuals about their means, and the ridge's. */
static void pooled(void **state)
{
    (void)state;
    static told t;
    uint32_t parents[D];
    double dof = 0;
    double sum = 0;
    double rows = 3;
    gather(&t, &linear_gaussian, 9);
    for (size_t i = 0; i < D; i++) {
        double mean = 0;
        parents[i] = true_parents(&t.x, &t.all.family[i]);
        for (int pass = 0; pass < 2; pass++) {
            for (size_t r = 0; r < ROWS; r++) {
                double e = mechanism_residual(&t.x.m, i, t.x.z + r * D);
                if (t.x.mask[r * D + i] == 0) {
                    mean += pass == 0 ? e / t.all.family[i].rows : 0;
                    sum += pass == 1 ? (e - mean) * (e - mean) : 0;
                }
            }
        }
        rows += t.all.family[i].rows - 1;
        sum += 0.1 * UNIT[i] * UNIT[i] / D;
        for (size_t j = 0; j < D; j++) {
            double w = t.x.w[j * D + i];
            sum += 0.1 * UNIT[j] * UNIT[j] * w * w;
            rows += w != 0 ? 1 : 0;
        }
    }
    assert_near(linear_gaussian.pool(&t.all, parents, t.x.w, &dof), sum, 1e-9 * sum);
    assert_near(dof, rows, 0);
    families_close(&t.f);
    design_close(&t.design);
}

/* ---- Another law ---- */

static double edges_only(const family *f, const dag_prior *prior, uint32_t parents)
{
    (void)f;
    return (double)__builtin_popcount(parents) * prior->log_odds;
}

static void edges_only_all(const family *f, const dag_prior *prior, const family_table *work,
                           double *score)
{
    (void)work;
    for (uint32_t set = 0; set < 1U << f->count; set++) {
        score[set] = edges_only(f, prior, set);
    }
}

/* Exact, sampled and as a chain, graphs ask the law that they were given and nothing else: an edge
 * is there where its cause comes first, half of the orders, and then with its odds. */
static void another_law(void **state)
{
    (void)state;
    enum { SWEEPS = 20000 };
    static told t;
    mechanism_law law = linear_gaussian;
    law.score = edges_only;
    law.score_all = edges_only_all;
    gather(&t, &law, 10);
    const double odds = exp(PRIOR.log_odds);
    const double expected = 0.5 * odds / (1 + odds);
    double edge_prob[D * D];
    uint32_t parents[D];
    size_t order[D];
    dag_result out = {.edge_prob = edge_prob};
    dag_draws draw = {1, D, parents, order};
    dag_problem problem = {.mechanisms = &t.all, .r = {1, 1}};
    assert_ok(dag_exact(&problem, &draw, &out, &why));
    assert_near(out.log_evidence, D * (D - 1) / 2. * log1p(odds), 1e-10);
    assert_near(edge_prob[1], expected, 1e-10);
    assert_ok(dag_mcmc(&problem, &(dag_mcmc_settings){.steps = 40000}, &draw, &out, &why));
    assert_near(edge_prob[1], expected, 0.03);

    arena memory = {0};
    graph_chain c = {.d = D, .all = t.all};
    graph_chain_lay_out(&c, &memory);
    assert_ok(arena_open(&memory, &why));
    graph_chain_lay_out(&c, &memory);
    graph_chain_begin(&c, &draw, 0, (rng){2, 1});
    double edges = 0;
    for (size_t k = 0; k < SWEEPS; k++) {
        graph_chain_move(&c);
        for (size_t i = 0; i < D; i++) {
            edges += (double)__builtin_popcount(c.parents[i]) / (SWEEPS * D * (D - 1));
        }
    }
    assert_near(edges, expected, 0.01);
    arena_close(&memory);
    families_close(&t.f);
    design_close(&t.design);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(residuals),       cmocka_unit_test(simulated),
        cmocka_unit_test(reach_and_moves), cmocka_unit_test(draws),
        cmocka_unit_test(evidence),        cmocka_unit_test(pooled),
        cmocka_unit_test(another_law),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
