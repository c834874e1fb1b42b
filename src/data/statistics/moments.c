/* See moments.h. Sums are made by stretches of rows and added in order. Where several processes
 * share the data (split.h), the first lists the sets and each makes the sums of its own rows. */
#include "data/statistics/moments.h"

#include "data/dataset/dataset.h"
#include "data/design/design.h"

#include <cblas.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK = 2048 };                               /* rows */
static const size_t STRETCH_BYTES = (size_t)1 << 28; /* of all stretches together */

/* Rows of a block as double, and their masks as bytes. */
typedef struct block {
    double *x, *values, *targets; /* (BLOCK, D), (BLOCK, d), (BLOCK, d) */
    uint8_t *mask;                /* (BLOCK, d) */
} block;

static lscm_status read_masks(const lscm_dataset *data, block *b, size_t first, size_t rows,
                              lscm_error *why)
{
    lscm_status status = LSCM_OK;
    TRY(lscm_dataset_read(data, LSCM_TARGETS, first, rows, b->targets, why));
    for (size_t i = 0; i < rows * data->nodes; i++) {
        b->mask[i] = b->targets[i] != 0 ? 1 : 0;
    }
done:
    return status;
}

static lscm_status list_masks(mask_list *list, const lscm_dataset *data, block *b, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    size_t number = 0;
    for (size_t first = 0; first < data->rows; first += BLOCK) {
        size_t rows = data->rows - first < BLOCK ? data->rows - first : BLOCK;
        TRY(read_masks(data, b, first, rows, why));
        for (size_t r = 0; r < rows; r++) {
            const uint8_t *mask = b->mask + r * list->d;
            if (r == 0 || memcmp(mask, mask - list->d, list->d) != 0) {
                TRY(mask_list_number(list, mask, &number, why));
            }
        }
    }
done:
    return status;
}

/* Rows from .. to - 1 of the block are of one set. */
static void add_run(moments *m, size_t t, const block *b, size_t from, size_t to)
{
    int n = (int)(to - from);
    int d = (int)m->d;
    int D = (int)m->D;
    const double *v = b->values + from * m->d;
    m->count[t] += n;
    cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, d, d, n, 1, v, d, v, d, 1,
                m->vv + t * m->d * m->d, d);
    cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, d, D, n, 1, v, d, b->x + from * m->D, D, 1,
                m->vx + t * m->d * m->D, D);
}

static lscm_status add_rows(moments *m, mask_list *list, const lscm_dataset *data, block *b,
                            size_t first, size_t rows, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    TRY(lscm_dataset_read(data, LSCM_X, first, rows, b->x, why));
    TRY(lscm_dataset_read(data, LSCM_VALUES, first, rows, b->values, why));
    TRY(read_masks(data, b, first, rows, why));
    for (size_t i = 0; i < rows * m->d; i++) {
        b->values[i] = b->mask[i] != 0 ? b->values[i] : 0;
    }
    for (size_t r = 0; r < rows; r++) {
        m->xx += cblas_ddot((int)m->D, b->x + r * m->D, 1, b->x + r * m->D, 1);
    }
    for (size_t from = 0, to = 0; from < rows; from = to) {
        const uint8_t *mask = b->mask + from * m->d;
        size_t t = 0;
        for (to = from + 1; to < rows && memcmp(mask, b->mask + to * m->d, m->d) == 0;) {
            to++;
        }
        TRY(mask_list_number(list, mask, &t, why));
        add_run(m, t, b, from, to);
    }
done:
    return status;
}

static void lay_out(moments *m, arena *a)
{
    m->target = arena_take(a, m->sets * m->d, 1);
    m->count = arena_take(a, m->sets, sizeof(double));
    m->vv = arena_take(a, m->sets * m->d * m->d, sizeof(double));
    m->vx = arena_take(a, m->sets * m->d * m->D, sizeof(double));
}

static lscm_status open_moments(moments *m, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    lay_out(m, &m->memory);
    TRY(arena_open(&m->memory, why));
    lay_out(m, &m->memory);
done:
    return status;
}

static void lay_out_block(block *b, arena *a, size_t d, size_t D)
{
    b->x = arena_take(a, BLOCK * D, sizeof(double));
    b->values = arena_take(a, BLOCK * d, sizeof(double));
    b->targets = arena_take(a, BLOCK * d, sizeof(double));
    b->mask = arena_take(a, BLOCK * d, 1);
}

