#include "infer/check/check_gather.h"

#include <lapacke.h>
#include <math.h>
#include <stdlib.h>

/* ---- Columns ---- */

/* Functions once for each of their parents. */
static size_t entries_of(const check_functions *f)
{
    size_t entries = 0;
    for (size_t k = 0; k < f->terms; k++) {
        entries += f->term[k].width * check_term_parents(&f->term[k]);
    }
    return entries;
}

static size_t wide_of(const check_functions *f, size_t parents)
{
    return 2 + f->count + parents + 2 * entries_of(f);
}

size_t check_plain(const check_work *q, size_t without)
{
    size_t n = 0;
    q->r.column[n++] = 0;
    for (size_t k = 0; k < q->f->terms; k++) {
        const check_term *e = &q->f->term[k];
        for (size_t c = 0; c < e->width && !check_term_has(e, without); c++) {
            q->r.column[n++] = 1 + e->first + c;
        }
    }
    return n;
}

size_t check_add_is_set(const check_work *q, size_t at)
{
    for (size_t p = 0; p < q->parents; p++) {
        q->r.column[at++] = 1 + q->f->count + p;
    }
    return at;
}

size_t check_add_where(const check_work *q, bool set, long of, size_t most, size_t at)
{
    size_t entries = entries_of(q->f);
    size_t column = 1 + q->f->count + q->parents + (set ? 0 : entries);
    for (size_t k = 0; k < q->f->terms; k++) {
        const check_term *e = &q->f->term[k];
        for (size_t side = 0; side < check_term_parents(e); side++, column += e->width) {
            for (size_t c = 0; c < e->width && c < most; c++) {
                if (of == CHECK_ALL || (size_t)of == e->parent[side]) {
                    q->r.column[at++] = column + c;
                }
            }
        }
    }
    return at;
}

/* ---- Room ---- */

static void lay_out(check_work *q, const check_rows *t)
{
    arena *m = &q->memory;
    q->r.x = arena_take(m, t->n * q->most, sizeof(double));
    q->r.gram = arena_take(m, q->most * q->most, sizeof(double));
    q->r.factor = arena_take(m, q->most * q->most, sizeof(double));
    q->rest = arena_take(m, t->n, sizeof(double));
    q->joint = arena_take(m, t->d * (2 * t->d + 1), sizeof(double));
    q->turn = arena_take(m, t->d * t->d, sizeof(double));
    q->take = arena_take(m, t->d, sizeof(double));
    q->share = arena_take(m, t->sets, sizeof(double));
    q->part = arena_take(m, t->sets, sizeof(double));
    q->solution = arena_take(m, q->most, sizeof(double));
    q->z = arena_take(m, t->d, sizeof(double));
    q->parent = arena_take(m, t->d, sizeof *q->parent);
    q->r.column = arena_take(m, q->most, sizeof *q->r.column);
}

/* The longest list of terms, and with room for it the widest family. */
static void size_up(check_work *q, const check_rows *t, check_term *room)
{
    for (size_t k = 0; k < t->graphs.count * t->d; k++) {
        check_functions f = check_functions_of(t, k / t->d, k % t->d, room);
        size_t wide = room != NULL ? wide_of(&f, f.terms) : 2;
        q->terms = f.terms > q->terms ? f.terms : q->terms;
        q->most = wide > q->most ? wide : q->most;
    }
}

lscm_status check_work_open(check_work *out, const check_rows *t, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    check_work q = {.most = 2};
    size_up(&q, t, NULL);
    check_term *room = calloc(q.terms + 1, sizeof *room);
    if (room == NULL) {
        return fail_memory(why, (q.terms + 1) * sizeof *room);
    }
    size_up(&q, t, room);
    free(room);
    lay_out(&q, t);
    TRY(arena_open(&q.memory, why));
    lay_out(&q, t);
    *out = q;
done:
    return status;
}

void check_work_close(check_work *q)
{
    arena_close(&q->memory);
}

void check_work_take(check_work *q, const check_rows *t, size_t g, size_t i,
                     const check_functions *f)
{
    q->f = f;
    q->parents = 0;
    for (size_t j = 0; j < t->d; j++) {
        if (check_has(t, g, j, i) && t->unit[j] > 0) {
            q->parent[q->parents++] = j;
        }
    }
    q->r.wide = wide_of(f, q->parents);
}

/* ---- Rows ---- */

/* How a set reads its rows: which parents are free, turn and take among these, and the variance
 * that is left of y. */
typedef struct set_reading {
    size_t free; /* how many of them; 0: nothing to put back */
    double variance;
} set_reading;

