/* Gauss-Newton on the free entries of each row; see generator.h. Blocks of rows are independent
 * jobs; the tangents of a row's k free entries are pushed through the network as k more rows of it:
 *
 *     T_1 = W_1[free] f'_1,   T_2 = (T_1 W_2) f'_2,   J = T_2 W_3         (k, R)
 *
 * Mechanisms that bend are as steep as they are at the row. A step that makes the row worse is not
 * taken.
 */
#include "base/tuned.h"
#include "infer/generator/generator_state.h"

#include <cblas.h>
#include <lapacke.h>
#include <math.h>
#include <string.h>

typedef struct block_work {
    float *h[NETWORK_LAYERS], *slope[NETWORK_LAYERS]; /* (BLOCK, out) of a layer */
    float *tangent, *next;                            /* (BLOCK d, widest) */
    float *trial;                                     /* (BLOCK, d) */
    double *z, *rise; /* (d): of one row, and how steep a node is there in all others */
} block_work;

static size_t widest_of(const network_shape *shape)
{
    size_t widest = 0;
    for (size_t l = 0; l < shape->layers; l++) {
        widest = shape->layer[l].out > widest ? shape->layer[l].out : widest;
    }
    return widest;
}

static block_work place(const generator *g, float *at)
{
    block_work w = {0};
    for (size_t l = 0; l < g->shape.layers; l++) {
        size_t size = GENERATOR_BLOCK * g->shape.layer[l].out;
        w.h[l] = at;
        w.slope[l] = at + size;
        at += 2 * size;
    }
    w.tangent = at;
    at += GENERATOR_BLOCK * g->rows.d * widest_of(&g->shape);
    w.next = at;
    at += GENERATOR_BLOCK * g->rows.d * widest_of(&g->shape);
    w.trial = at;
    return w;
}

size_t generator_block_floats(const generator *g)
{
    size_t n = 0;
    for (size_t l = 0; l < g->shape.layers; l++) {
        n += 2 * (size_t)GENERATOR_BLOCK * g->shape.layer[l].out;
    }
    return n + (size_t)GENERATOR_BLOCK * g->rows.d * (2 * widest_of(&g->shape) + 1);
}

static void forward(const generator *g, size_t n, const float *u, const block_work *w)
{
    const float *in = u;
    for (size_t l = 0; l < g->shape.layers; l++) {
        const layer_run_f32 run = {.on = g->settings.device,
                                   .at = &g->shape.layer[l],
                                   .rows = n,
                                   .parameters = g->parameters + network_offset(&g->shape, l),
                                   .x = in,
                                   .y = w->h[l],
                                   .slope = w->slope[l]};
        layer_f32_steps(run.at)->forward(&run);
        in = w->h[l];
    }
}

/* y - g(u) in place of g(u); returns the squares of row r. */
static double residual(const generator *g, const block_work *w, size_t row, size_t r)
{
    size_t R = g->rows.R;
    float *out = w->h[g->shape.layers - 1] + r * R;
    const float *y = g->y + row * R;
    double sum = 0;
    for (size_t k = 0; k < R; k++) {
        out[k] = y[k] - out[k];
        sum += (double)out[k] * (double)out[k];
    }
    return sum;
}

static bool is_free(const generator *g, size_t row, size_t j, bool all)
{
    return !design_is_set(g->rows.design, row, j) ||
           (!all && g->rows.held[row * g->rows.d + j] != 0);
}

/* A row in the units of z. */
static void put_z(const generator *g, size_t row, const float *u, double *z)
{
    double unit = g->unit[row] * g->scale;
    for (size_t j = 0; j < g->rows.d; j++) {
        z[j] = (double)u[j] * unit + g->offset[j];
    }
}

/* Adds the model's part to A (k, k) and the right-hand side; rise (d) is scratch. */
static void add_model(const generator *g, const mechanism_model *m, size_t row, const double *z,
                      double *rise, const size_t *node, size_t k, double *a, double *rhs)
{
    size_t d = g->rows.d;
    double unit = g->unit[row] * g->scale;
    for (size_t i = 0; i < d; i++) {
        if (design_is_set(g->rows.design, row, i)) {
            continue;
        }
        double rest = mechanism_residual(m, i, z) / m->sigma[i];
        double by = unit / m->sigma[i];
        memset(rise, 0, d * sizeof *rise);
        mechanism_slopes(m, i, z, rise);
        for (size_t p = 0; p < k; p++) {
            double left = by * (node[p] == i ? 1 : -rise[node[p]]);
            rhs[p] -= left * rest;
            for (size_t q = 0; q < k && left != 0; q++) {
                a[p * k + q] += left * by * (node[q] == i ? 1 : -rise[node[q]]);
            }
        }
    }
}