static lscm_status open_block(block *b, arena *a, const moments *m, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    lay_out_block(b, a, m->d, m->D);
    TRY(arena_open(a, why));
    lay_out_block(b, a, m->d, m->D);
done:
    return status;
}

/* ---- Stretches ---- */

/* Numbers of a stretch: n_t, Q_t, C_t and xx in one array. */
static size_t stretch_size(const moments *m)
{
    return m->sets * (1 + m->d * m->d + m->d * m->D) + 1;
}

/* As many as fit in their memory, which depends on the data alone. */
static stretches cut_of(const moments *m)
{
    size_t most = STRETCH_BYTES / sizeof(double) / stretch_size(m);
    most = most > 1 ? most : 1;
    return split_rows(m->rows, BLOCK, most < SPLIT_STRETCHES ? most : SPLIT_STRETCHES);
}

static moments window(const moments *m, double *stretch)
{
    moments part = *m;
    part.count = stretch;
    part.vv = part.count + m->sets;
    part.vx = part.vv + m->sets * m->d * m->d;
    part.xx = 0;
    return part;
}

static void add_stretch(moments *m, double *stretch)
{
    const moments part = window(m, stretch);
    for (size_t k = 0; k < m->sets; k++) {
        m->count[k] += part.count[k];
    }
    for (size_t k = 0; k < m->sets * m->d * m->d; k++) {
        m->vv[k] += part.vv[k];
    }
    for (size_t k = 0; k < m->sets * m->d * m->D; k++) {
        m->vx[k] += part.vx[k];
    }
    m->xx += stretch[stretch_size(m) - 1];
}

/* A pass of one process. */
typedef struct pass {
    const lscm_dataset *data;
    mask_list *list;
    block *b;
    stretches cut;
    meter *progress; /* may be NULL */
} pass;

/* Stretch k of the rows. */
static lscm_status sum_stretch(const pass *p, size_t k, moments *part, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    uint64_t others = (uint64_t)split_size(p->data->team); /* read as much meanwhile */
    size_t past = (k + 1) * p->cut.length;
    size_t end = past < p->cut.rows ? past : p->cut.rows;
    for (size_t first = k * p->cut.length; first < end; first += BLOCK) {
        size_t rows = end - first < BLOCK ? end - first : BLOCK;
        TRY(add_rows(part, p->list, p->data, p->b, first, rows, why));
        if (p->progress != NULL) {
            uint64_t bytes = rows * (part->D + 2 * part->d) * sizeof(double);
            TRY(meter_add(p->progress, others * bytes, why));
        }
    }
done:
    return status;
}

/* The same beside the sums of all, in memory of stretch_size numbers. */
static lscm_status sum_apart(const pass *p, size_t k, const moments *all, double *stretch,
                             lscm_error *why)
{
    size_t n = stretch_size(all);
    moments part = window(all, stretch);
    memset(stretch, 0, n * sizeof *stretch);
    lscm_status status = sum_stretch(p, k, &part, why);
    stretch[n - 1] = part.xx;
    return status;
}

/* ---- The leader, and the others ---- */

static lscm_status call_others(const pass *p, moments *all, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    team *t = p->data->team;
    if (split_size(t) > 1) {
        t->passes++;
        TRY(split_call(t, SPLIT_MOMENTS, why));
        TRY(comm_broadcast(t->comm, &all->sets, sizeof all->sets, why));
        TRY(lscm_comm_agree(t->comm, LSCM_OK, why)); /* they have the memory */
        TRY(comm_broadcast(t->comm, all->target, all->sets * all->d, why));
    }
done:
    return status;
}

static lscm_status sum_all(const pass *p, moments *all, double *stretch, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    team *t = p->data->team;
    row_share own = split_share(t, 0, p->cut);
    TRY(call_others(p, all, why));
    for (size_t k = own.from; k < own.past && status == LSCM_OK; k++) {
        status = sum_apart(p, k, all, stretch, why);
        add_stretch(all, stretch);
    }
    if (t == NULL) {
        goto done;
    }
    TRY(lscm_comm_agree(t->comm, status, why));
    for (int rank = 1; rank < split_size(t); rank++) {
        row_share theirs = split_share(t, rank, p->cut);
        for (size_t k = theirs.from; k < theirs.past; k++) {
            TRY(comm_receive(t->comm, rank, stretch, stretch_size(all) * sizeof *stretch, why));
            add_stretch(all, stretch);
        }
    }
done:
    return status;
}

