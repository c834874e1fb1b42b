/* Draws of mechanisms that bend against the law of bends_testing.h: which kind, and given that all
 * coefficients and the intercept together,
 *
 *     (c, b) ~ N(m, s^2 K^-1),   K = [1 X]' V^-1 [1 X] + diag(0, L),   1/s^2 ~ Gamma(f/2, q/2),
 *
 * so that means and covariances over all kinds are sums. */
#include "bends_testing.h"

#include <omp.h>

enum { WIDE = 2 * CURVE_WIDTH + CURVE_PAIRS + 1 };

static void make(bent_problem *p, bend_reach reach, bool effects, uint64_t seed)
{
    bent_rows(p, 60, NODES, seed);
    bent_fit(p, reach, effects);
}

/* ---- What every draw must be ----------------------------------------------------------------- */

static void check_terms(const bent_mechanisms *b, size_t draw_, size_t i, uint32_t nodes)
{
    uint32_t alone = 0;
    size_t pairs = 0;
    size_t count = (size_t)__builtin_popcount(nodes);
    for (uint64_t t = b->first[draw_ * b->d + i]; t < b->first[draw_ * b->d + i + 1]; t++) {
        int32_t one = b->parent[2 * t];
        int32_t other = b->parent[2 * t + 1];
        assert_true(one >= 0 && (nodes >> one & 1) != 0);
        assert_true(other == BENT_ALONE || (other > one && (nodes >> other & 1) != 0));
        assert_true(other != BENT_ALONE || (alone >> one & 1) == 0);
        alone |= other == BENT_ALONE ? 1U << one : 0;
        pairs += other == BENT_ALONE ? 0 : 1;
        for (size_t k = 0; k < CURVE_WIDTH; k++) {
            size_t curves = b->basis[one].knots > 0 ? b->basis[one].knots - 1 : 0;
            double coef = b->coef[t * CURVE_WIDTH + k];
            assert_true(isfinite(coef));
            assert_true(k < (other == BENT_ALONE ? curves : CURVE_PAIRS) || coef == 0);
        }
    }
    assert_true(alone == nodes);
    assert_true(pairs == 0 || pairs == count * (count - 1) / 2);
}

/* w of a node that bends: differences of its effect over the rows, on average. */
static void check_slopes(const bent_problem *p, const drawing *t, size_t draw_, size_t i)
{
    const double h = 1e-5;
    for (size_t j = 0; j < NODES; j++) {
        double sum = 0;
        double n = 0;
        for (size_t r = 0; r < p->rows; r++) {
            double z[NODES];
            memcpy(z, p->z + r * NODES, sizeof z);
            z[j] += h;
            double up = bent_effect(&t->draws.bent, draw_, i, z);
            z[j] -= 2 * h;
            double down = bent_effect(&t->draws.bent, draw_, i, z);
            sum += p->keep[r] != 0 ? (up - down) / (2 * h) : 0;
            n += p->keep[r];
        }
        assert_near(t->w[(draw_ * NODES + j) * NODES + i], sum / n, 1e-5 * (1 + fabs(sum / n)));
    }
}

static void draws_are_whole(void **state)
{
    static bent_problem p;
    static drawing t;
    const uint32_t graphs[3][NODES] = {{0, 1, 3, 7}, {0, 1, 2, 4}, {4, 0, 5, 3}};
    (void)state;
    for (size_t c = 0; c < 12; c++) {
        const uint32_t *parents = graphs[c % 3];
        size_t level[NODES];
        size_t seen = 0;
        make(&p, c / 3 % 2 != 0 ? BEND_JOINT : BEND_CURVED, c / 6 != 0, 31 + c);
        for (size_t i = 0; i < NODES; i++) {
            level[i] = p.f.list[i].levels - 1;
        }
        draw(&t, &p, 60, parents, level);
        const bent_mechanisms *b = &t.draws.bent;
        assert_true(b->first[0] == 0);
        assert_true(b->first[b->draws * NODES] <= b->terms);
        for (size_t k = 0; k < 60 * NODES; k++) {
            size_t i = k % NODES;
            const family *f = &p.f.list[i];
            assert_true(b->first[k + 1] >= b->first[k]);
            if (bent_bends(b, k / NODES, i)) {
                assert_true(parents[i] != 0);
                assert_true(t.sigma[k] > 0 && t.sigma[k] < 100);
                assert_near(t.effect[k], f->level[level[i]].tau * t.sigma[k], 1e-12);
                check_terms(b, k / NODES, i, bent_nodes(f, parents[i]));
                check_slopes(&p, &t, k / NODES, i);
                seen++;
            } else {
                assert_true(t.sigma[k] == 1000 + (double)k);
                assert_true(t.intercept[k] == 2000 + (double)k);
                assert_true(t.effect[k] == 3000 + (double)k);
                for (size_t j = 0; j < NODES; j++) {
                    double w = t.w[(k - i + j) * NODES + i];
                    bool edge = (bent_nodes(f, parents[i]) >> j & 1) != 0;
                    assert_true(w == (edge ? 4000 + (double)k : 0));
                }
            }
        }
        assert_true(seen > 60);
        arena_close(&t.draws.memory);
        bent_discard(&p);
    }
}