/* -2 log p of row's u, up to a constant. */
static double objective(const generator *g, const mechanism_model *model, size_t row,
                        const float *u, double squares, double *z)
{
    size_t d = g->rows.d;
    double sum = squares / g->now.noise2;
    for (size_t j = 0; j < d; j++) {
        double away = (double)u[j] - (double)g->prior[row * d + j];
        sum += (double)g->weight[row * d + j] * away * away;
    }
    if (model != NULL) {
        put_z(g, row, u, z);
    }
    for (size_t i = 0; i < d && model != NULL; i++) {
        if (!design_is_set(g->rows.design, row, i)) {
            double rest = mechanism_residual(model, i, z) / model->sigma[i];
            sum += rest * rest;
        }
    }
    return sum;
}

/* J of all free entries of the block, one row each, in w->tangent; first (n + 1) says whose. */
static void tangents(const generator *g, size_t row, size_t n, bool all, block_work *w,
                     size_t *first)
{
    const device *on = g->settings.device;
    size_t d = g->rows.d;
    size_t count = 0;
    size_t to = g->shape.layer[0].out;
    for (size_t r = 0; r < n; r++) {
        first[r] = count;
        for (size_t j = 0; j < d; j++) {
            if (is_free(g, row + r, j, all)) {
                memcpy(w->tangent + count++ * to, g->parameters + j * to, to * sizeof(float));
            }
        }
    }
    first[n] = count;
    for (size_t l = 0; l + 1 < g->shape.layers; l++) {
        size_t width = g->shape.layer[l].out;
        for (size_t r = 0; r < n; r++) {
            const float *slope = w->slope[l] + r * width;
            for (size_t k = first[r]; k < first[r + 1]; k++) {
                for (size_t c = 0; c < width; c++) {
                    w->tangent[k * width + c] *= slope[c];
                }
            }
        }
        if (count > 0) {
            on->backend_f32->gemm(
                on, &(product_f32){.m = count,
                                   .n = g->shape.layer[l + 1].out,
                                   .k = width,
                                   .alpha = 1,
                                   .a = w->tangent,
                                   .b = g->parameters + network_offset(&g->shape, l + 1),
                                   .c = w->next});
        }
        float *swap = w->tangent;
        w->tangent = w->next;
        w->next = swap;
    }
}

/* A row to take a step in. */
typedef struct row_step {
    size_t row, r;                /* its number, and that within the block */
    const float *u;               /* (d) */
    size_t k;                     /* free nodes */
    const size_t *node;           /* (k) */
    const float *jacobian;        /* (k, R) */
    const mechanism_model *model; /* NULL: no help */
} row_step;

/* The step, into w->trial; A^-1 to `inverse` (k, k) where it is not NULL. */
static void solve_row(const generator *g, const row_step *s, const block_work *w, double *solve,
                      double *inverse)
{
    size_t d = g->rows.d;
    size_t R = g->rows.R;
    size_t k = s->k;
    const size_t *node = s->node;
    double *a = solve;           /* (k, k) */
    double *rhs = solve + d * d; /* (k) */
    float *gram = w->next;       /* (k, k) and then (k): free now */
    float *pull = gram + k * k;
    const float *left = w->h[g->shape.layers - 1] + s->r * R;
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (int)k, (int)k, (int)R, 1, s->jacobian,
                (int)R, s->jacobian, (int)R, 0, gram, (int)k);
    cblas_sgemv(CblasRowMajor, CblasNoTrans, (int)k, (int)R, 1, s->jacobian, (int)R, left, 1, 0,
                pull, 1);
    for (size_t i = 0; i < k; i++) {
        size_t at = s->row * d + node[i];
        for (size_t j = 0; j < k; j++) {
            a[i * k + j] = (double)gram[i * k + j] / g->now.noise2;
        }
        a[i * k + i] += (double)g->weight[at];
        rhs[i] = (double)pull[i] / g->now.noise2 +
                 (double)g->weight[at] * ((double)g->prior[at] - (double)s->u[node[i]]);
    }
    if (s->model != NULL) {
        put_z(g, s->row, s->u, w->z);
        add_model(g, s->model, s->row, w->z, w->rise, node, k, a, rhs);
    }
    bool sound = LAPACKE_dpotrf(LAPACK_ROW_MAJOR, 'L', (int)k, a, (int)k) == 0;
    if (sound) {
        (void)LAPACKE_dpotrs(LAPACK_ROW_MAJOR, 'L', (int)k, 1, a, (int)k, rhs, 1);
    }
    for (size_t i = 0; i < k; i++) {
        double step = sound && isfinite(rhs[i]) ? fmax(fmin(rhs[i], 1), -1) : 0;
        w->trial[s->r * d + node[i]] = (float)step;
    }
    if (inverse != NULL && sound && LAPACKE_dpotri(LAPACK_ROW_MAJOR, 'L', (int)k, a, (int)k) == 0) {
        for (size_t i = 0; i < k; i++) {
            for (size_t j = 0; j < k; j++) {
                inverse[i * k + j] = a[(i > j ? i : j) * k + (i > j ? j : i)];
            }
        }
    }
}

