#include "infer/check/check_tests.h"

#include <math.h>
#include <string.h>

typedef struct scratch {
    check_work family;
    check_scan scan;
    check_family *all;          /* (graphs, d) */
    double *weights, *supports; /* (graphs, d, d): of the families, by child */
    check_term *terms;          /* (graphs, d, family.terms) */
    double *coef;               /* (graphs, d, family.most) */
    arena memory;
} scratch;

static void lay_out(check_tests *c, scratch *q, const check_rows *t)
{
    size_t d = t->d;
    size_t graphs = t->graphs.count;
    arena *m = &c->memory;
    for (size_t k = 0; k < FAMILY_TESTS; k++) {
        c->chance[k] = arena_take(m, d, sizeof(double));
        c->by[k] = arena_take(m, d, sizeof *c->by[k]);
    }
    c->hidden.gain = arena_take(m, d * d, sizeof(double));
    c->hidden.spare = arena_take(m, d * d, sizeof(double));
    c->support = arena_take(m, d * d, sizeof(double));
    c->left = arena_take(m, d, sizeof(double));
    c->count = arena_take(m, d, sizeof(double));
    q->all = arena_take(&q->memory, graphs * d, sizeof *q->all);
    q->weights = arena_take(&q->memory, graphs * d * d, sizeof(double));
    q->supports = arena_take(&q->memory, graphs * d * d, sizeof(double));
    q->terms = arena_take(&q->memory, graphs * d * q->family.terms, sizeof *q->terms);
    q->coef = arena_take(&q->memory, graphs * d * q->family.most, sizeof(double));
}

/* A family that an earlier graph has is known. */
static void test_families(const check_rows *t, scratch *q)
{
    size_t d = t->d;
    for (size_t k = 0; k < t->graphs.count * d; k++) {
        size_t g = k / d;
        size_t i = k % d;
        size_t h = 0;
        while (h < g && !check_same_node(t->in->a, t->graphs.draw[g], t->graphs.draw[h], i)) {
            h++;
        }
        if (h < g) {
            q->all[k] = q->all[h * d + i];
            continue;
        }
        q->all[k].weight = q->weights + k * d;
        q->all[k].support = q->supports + k * d;
        q->all[k].f.term = q->terms + k * q->family.terms;
        q->all[k].coef = q->coef + k * q->family.most;
        check_family_of(&q->all[k], t, g, i, &q->family, &q->scan);
    }
}

/* Means over graphs. */
static void gather(check_tests *c, const check_rows *t, const scratch *q, size_t g)
{
    size_t d = t->d;
    double share = t->graphs.share[g];
    for (size_t i = 0; i < d; i++) {
        const check_family *f = &q->all[g * d + i];
        for (size_t k = 0; k < FAMILY_TESTS; k++) {
            c->chance[k][i] += share * f->chance[k];
            if (g == 0) {
                c->by[k][i] = f->by[k];
            }
        }
        c->left[i] += share * f->left * t->unit[i] * t->unit[i];
        c->count[i] = f->count;
        for (size_t j = 0; j < d; j++) {
            c->support[j * d + i] += check_has(t, g, j, i) ? share * f->support[j] : 0;
        }
    }
}

/* Of the graphs that have the edge. */
static void average_support(check_tests *c, const check_rows *t)
{
    for (size_t k = 0; k < c->d * c->d; k++) {
        double share = 0;
        for (size_t g = 0; g < t->graphs.count; g++) {
            share += check_has(t, g, k / c->d, k % c->d) ? t->graphs.share[g] : 0;
        }
        c->support[k] = share > 0 ? c->support[k] / share : 1;
        c->hidden.spare[k] -= share > 0 ? log(share) : 0;
    }
}

/* Draws worth n independent ones do not meet parents that have half of the probability with a
 * chance of 2^-n: what speaks against those drawn may be for the others. */
static void allow_for_unmet(check_tests *c, const check_rows *t)
{
    c->unmet = exp2(-t->in->a->edge_ess);
    for (size_t k = 0; k < FAMILY_TESTS; k++) {
        for (size_t i = 0; i < c->d; i++) {
            c->chance[k][i] = fmin(1, c->chance[k][i] + c->unmet);
        }
    }
}

lscm_status check_tests_of(check_tests *out, const check_rows *t, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    check_tests c = {.d = t->d};
    scratch q = {.all = NULL};
    TRY(check_work_open(&q.family, t, why));
    TRY(check_scan_open(&q.scan, t, why));
    lay_out(&c, &q, t);
    TRY(arena_open(&c.memory, why));
    TRY(arena_open(&q.memory, why));
    lay_out(&c, &q, t);
    test_families(t, &q);
    for (size_t g = 0; g < t->graphs.count; g++) {
        gather(&c, t, &q, g);
    }
    TRY(check_hidden_of(&c.hidden, t, q.all, why));
    average_support(&c, t);
    allow_for_unmet(&c, t);
    *out = c;
    c.memory = (arena){0};
done:
    check_scan_close(&q.scan);
    check_work_close(&q.family);
    arena_close(&q.memory);
    arena_close(&c.memory);
    return status;
}

void check_tests_close(check_tests *c)
{
    arena_close(&c->memory);
}