/* ---- Their law ------------------------------------------------------------------------------- */

/* Of those that bend, over all kinds: means of s^2 and 1/s^2, mean and covariance of the curves of
 * the first parent, of the second, products, c. */
typedef struct moments {
    double share, together; /* of all draws: that bend, products where there are any */
    double variance, precision;
    double mean[WIDE], spread[WIDE][WIDE];
    double error[WIDE][WIDE]; /* of spread, of those drawn */
} moments;

/* Where coefficient `term` of the law lies among those, given the parents in order. */
static size_t place_of(const int32_t *term, int32_t first)
{
    size_t start = term[1] >= 0 ? 2 * CURVE_WIDTH : term[0] == first ? 0 : CURVE_WIDTH;
    return start + (size_t)term[2];
}

/* Adds one kind, of this weight. */
static void add_kind(const bent_law *law, double least, double dof, double weight, moments *out)
{
    static double v[BENT_ROWS][BENT_ROWS];
    static double x[BENT_WIDEST + 2][BENT_ROWS];
    static double k[WIDE][WIDE];
    double inverse[WIDE][WIDE] = {{0}};
    double hat[WIDE] = {0};
    size_t n = law->n;
    size_t m = law->width + 1; /* the last is c */
    memcpy(v, law->v, sizeof v);
    (void)bent_factor(v[0], n, BENT_ROWS);
    for (size_t c = 0; c <= m; c++) {
        for (size_t r = 0; r < n; r++) {
            x[c][r] = c < law->width ? law->x[r][c] : c == law->width ? 1 : law->y[r];
        }
        bent_forward(v[0], n, BENT_ROWS, x[c]);
    }
    double q = least;
    for (size_t r = 0; r < n; r++) {
        q += x[m][r] * x[m][r];
    }
    for (size_t a = 0; a < m; a++) {
        for (size_t b = 0; b < m; b++) {
            k[a][b] = a == b && a < law->width ? law->precision[a] : 0;
            for (size_t r = 0; r < n; r++) {
                k[a][b] += x[a][r] * x[b][r];
            }
        }
    }
    (void)bent_factor(k[0], m, WIDE);
    for (size_t a = 0; a < m; a++) { /* K^-1 = sum of rows of F^-1 */
        for (size_t r = 0; r < n; r++) {
            hat[a] += x[a][r] * x[m][r];
        }
        inverse[a][a] = 1;
        bent_forward(k[0], m, WIDE, inverse[a]);
    }
    double mean[WIDE] = {0};
    double cross[WIDE][WIDE];
    for (size_t a = 0; a < m; a++) {
        for (size_t b = 0; b < m; b++) {
            cross[a][b] = 0;
            for (size_t c = 0; c < m; c++) {
                cross[a][b] += inverse[a][c] * inverse[b][c];
            }
            mean[a] += cross[a][b] * hat[b];
        }
    }
    for (size_t a = 0; a < m; a++) {
        q -= mean[a] * hat[a];
    }
    double f = dof + (double)law->parents + (double)n - 1;
    double variance = q / (f - 2);
    out->share += weight;
    out->variance += weight * variance;
    out->precision += weight * f / q;
    out->together += law->term[law->width - 1][1] >= 0 ? weight : 0;
    for (size_t a = 0; a < m; a++) {
        size_t i = a < law->width ? place_of(law->term[a], law->term[0][0]) : WIDE - 1;
        out->mean[i] += weight * mean[a];
        for (size_t b = 0; b < m; b++) {
            size_t j = b < law->width ? place_of(law->term[b], law->term[0][0]) : WIDE - 1;
            out->spread[i][j] += weight * (variance * cross[a][b] + mean[a] * mean[b]);
        }
    }
}

