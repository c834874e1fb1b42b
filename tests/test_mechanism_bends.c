/* What families gain by bends against the density of their rows as a normal law in n dimensions
 * (bends_testing.h), and their scores with it: one by one, in tables, narrowed, of graphs. */
#include "bends_testing.h"

#include "base/tuned.h"

/* ---- Gains ----------------------------------------------------------------------------------- */

static void check_gain(const bent_problem *p, size_t i, size_t level, uint32_t set)
{
    double term[BEND_KINDS];
    const family *f = &p->f.list[i];
    double gain = family_gain(f, level, set);
    if (set == 0) {
        assert_true(gain == 0);
        return;
    }
    size_t kinds = bent_kinds(p, i, bent_nodes(f, set), f->level[level].tau, term);
    double exact = bent_sum(term, kinds);
    /* kinds with pairs that are far less likely than others are passed over */
    double over = p->b.reach == BEND_JOINT ? BEND_KINDS * exp(-tuned_bends_passed_over()) : 0;
    assert_true(gain <= exact + 1e-7 * (1 + fabs(exact)));
    assert_true(gain >= exact - 1e-7 * (1 + fabs(exact)) - over);
}

static void gains_are_those_of_the_rows(void **state)
{
    static bent_problem p;
    (void)state;
    for (size_t kind = 0; kind < 4; kind++) {
        double most = 0;
        size_t levels = 0;
        bent_rows(&p, 60, 4, 7 + kind);
        bent_fit(&p, kind % 2 != 0 ? BEND_JOINT : BEND_CURVED, kind / 2 != 0);
        for (size_t i = 0; i < p.d; i++) {
            const family *f = &p.f.list[i];
            assert_true(kind / 2 == 0 ? f->levels == 1 : f->levels <= FAMILY_LEVELS);
            assert_true(f->level[0].tau == 0 && f->gain != NULL);
            levels += f->levels;
            for (size_t l = 0; l < f->levels; l++) {
                for (uint32_t set = 0; set < 1U << f->count; set++) {
                    check_gain(&p, i, l, set);
                    most = fmax(most, family_gain(f, l, set));
                }
            }
        }
        assert_true(most > 10 && (kind / 2 == 0 || levels > p.d));
        bent_discard(&p);
    }
}

/* One parent: the integral over its coefficients is normal, the one over s is done by numbers. */
static void one_parent_by_integration(void **state)
{
    static bent_problem p;
    static bent_law law;
    (void)state;
    bent_rows(&p, 40, 2, 5);
    bent_fit(&p, BEND_CURVED, false);
    double n = 0;
    double log_kind[1 + BEND_CURVES];
    for (size_t kind = 0; kind <= BEND_CURVES; kind++) {
        static double m[BENT_ROWS][BENT_ROWS];
        double gh[2];
        double terms[4001];
        double share = bent_kind(kind, false, gh);
        bent_law_of(&law, &p, 1, 1, gh, 0);
        n = (double)law.n;
        /* c has a wide normal law in the place of a flat one */
        for (size_t a = 0; a < law.n; a++) {
            for (size_t b = 0; b < law.n; b++) {
                m[a][b] = law.v[a][b] + 1e6;
                for (size_t k = 0; k < law.width; k++) {
                    m[a][b] += law.x[a][k] * law.x[b][k] / law.precision[k];
                }
            }
        }
        double log_det = bent_factor(m[0], law.n, BENT_ROWS);
        double y[BENT_ROWS];
        double square = 0;
        memcpy(y, law.y, law.n * sizeof *y);
        bent_forward(m[0], law.n, BENT_ROWS, y);
        for (size_t a = 0; a < law.n; a++) {
            square += y[a] * y[a];
        }
        double scale = BENT_RIDGE * p.unit[1] * p.unit[1];
        double nu = p.prior.dof + 1;
        for (int l = 0; l <= 4000; l++) {
            double v = exp(0.005 * (l - 2000));
            /* but n of them: the scale of c goes with s, and is integrated with a flat law */
            terms[l] = -(nu + n - 1) / 2 * log(v) - (scale + square) / (2 * v);
        }
        log_kind[kind] = log(share) - log_det / 2 + bent_sum(terms, 4001);
    }
    double exact = bent_sum(log_kind, 1 + BEND_CURVES) - (log_kind[0] - log(0.5));
    assert_near(family_gain(&p.f.list[1], 0, 1), exact, 1e-3);
    bent_discard(&p);
}

