/* See muon.h. */
#include <math.h>

enum { NEWTON_STEPS = 5 };

static const double MEAN = 0.9, SQUARE = 0.99; /* what Adam keeps, where it steps */

static size_t numbers_of(const muon_matrix *m)
{
    return m->in * m->out;
}

/* Scratch of a matrix: U, and what orthogonal needs. */
static size_t scratch_of(const muon_matrix *m)
{
    size_t least = m->in < m->out ? m->in : m->out;
    return 2 * numbers_of(m) + 2 * least * least;
}

void NAMED(muon, lay_out)(MUON *o, arena *a, const muon_plan *plan, const device *on)
{
    size_t scratch = 0;
    for (size_t k = 0; k < plan->matrices; k++) {
        scratch += scratch_of(&plan->matrix[k]);
    }
    *o = (MUON){.plan = *plan, .device = on, .steps = o->steps};
    o->state = arena_take(a, 2 * plan->count, sizeof(REAL));
    o->work = arena_take(a, scratch, sizeof(REAL));
}

void NAMED(muon, draw)(const network_shape *shape, rng r, REAL *parameters)
{
    const muon_plan plan = muon_plan_of(shape);
    for (size_t i = 0; i < plan.count; i++) {
        parameters[i] = 0;
    }
    for (size_t k = 0; k < plan.matrices; k++) {
        const muon_matrix *m = &plan.matrix[k];
        for (size_t i = m->at; i < m->at + numbers_of(m); i++) {
            parameters[i] = (REAL)(m->size * rng_normal(r, i));
        }
    }
}

void NAMED(muon, orthogonal)(const device *on, size_t rows, size_t cols, REAL *x, REAL *work)
{
    const BACKEND *b = on->BACKEND;
    bool wide = rows <= cols;
    size_t n = wide ? rows : cols;
    REAL *next = work;               /* (rows, cols) */
    REAL *gram = work + rows * cols; /* (n, n): X X', or X' X */
    REAL *power = gram + n * n;      /* (n, n) */
    REAL *now = x;
    b->unit(on, rows * cols, x);
    for (int k = 0; k < NEWTON_STEPS; k++) {
        const REAL first = (REAL)3.4445;
        const REAL second = (REAL)-4.7750;
        const REAL third = (REAL)2.0315;
        b->gemm(on, &(PRODUCT){.flip_a = !wide,
                               .flip_b = wide,
                               .m = n,
                               .n = n,
                               .k = wide ? cols : rows,
                               .alpha = 1,
                               .a = now,
                               .b = now,
                               .c = gram});
        b->gemm(on, &(PRODUCT){.m = n,
                               .n = n,
                               .k = n,
                               .alpha = third,
                               .beta = second,
                               .a = gram,
                               .b = gram,
                               .add = gram,
                               .c = power});
        b->gemm(on, &(PRODUCT){.m = rows,
                               .n = cols,
                               .k = n,
                               .alpha = 1,
                               .beta = first,
                               .a = wide ? power : now,
                               .b = wide ? now : power,
                               .add = now,
                               .c = next});
        REAL *swap = now;
        now = next;
        next = swap;
    }
    b->copy(on, rows * cols, now, x); /* the number of steps is odd */
}

typedef struct muon_job {
    const MUON *o;
    const backend_dial *dial;
    REAL *parameters;
    const REAL *gradient;
} muon_job;

/* Matrices are independent; the one with the k-th most work is the k-th to begin. */
static size_t matrix_of(const muon_plan *plan, size_t k)
{
    for (size_t l = 0;; l++) {
        size_t before = 0;
        for (size_t m = 0; m < plan->matrices; m++) {
            size_t mine = scratch_of(&plan->matrix[l]);
            size_t other = scratch_of(&plan->matrix[m]);
            before += other > mine || (other == mine && m < l) ? 1 : 0;
        }
        if (before == k) {
            return l;
        }
    }
}

/* W and its momentum. */
static void step_matrix(const muon_job *job, size_t l)
{
    const double keep = 0.95;
    const MUON *o = job->o;
    const device *on = o->device;
    const BACKEND *b = on->BACKEND;
    const muon_matrix *m = &o->plan.matrix[l];
    size_t n = numbers_of(m);
    REAL *momentum = o->state + m->at;
    REAL *u = o->work;
    for (size_t k = 0; k < l; k++) {
        u += scratch_of(&o->plan.matrix[k]);
    }
    double longest = sqrt((double)(m->in > m->out ? m->in : m->out));
    b->momentum(on, n, (REAL)keep, job->gradient + m->at, momentum, u);
    NAMED(muon, orthogonal)(on, m->in, m->out, u, u + n);
    b->descend(on, n, &job->dial[0], o->plan.decay, m->size * longest, u, job->parameters + m->at);
}

/* What is no matrix, n numbers from `at` on. */
static void step_rest(const muon_job *job, size_t at, size_t n)
{
    const MUON *o = job->o;
    const backend_adam adam = {.b1 = MEAN, .b2 = SQUARE, .outside = 1e-8, .dial = &job->dial[1]};
    o->device->BACKEND->adam(o->device, n, &adam, job->parameters + at, job->gradient + at,
                             o->state + at, o->state + o->plan.count + at);
}

/* A matrix, and what stands between it and the next. */
static void step_part(void *self, size_t k, size_t worker)
{
    const muon_job *job = self;
    const muon_plan *plan = &job->o->plan;
    size_t l = matrix_of(plan, k);
    size_t rest = plan->matrix[l].at + numbers_of(&plan->matrix[l]);
    size_t next = l + 1 < plan->matrices ? plan->matrix[l + 1].at : plan->count;
    (void)worker;
    step_matrix(job, l);
    if (next > rest) {
        step_rest(job, rest, next - rest);
    }
}

void NAMED(muon, dials)(const MUON *o, double rate, backend_dial out[MUON_DIALS])
{
    double t = (double)o->steps;
    out[0] = (backend_dial){.rate = rate};
    out[1] = (backend_dial){
        .rate = rate / (1 - pow(MEAN, t)), .correct = 1 / (1 - pow(SQUARE, t)), .scale = 1};
}

void NAMED(muon, descend)(const MUON *o, const backend_dial dial[MUON_DIALS], REAL *parameters,
                          const REAL *gradient)
{
    const device *on = o->device;
    muon_job job = {.o = o, .dial = dial, .gradient = gradient};
    job.parameters = parameters;
    on->each(on, on->workers(on), o->plan.matrices, step_part, &job);
}

void NAMED(muon, step)(MUON *o, double rate, REAL *parameters, const REAL *gradient)
{
    backend_dial dial[MUON_DIALS];
    o->steps++;
    NAMED(muon, dials)(o, rate, dial);
    NAMED(muon, descend)(o, dial, parameters, gradient);
}