static void exact_moments(const bent_problem *p, size_t i, uint32_t nodes, double tau, moments *out)
{
    static bent_law law;
    double term[BEND_KINDS];
    size_t kinds = bent_kinds(p, i, nodes, tau, term);
    double all = bent_sum(term, kinds);
    *out = (moments){0};
    for (size_t kind = 1; kind < kinds; kind++) {
        double gh[2];
        (void)bent_kind(kind, true, gh);
        bent_law_of(&law, p, i, nodes, gh, tau);
        add_kind(&law, BENT_RIDGE * p->unit[i] * p->unit[i], p->prior.dof, exp(term[kind] - all),
                 out);
    }
    out->variance /= out->share;
    out->precision /= out->share;
    for (size_t a = 0; a < WIDE; a++) {
        out->mean[a] /= out->share;
        for (size_t b = 0; b <= a; b++) {
            double spread = out->spread[a][b] / out->share - out->mean[a] * out->mean[b];
            out->spread[a][b] = out->spread[b][a] = spread;
        }
    }
}

/* Numbers of one draw in that order. */
static void numbers_of(const drawing *t, size_t k, size_t i, double *x)
{
    const bent_mechanisms *b = &t->draws.bent;
    uint64_t first = b->first[k * NODES + i];
    memset(x, 0, WIDE * sizeof *x);
    for (uint64_t s = first; s < b->first[k * NODES + i + 1]; s++) {
        bool pair = b->parent[2 * s + 1] != BENT_ALONE;
        bool again = b->parent[2 * s] == b->parent[2 * first];
        size_t start = pair ? 2 * CURVE_WIDTH : again ? 0 : CURVE_WIDTH;
        size_t count = pair ? CURVE_PAIRS : CURVE_WIDTH;
        memcpy(x + start, b->coef + s * CURVE_WIDTH, count * sizeof *x);
    }
    x[WIDE - 1] = t->intercept[k * NODES + i];
}

/* Covariances about the exact means. */
static void drawn_moments(const drawing *t, size_t i, const moments *exact, moments *out)
{
    const bent_mechanisms *b = &t->draws.bent;
    double n = 0;
    *out = (moments){0};
    for (size_t k = 0; k < DRAWS; k++) {
        double x[WIDE];
        double sigma = t->sigma[k * NODES + i];
        size_t terms = (size_t)(b->first[k * NODES + i + 1] - b->first[k * NODES + i]);
        if (terms == 0) {
            continue;
        }
        numbers_of(t, k, i, x);
        n++;
        out->together += terms == 3 ? 1 : 0;
        out->variance += sigma * sigma;
        out->precision += 1 / (sigma * sigma);
        for (size_t a = 0; a < WIDE; a++) {
            out->mean[a] += x[a];
            for (size_t c = 0; c < WIDE; c++) {
                double product = (x[a] - exact->mean[a]) * (x[c] - exact->mean[c]);
                out->spread[a][c] += product;
                out->error[a][c] += product * product;
            }
        }
    }
    out->share = n / DRAWS;
    out->together /= DRAWS;
    out->variance /= n;
    out->precision /= n;
    for (size_t a = 0; a < WIDE; a++) {
        out->mean[a] /= n;
        for (size_t c = 0; c < WIDE; c++) {
            double mean = out->spread[a][c] / n;
            out->error[a][c] = sqrt((out->error[a][c] / n - mean * mean) / n);
            out->spread[a][c] = mean;
        }
    }
}