static set_reading read_set(const check_rows *t, const check_work *q, size_t i, size_t set)
{
    size_t d = t->d;
    size_t n = 0;
    size_t at[64]; /* no family is that large: beyond, z is taken as it is */
    set_reading r = {.variance = 1};
    if (t->error == NULL) {
        return r;
    }
    const double *law = t->law + set * d * d;
    double total = law[i * d + i] + t->error[i * d + i];
    for (size_t p = 0; p < q->parents && n < 64; p++) {
        if (!check_is_set(t, set, q->parent[p])) {
            at[n++] = q->parent[p];
        }
    }
    r.variance = total;
    size_t sides = n + 1; /* S_PP, then O_Pi; at last (S + O)_Pi */
    double *right = q->r.factor;
    for (size_t a = 0; a < n; a++) {
        for (size_t b = 0; b < n; b++) {
            q->joint[a * n + b] = law[at[a] * d + at[b]] + t->error[at[a] * d + at[b]];
            right[a * (sides + 1) + b] = law[at[a] * d + at[b]];
        }
        right[a * (sides + 1) + n] = t->error[at[a] * d + i];
        right[a * (sides + 1) + n + 1] = law[at[a] * d + i] + t->error[at[a] * d + i];
    }
    if (n == 0 || LAPACKE_dposv(LAPACK_ROW_MAJOR, 'L', (int)n, (int)(sides + 1), q->joint, (int)n,
                                right, (int)(sides + 1)) != 0) {
        return r;
    }
    for (size_t a = 0; a < n; a++) {
        for (size_t b = 0; b < n; b++) {
            q->turn[a * n + b] = right[a * (sides + 1) + b];
        }
        q->take[a] = right[a * (sides + 1) + n];
        r.variance -=
            (law[at[a] * d + i] + t->error[at[a] * d + i]) * right[a * (sides + 1) + n + 1];
    }
    r.free = n;
    return r;
}

/* Functions where do() set, and did not set, each parent of theirs. */
static void fill_where(const check_rows *t, const check_work *q, size_t set, double *x)
{
    size_t entries = entries_of(q->f);
    double *to = x + 1 + q->f->count + q->parents;
    for (size_t k = 0; k < q->f->terms; k++) {
        const check_term *e = &q->f->term[k];
        for (size_t side = 0; side < check_term_parents(e); side++) {
            bool is_set = check_is_set(t, set, e->parent[side]);
            for (size_t c = 0; c < e->width; c++, to++) {
                to[0] = is_set ? x[1 + e->first + c] : 0;
                to[entries] = is_set ? 0 : x[1 + e->first + c];
            }
        }
    }
}

/* One row: parents and y with what errors took put back. */
static void fill_row(const check_rows *t, const check_work *q, size_t i, size_t set, size_t row,
                     const set_reading *r, double *x)
{
    size_t d = t->d;
    const double *z = t->z + row * d;
    const double *about = t->about != NULL ? t->about + row * d : NULL;
    double y = z[i];
    size_t free = 0;
    x[0] = 1;
    for (size_t p = 0; p < q->parents; p++) {
        size_t j = q->parent[p];
        bool is_set = check_is_set(t, set, j);
        double value = z[j];
        if (!is_set && r->free > 0 && about != NULL) {
            size_t b = 0;
            value = about[j];
            for (size_t c = 0; c < q->parents; c++) {
                if (!check_is_set(t, set, q->parent[c])) {
                    value +=
                        (z[q->parent[c]] - about[q->parent[c]]) * q->turn[b++ * r->free + free];
                }
            }
            y -= (z[j] - about[j]) * q->take[free++];
        }
        q->z[j] = value;
        x[1 + q->f->count + p] = is_set ? 1 : 0;
    }
    check_functions_at(q->f, t, q->z, x + 1);
    fill_where(t, q, set, x);
    x[q->r.wide - 1] = y;
}

void check_centre(double *x, size_t wide, size_t first, size_t last, double part, double times)
{
    for (size_t c = 0; c < wide; c++) {
        double mean = 0;
        for (size_t k = first; k < last; k++) {
            mean += x[k * wide + c] / (double)(last - first);
        }
        for (size_t k = first; k < last; k++) {
            x[k * wide + c] = times * (x[k * wide + c] - part * mean);
        }
    }
}

double check_gather(const check_rows *t, check_work *q, size_t i, size_t *rows)
{
    size_t wide = q->r.wide;
    double freedom = 0;
    *rows = 0;
    for (size_t set = 0; set < t->sets; set++) {
        if (check_is_set(t, set, i)) {
            continue;
        }
        size_t begin = *rows;
        set_reading r = read_set(t, q, i, set);
        for (size_t k = t->first[set]; k < t->first[set + 1]; k++) {
            fill_row(t, q, i, set, k, &r, q->r.x + (*rows)++ * wide);
        }
        double n = (double)(*rows - begin);
        double share = t->error != NULL && r.variance > 0 ? t->noise[i] / r.variance : 1;
        double own = 1 - 1 / sqrt(1 + n * t->tau[i] * t->tau[i] * share);
        q->share[set] = share;
        q->part[set] = own;
        freedom += n - own;
        check_centre(q->r.x, wide, begin, *rows, own, sqrt(share));
    }
    return freedom;
}

double check_gather_set(const check_rows *t, check_work *q, size_t i, size_t *rows)
{
    size_t wide = q->r.wide;
    const set_reading plain = {.variance = 1};
    double freedom = 0;
    *rows = 0;
    for (size_t set = 0; set < t->sets; set++) {
        size_t begin = *rows;
        double size = 0;
        if (!check_is_set(t, set, i)) {
            continue;
        }
        for (size_t k = t->first[set]; k < t->first[set + 1]; k++) {
            fill_row(t, q, i, set, k, &plain, q->r.x + (*rows)++ * wide);
        }
        check_centre(q->r.x, wide, begin, *rows, 1, 1);
        for (size_t k = begin; k < *rows; k++) {
            size = fmax(size, fabs(q->r.x[k * wide + wide - 1]));
        }
        freedom += size > 1e-9 ? (double)(*rows - begin) - 1 : 0;
        *rows = size > 1e-9 ? *rows : begin;
    }
    return freedom;
}