/* Ten nodes: pairs are there among the best eight candidates only. Sixteen: fewer curves. */
static void many_candidates(void **state)
{
    static bent_problem p;
    const struct {
        size_t d;
        bend_reach reach;
    } cases[] = {{10, BEND_JOINT}, {16, BEND_CURVED}};
    (void)state;
    for (size_t c = 0; c < 2; c++) {
        size_t step = c == 0 ? 5 : cases[c].d; /* others have no candidates, to be quick */
        bent_rows(&p, 80, cases[c].d, 3);
        for (size_t e = 0; e < p.d * p.d; e++) {
            p.forbidden[e] = e % p.d % step != 0 ? 1 : 0;
        }
        bent_fit(&p, cases[c].reach, false);
        for (size_t i = 0; i < p.d; i += step) {
            const family *f = &p.f.list[i];
            uint32_t together = p.b.list[i].together;
            assert_true(c == 1 || (__builtin_popcount(together) <= BEND_TOGETHER && together != 0));
            for (uint32_t set = 1; set < 1U << f->count; set += 1U << (f->count - 3) | 3) {
                bool pairs = __builtin_popcount(set) > 1 && (set & ~together) == 0;
                if (__builtin_popcount(set) <= 4 && (c == 1 || !pairs)) {
                    bend_reach reach = p.b.reach;
                    p.b.reach = BEND_CURVED;
                    check_gain(&p, i, 0, set);
                    p.b.reach = reach;
                }
            }
            uint32_t two = together & -together;
            two |= (together ^ two) & -(together ^ two);
            if (c == 0 && two != together) {
                check_gain(&p, i, 0, two);
            }
        }
        bent_discard(&p);
    }
}

/* ---- Scores ---------------------------------------------------------------------------------- */

/* The score of a family as the sum over its levels of the scores without gains, times gains. */
static double score_by_levels(const family *f, const dag_prior *prior, uint32_t set)
{
    double term[FAMILY_LEVELS] = {0};
    family plain = *f;
    plain.gain = NULL;
    for (size_t l = 0; l < f->levels; l++) {
        family one = family_of_level(&plain, l);
        one.level[0].log_prior = f->level[l].log_prior;
        term[l] = family_score(&one, prior, set) + family_gain(f, l, set);
    }
    return bent_sum(term, f->levels);
}

/* Of node `last` all candidates but the forbidden ones, some required; narrowed, and narrowed
 * again. */