typedef struct sweep {
    generator *g;
    const mechanism_model *model;
    float *u; /* (rows, d): what is refined */
    size_t blocks;
    bool all, still;
    generator_visit visit;
    void *self;
} sweep;

static void add_up(const generator *g, size_t row, size_t n, const double *squares, double *sums)
{
    sums[0] = sums[1] = 0;
    for (size_t r = 0; r < n; r++) {
        sums[0] += squares[r];
        sums[1] += squares[r] * g->unit[row + r] * g->unit[row + r];
    }
}

/* Takes the steps in w->trial that make their rows better; adds up the block's squared misfits, in
 * units of y and of f / q. */
static void take_steps(const sweep *s, size_t row, size_t n, const double *before, double *squares,
                       block_work *w, double *sums)
{
    const generator *g = s->g;
    size_t d = g->rows.d;
    float *u = w->trial;
    for (size_t k = 0; k < n * d; k++) {
        u[k] += s->u[row * d + k];
    }
    forward(g, n, u, w);
    for (size_t r = 0; r < n; r++) {
        double now = residual(g, w, row + r, r);
        if (objective(g, s->model, row + r, u + r * d, now, w->z) <= before[r]) {
            memcpy(s->u + (row + r) * d, u + r * d, d * sizeof(float));
            squares[r] = now;
        }
    }
    add_up(g, row, n, squares, sums);
}

static void refine_block(const sweep *s, size_t block, size_t slot, size_t worker)
{
    generator *g = s->g;
    size_t d = g->rows.d;
    size_t row = block * GENERATOR_BLOCK;
    size_t n = g->rows.rows - row < GENERATOR_BLOCK ? g->rows.rows - row : GENERATOR_BLOCK;
    block_work w = place(g, g->work + worker * g->scratch);
    double *solve = g->solve + worker * (3 * d * d + 4 * d);
    double *inverse = solve + d * d + 2 * d;
    size_t first[GENERATOR_BLOCK + 1];
    size_t *node = g->node + worker * d;
    w.z = solve + d * d + d;
    w.rise = inverse + d * d;
    double before[GENERATOR_BLOCK];
    double squares[GENERATOR_BLOCK];
    forward(g, n, s->u + row * d, &w);
    for (size_t r = 0; r < n; r++) {
        squares[r] = residual(g, &w, row + r, r);
        before[r] = objective(g, s->model, row + r, s->u + (row + r) * d, squares[r], w.z);
    }
    if (s->still) {
        add_up(g, row, n, squares, g->sums + 2 * block);
        return;
    }
    tangents(g, row, n, s->all, &w, first);
    memset(w.trial, 0, n * d * sizeof(float));
    for (size_t r = 0; r < n; r++) {
        size_t k = 0;
        for (size_t j = 0; j < d; j++) {
            if (is_free(g, row + r, j, s->all)) {
                node[k++] = j;
            }
        }
        if (k > 0) {
            const row_step step = {row + r, r,    s->u + (row + r) * d,
                                   k,       node, w.tangent + first[r] * g->rows.R,
                                   s->model};
            solve_row(g, &step, &w, solve, s->visit != NULL ? inverse : NULL);
            if (s->visit != NULL) {
                s->visit(s->self, row + r, slot, k, node, inverse);
            }
        }
    }
    take_steps(s, row, n, before, squares, &w, g->sums + 2 * block);
}

/* Blocks are dealt, in order, to slots: sums of a slot are the same for any number of workers. */
static void refine_slot(void *self, size_t slot, size_t worker)
{
    const sweep *s = self;
    size_t end = s->blocks * (slot + 1) / GENERATOR_SLOTS;
    for (size_t block = s->blocks * slot / GENERATOR_SLOTS; block < end; block++) {
        refine_block(s, block, slot, worker);
    }
}

static void run(generator *g, const sweep *s)
{
    double sum = 0;
    double sum_f = 0;
    double count = (double)(g->rows.rows * g->rows.R) - (double)g->free;
    g->settings.device->each(g->settings.device, g->workers, GENERATOR_SLOTS, refine_slot,
                             (void *)s);
    for (size_t k = 0; k < s->blocks; k++) {
        sum += g->sums[2 * k];
        sum_f += g->sums[2 * k + 1];
    }
    g->now.noise2 = fmax(sum / count, tuned_network_noise_floor());
    g->now.noise_f = g->spread * sqrt(sum_f / count);
}

static size_t blocks_of(const generator *g)
{
    return (g->rows.rows + GENERATOR_BLOCK - 1) / GENERATOR_BLOCK;
}

void generator_sweep(generator *g, bool helped, bool all, generator_visit visit, void *self)
{
    sweep s = {.g = g,
               .model = helped && g->model.w != NULL ? &g->model : NULL,
               .u = helped ? g->t : g->u,
               .blocks = blocks_of(g),
               .all = all,
               .visit = visit,
               .self = self};
    run(g, &s);
}

void generator_measure(generator *g)
{
    sweep s = {.g = g, .u = g->u, .blocks = blocks_of(g), .still = true};
    run(g, &s);
}