lscm_status moments_of(moments *out, const lscm_dataset *data, meter *m, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    moments all = {.rows = data->rows, .d = data->nodes, .D = lscm_dataset_features(data)};
    mask_list list = {.d = data->nodes};
    arena scratch = {0};
    double *stretch = NULL; /* (stretch_size) */
    block b;
    pass p = {.data = data, .list = &list, .b = &b, .progress = m};
    if (!data->shape[LSCM_VALUES].present) {
        return fail(why, LSCM_MISSING, "%s: there are no 'values'; a decoder needs what do() set",
                    data->path);
    }
    TRY(open_block(&b, &scratch, &all, why));
    TRY(list_masks(&list, data, &b, why));
    if (list.mask == NULL) {
        status = fail(why, LSCM_SHAPE, "%s: there are no rows", data->path);
        goto done;
    }
    all.sets = list.count;
    TRY(open_moments(&all, why));
    memcpy(all.target, list.mask, all.sets * all.d);
    p.cut = cut_of(&all);
    if (p.cut.count == 1 && split_size(data->team) == 1) { /* no room, or no need, for a second */
        TRY(sum_stretch(&p, 0, &all, why));
    } else {
        stretch = malloc(stretch_size(&all) * sizeof *stretch);
        if (stretch == NULL) {
            status = fail_memory(why, stretch_size(&all) * sizeof *stretch);
            goto done;
        }
        TRY(sum_all(&p, &all, stretch, why));
    }
    *out = all;
    all.memory = (arena){0};
done:
    free(stretch);
    arena_close(&all.memory);
    arena_close(&scratch);
    mask_list_close(&list);
    return status;
}

/* Memory for the sums of its stretches, once the leader has said how many sets there are. */
static lscm_status open_share(const pass *p, arena *scratch, moments *part, double **sums,
                              lscm_error *why)
{
    lscm_status status = LSCM_OK;
    row_share own = split_share(p->data->team, split_rank(p->data->team), p->cut);
    TRY(open_block(p->b, scratch, part, why));
    TRY(open_moments(part, why));
    size_t n = (own.past - own.from) * stretch_size(part);
    *sums = malloc((n + 1) * sizeof **sums);
    if (*sums == NULL) {
        status = fail_memory(why, n * sizeof **sums);
    }
done:
    return status;
}

static lscm_status sum_share(const pass *p, const moments *part, double *sums, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    row_share own = split_share(p->data->team, split_rank(p->data->team), p->cut);
    size_t number = 0;
    for (size_t k = 0; k < part->sets; k++) {
        TRY(mask_list_number(p->list, part->target + k * part->d, &number, why));
    }
    for (size_t k = own.from; k < own.past; k++) {
        TRY(sum_apart(p, k, part, sums + (k - own.from) * stretch_size(part), why));
    }
done:
    return status;
}

lscm_status moments_assist(const lscm_dataset *data, meter *m, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    const team *t = data->team;
    moments part = {.rows = data->rows, .d = data->nodes, .D = lscm_dataset_features(data)};
    mask_list list = {.d = data->nodes};
    arena scratch = {0};
    double *sums = NULL; /* (stretches, stretch_size) */
    block b;
    pass p = {.data = data, .list = &list, .b = &b, .progress = m};
    TRY(comm_broadcast(t->comm, &part.sets, sizeof part.sets, why));
    p.cut = cut_of(&part);
    status = lscm_comm_agree(t->comm, open_share(&p, &scratch, &part, &sums, why), why);
    if (status != LSCM_OK || sums == NULL) {
        goto done;
    }
    TRY(comm_broadcast(t->comm, part.target, part.sets * part.d, why));
    TRY(lscm_comm_agree(t->comm, sum_share(&p, &part, sums, why), why));
    row_share own = split_share(t, split_rank(t), p.cut);
    for (size_t k = 0; k < own.past - own.from; k++) {
        size_t n = stretch_size(&part);
        TRY(comm_send(t->comm, 0, sums + k * n, n * sizeof *sums, why));
    }
done:
    free(sums);
    arena_close(&part.memory);
    arena_close(&scratch);
    mask_list_close(&list);
    return status;
}

void moments_close(moments *m)
{
    arena_close(&m->memory);
}
