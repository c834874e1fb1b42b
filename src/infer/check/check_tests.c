#include "infer/check/check_tests.h"

#include "infer/check/chance.h"

#include <math.h>
#include <string.h>

typedef struct scratch {
    family_work family;
    check_family *all;          /* (graphs, d) */
    double *weights, *supports; /* (graphs, d, d): of the families, by child */
    double *rest;               /* (n, d): e, 0 where set */
    arena memory;
} scratch;

static void lay_out(check_tests *c, scratch *q, const check_rows *t)
{
    size_t d = t->d;
    size_t graphs = t->graphs.count;
    arena *m = &c->memory;
    for (size_t k = 0; k < FAMILY_TESTS; k++) {
        c->chance[k] = arena_take(m, d, sizeof(double));
    }
    c->hidden = arena_take(m, d * d, sizeof(double));
    c->support = arena_take(m, d * d, sizeof(double));
    c->left = arena_take(m, d, sizeof(double));
    c->count = arena_take(m, d, sizeof(double));
    q->all = arena_take(&q->memory, graphs * d, sizeof *q->all);
    q->weights = arena_take(&q->memory, graphs * d * d, sizeof(double));
    q->supports = arena_take(&q->memory, graphs * d * d, sizeof(double));
    q->rest = arena_take(&q->memory, t->n * d, sizeof(double));
}

static bool same_parents(const check_rows *t, size_t g, size_t h, size_t i)
{
    for (size_t j = 0; j < t->d; j++) {
        if (check_has(t, g, j, i) != check_has(t, h, j, i)) {
            return false;
        }
    }
    return true;
}

/* A family that an earlier graph has is known. */
static void test_families(const check_rows *t, scratch *q)
{
    size_t d = t->d;
    for (size_t k = 0; k < t->graphs.count * d; k++) {
        size_t g = k / d;
        size_t i = k % d;
        size_t h = 0;
        while (h < g && !same_parents(t, g, h, i)) {
            h++;
        }
        if (h < g) {
            q->all[k] = q->all[h * d + i];
            continue;
        }
        q->all[k].weight = q->weights + k * d;
        q->all[k].support = q->supports + k * d;
        check_family_of(&q->all[k], t, g, i, &q->family);
    }
}

static void find_rest(const check_rows *t, const scratch *q, size_t g)
{
    size_t d = t->d;
    for (size_t set = 0; set < t->sets; set++) {
        size_t n = t->first[set + 1] - t->first[set];
        for (size_t i = 0; i < d; i++) {
            const double *w = q->all[g * d + i].weight;
            double mean = 0;
            bool none = check_is_set(t, set, i) || n < 2;
            for (size_t k = t->first[set]; k < t->first[set + 1]; k++) {
                const double *z = t->told + k * d;
                double e = z[i];
                for (size_t j = 0; j < d; j++) {
                    e -= w[j] * z[j];
                }
                q->rest[k * d + i] = none ? 0 : e;
                mean += e / (double)n;
            }
            for (size_t k = t->first[set]; k < t->first[set + 1] && !none; k++) {
                q->rest[k * d + i] -= mean;
            }
        }
    }
}

/* q_i' V q_j of a set, q_i = 1 at i less its weights. */
static double doubt_of(const check_rows *t, const scratch *q, size_t g, size_t set, size_t i,
                       size_t j)
{
    size_t d = t->d;
    const double *v = t->doubt + set * d * d;
    const double *a = q->all[g * d + i].weight;
    const double *b = q->all[g * d + j].weight;
    double sum = 0;
    for (size_t k = 0; k < d; k++) {
        double left = (k == i ? 1 : 0) - a[k];
        for (size_t l = 0; l < d && left != 0; l++) {
            sum += left * v[k * d + l] * ((l == j ? 1 : 0) - b[l]);
        }
    }
    return sum;
}

/* As if so many times fewer rows spoke. */
static double shared_error(const check_rows *t, const check_family *f, size_t i)
{
    return f->left > 0 ? 1 + f->count * t->shared[i] / f->left : 1;
}

static double test_pair(const check_rows *t, const scratch *q, size_t g, size_t i, size_t j)
{
    size_t d = t->d;
    double sum = 0;
    double squares = 0;
    double n = 0;
    for (size_t set = 0; set < t->sets; set++) {
        size_t rows = t->first[set + 1] - t->first[set];
        if (check_is_set(t, set, i) || check_is_set(t, set, j) || rows < 2) {
            continue;
        }
        double doubt = t->doubt != NULL ? doubt_of(t, q, g, set, i, j) : 0;
        double more = (double)rows / (double)(rows - 1);
        for (size_t k = t->first[set]; k < t->first[set + 1]; k++) {
            double product = more * q->rest[k * d + i] * q->rest[k * d + j] + doubt;
            sum += product;
            squares += product * product;
        }
        n += (double)rows - 1;
    }
    const check_family *one = &q->all[g * d + i];
    const check_family *other = &q->all[g * d + j];
    double error = fmax(shared_error(t, one, i), shared_error(t, other, j));
    return one->read_well && other->read_well && n > 20 && squares > 0
               ? chance_of_normal(sum / sqrt(squares * error))
               : 1;
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
        }
        c->left[i] += share * f->left * t->unit[i] * t->unit[i];
        c->count[i] = f->count;
        for (size_t j = 0; j < d; j++) {
            c->support[j * d + i] += check_has(t, g, j, i) ? share * f->support[j] : 0;
        }
        for (size_t j = i + 1; j < d; j++) {
            c->hidden[i * d + j] += share * test_pair(t, q, g, i, j);
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
    }
}

lscm_status check_tests_of(check_tests *out, const check_rows *t, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    check_tests c = {.d = t->d};
    scratch q = {.all = NULL};
    lay_out(&c, &q, t);
    TRY(arena_open(&c.memory, why));
    TRY(arena_open(&q.memory, why));
    lay_out(&c, &q, t);
    TRY(family_work_open(&q.family, t, why));
    test_families(t, &q);
    for (size_t g = 0; g < t->graphs.count; g++) {
        find_rest(t, &q, g);
        gather(&c, t, &q, g);
    }
    average_support(&c, t);
    *out = c;
    c.memory = (arena){0};
done:
    family_work_close(&q.family);
    arena_close(&q.memory);
    arena_close(&c.memory);
    return status;
}

void check_tests_close(check_tests *c)
{
    arena_close(&c->memory);
}