static void scores_have_their_gains(void **state)
{
    static bent_problem p;
    static family_room once;
    static family_room twice;
    const mechanism_law *law = &linear_gaussian;
    (void)state;
    for (size_t kind = 0; kind < 8; kind++) {
        bent_rows(&p, 50, 6, 17 + kind);
        p.required[1 * 6 + 3] = p.required[2 * 6 + 3] = 1;
        p.forbidden[4 * 6 + 3] = p.forbidden[0 * 6 + 2] = 1;
        bent_fit(&p, kind % 2 != 0 ? BEND_JOINT : BEND_CURVED, kind / 2 % 2 != 0);
        p.prior.spread = kind % 3 == 0 ? 10 : 0;
        p.prior.hole = kind / 4 != 0;
        for (size_t i = 0; i < p.d; i++) {
            const family *f = &p.f.list[i];
            double rest[32];
            double log_det[32];
            double score[32];
            size_t next = 0;
            assert_int_equal(f->count, i == 2 || i == 3 ? 4 : 5);
            assert_int_equal(bent_nodes(f, f->required), i == 3 ? 6 : 0);
            law->score_all(f, &p.prior, &(family_table){rest, log_det}, score);
            uint32_t among = f->required | (0x15 & ((1U << f->count) - 1));
            law->narrow(&once, f, among);
            for (uint32_t set = 0; set < 1U << f->count; set++) {
                if ((set & f->required) == f->required) {
                    double exact = score_by_levels(f, &p.prior, set);
                    assert_near(score[next++], exact, 1e-8 * fabs(exact));
                    assert_near(law->score(f, &p.prior, set), exact, 1e-8 * fabs(exact));
                }
            }
            assert_int_equal(next, 1U << family_free(f));
            law->narrow(&twice, &once.f, once.f.required | 1);
            law->score_all(&once.f, &p.prior, &(family_table){rest, log_det}, score);
            next = 0;
            for (uint32_t set = 0; set < 1U << once.f.count; set++) {
                uint32_t whole = spread_bits(set, among);
                double exact = law->score(f, &p.prior, whole);
                assert_true(bent_nodes(&once.f, set) == bent_nodes(f, whole));
                assert_near(law->score(&once.f, &p.prior, set), exact, 1e-9 * fabs(exact));
                if ((set & once.f.required) == once.f.required) {
                    assert_near(score[next++], exact, 1e-8 * fabs(exact));
                }
            }
            for (uint32_t set = 0; set < 1U << twice.f.count; set++) {
                uint32_t whole = spread_bits(set, once.f.required | 1);
                for (size_t l = 0; l < twice.f.levels; l++) {
                    assert_true(family_gain(&twice.f, l, set) == family_gain(&once.f, l, whole));
                    if (kind < 2) {
                        check_gain(&p, i, l, spread_bits(whole, among));
                    }
                }
            }
        }
        bent_discard(&p);
    }
}

/* Without effects of sets graphs gain the product of what their families do. */
static void graphs_gain_on_average(void **state)
{
    static bent_problem p;
    const uint32_t graph[3 * 4] = {0, 1, 3, 7, 0, 0, 0, 0, 6, 0, 2, 1};
    double term[3] = {0};
    (void)state;
    bent_rows(&p, 90, 4, 27);
    bent_fit(&p, BEND_JOINT, false);
    for (size_t k = 0; k < 12; k++) {
        term[k / 4] += family_gain(&p.f.list[k % 4], 0, graph[k]);
    }
    assert_near(bends_evidence(&p.f, graph, 3), bent_sum(term, 3) - log(3), 1e-9);
    assert_near(bends_evidence(&p.f, graph + 4, 1), 0, 0);
    bent_discard(&p);
}

/* Gains of all families are told where the graphs that ask gain enough, and then they are what they
 * are without anybody asking. */
static void graphs_ask_for_gains(void **state)
{
    static bent_problem p;
    static bent_problem first;
    const uint32_t graph[2 * 4] = {0, 1, 3, 7, 0, 0, 1, 3};
    (void)state;
    bent_rows(&first, 90, 4, 27);
    bent_fit(&first, BEND_JOINT, false);
    double gain = bends_evidence(&first.f, graph, 2);
    assert_true(gain > 1);
    for (int more = 0; more < 2; more++) {
        bend_asking asking = {graph, 2, gain + (more != 0 ? 1e-6 : -1e-6)};
        bent_rows(&p, 90, 4, 27);
        bent_fit_if(&p, BEND_JOINT, false, &asking);
        assert_true(p.b.told == (more == 0));
        for (uint32_t set = 0; set < 8; set++) {
            double own = p.b.told ? family_gain(&p.f.list[3], 0, set) : 0;
            double told = family_gain(&first.f.list[3], 0, set);
            assert_near(own, more != 0 ? 0 : told, 0);
        }
        bent_discard(&p);
    }
    bent_discard(&first);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(graphs_ask_for_gains),      cmocka_unit_test(gains_are_those_of_the_rows),
        cmocka_unit_test(one_parent_by_integration), cmocka_unit_test(many_candidates),
        cmocka_unit_test(scores_have_their_gains),   cmocka_unit_test(graphs_gain_on_average),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