/* Five standard errors, and a little for kinds too rare to be seen. */
static void compare(const moments *drawn, const moments *exact)
{
    double root = sqrt((double)DRAWS);
    assert_near(drawn->share, exact->share, 5 * 0.5 / root);
    assert_near(drawn->together, exact->together, 5 * 0.5 / root);
    assert_near(drawn->variance / exact->variance, 1, 0.02 / sqrt(exact->share));
    assert_near(drawn->precision / exact->precision, 1, 0.02 / sqrt(exact->share));
    for (size_t a = 0; a < WIDE; a++) {
        double one = sqrt(exact->spread[a][a]);
        assert_near(drawn->mean[a], exact->mean[a], 5 * one / (root * sqrt(exact->share)));
        for (size_t b = 0; b < WIDE; b++) {
            double within = 6 * drawn->error[a][b] + 0.01 * one * sqrt(exact->spread[b][b]);
            assert_near(drawn->spread[a][b], exact->spread[a][b], within);
        }
    }
}

static void draws_follow_the_law(void **state)
{
    static bent_problem p;
    static drawing t;
    static moments exact;
    static moments drawn;
    const uint32_t parents[NODES] = {0, 1, 3, 6};
    size_t compared = 0;
    (void)state;
    for (size_t c = 0; c < 4; c++) {
        size_t level[NODES];
        make(&p, c % 2 != 0 ? BEND_JOINT : BEND_CURVED, c / 2 != 0, 61 + c);
        for (size_t i = 0; i < NODES; i++) {
            level[i] = p.f.list[i].levels - 1;
        }
        draw(&t, &p, DRAWS, parents, level);
        for (size_t i = 1; i < NODES; i++) {
            const family *f = &p.f.list[i];
            exact_moments(&p, i, bent_nodes(f, parents[i]), f->level[level[i]].tau, &exact);
            drawn_moments(&t, i, &exact, &drawn);
            compare(&drawn, &exact);
            compared += exact.share > 0.5 ? 1 : 0;
        }
        arena_close(&t.draws.memory);
        bent_discard(&p);
    }
    assert_true(compared > 8);
}

/* ---- Threads --------------------------------------------------------------------------------- */

static void threads_change_nothing(void **state)
{
    static bent_problem p[2];
    static drawing t[2];
    const uint32_t parents[NODES] = {0, 1, 3, 7};
    const size_t level[NODES] = {0};
    const size_t count = 200;
    int before = omp_get_max_threads();
    (void)state;
    for (int k = 0; k < 2; k++) {
        omp_set_num_threads(k == 0 ? 1 : 4);
        make(&p[k], BEND_JOINT, true, 71);
        draw(&t[k], &p[k], count, parents, level);
    }
    omp_set_num_threads(before);
    const bent_mechanisms *a = &t[0].draws.bent;
    const bent_mechanisms *b = &t[1].draws.bent;
    for (size_t i = 0; i < NODES; i++) {
        const family *f = &p[0].f.list[i];
        assert_int_equal(f->levels, p[1].f.list[i].levels);
        for (size_t l = 0; l < f->levels; l++) {
            for (uint32_t set = 0; set < 1U << f->count; set++) {
                assert_true(family_gain(f, l, set) == family_gain(&p[1].f.list[i], l, set));
            }
        }
    }
    assert_memory_equal(p[0].b.basis, p[1].b.basis, NODES * sizeof *p[0].b.basis);
    assert_memory_equal(t[0].w, t[1].w, count * NODES * NODES * sizeof *t[0].w);
    assert_memory_equal(t[0].sigma, t[1].sigma, count * NODES * sizeof *t[0].sigma);
    assert_memory_equal(t[0].intercept, t[1].intercept, count * NODES * sizeof *t[0].sigma);
    assert_memory_equal(t[0].effect, t[1].effect, count * NODES * sizeof *t[0].sigma);
    assert_memory_equal(a->first, b->first, (count * NODES + 1) * sizeof *a->first);
    size_t terms = (size_t)a->first[count * NODES];
    assert_memory_equal(a->parent, b->parent, 2 * terms * sizeof *a->parent);
    assert_memory_equal(a->coef, b->coef, terms * CURVE_WIDTH * sizeof *a->coef);
    for (int k = 0; k < 2; k++) {
        arena_close(&t[k].draws.memory);
        bent_discard(&p[k]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(draws_are_whole),
        cmocka_unit_test(draws_follow_the_law),
        cmocka_unit_test(threads_change_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
