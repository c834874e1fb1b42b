#include "data/moments.h"

#include "data/mask_rows.h"

#include <cblas.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK = 2048 }; /* rows */

/* The distinct masks seen so far, with a hash table of their numbers. */
typedef struct mask_list {
    size_t d, count, room, slots;
    uint8_t *mask; /* (room, d) */
    size_t *slot;  /* (slots): 1 + number of a mask, 0 when free */
} mask_list;

static size_t find_slot(const mask_list *list, const uint8_t *mask)
{
    size_t at = (size_t)(mask_hash(mask, list->d, 0) % list->slots);
    while (list->slot[at] != 0 &&
           memcmp(list->mask + (list->slot[at] - 1) * list->d, mask, list->d) != 0) {
        at = (at + 1) % list->slots;
    }
    return at;
}

static lscm_status grow(mask_list *list, lscm_error *why)
{
    size_t room = list->room > 0 ? 2 * list->room : 64;
    uint8_t *mask = realloc(list->mask, room * list->d);
    if (mask == NULL) {
        return fail_memory(why, room * list->d);
    }
    list->mask = mask;
    size_t *slot = calloc(4 * room, sizeof *slot);
    if (slot == NULL) {
        return fail_memory(why, 4 * room * sizeof *slot);
    }
    free(list->slot);
    list->slot = slot;
    list->slots = 4 * room;
    list->room = room;
    for (size_t k = 0; k < list->count; k++) {
        list->slot[find_slot(list, list->mask + k * list->d)] = k + 1;
    }
    return LSCM_OK;
}

static lscm_status number_of(mask_list *list, const uint8_t *mask, size_t *number, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    if (list->count == list->room) {
        TRY(grow(list, why));
    }
    size_t at = find_slot(list, mask);
    if (list->slot[at] == 0) {
        memcpy(list->mask + list->count * list->d, mask, list->d);
        list->slot[at] = ++list->count;
    }
    *number = list->slot[at] - 1;
done:
    return status;
}

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
                TRY(number_of(list, mask, &number, why));
            }
        }
    }
done:
    return status;
}

/* Rows from .. to - 1 of the block share a mask. */
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
        TRY(number_of(list, mask, &t, why));
        add_run(m, t, b, from, to);
    }
done:
    return status;
}

static void lay_out(moments *m, arena *a)
{
    m->mask = arena_take(a, m->masks * m->d, 1);
    m->count = arena_take(a, m->masks, sizeof(double));
    m->vv = arena_take(a, m->masks * m->d * m->d, sizeof(double));
    m->vx = arena_take(a, m->masks * m->d * m->D, sizeof(double));
}

static void lay_out_block(block *b, arena *a, size_t d, size_t D)
{
    b->x = arena_take(a, BLOCK * D, sizeof(double));
    b->values = arena_take(a, BLOCK * d, sizeof(double));
    b->targets = arena_take(a, BLOCK * d, sizeof(double));
    b->mask = arena_take(a, BLOCK * d, 1);
}

lscm_status moments_of(moments *out, const lscm_dataset *data, meter *m, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    moments all = {.rows = data->rows, .d = data->nodes, .D = lscm_dataset_features(data)};
    mask_list list = {.d = data->nodes};
    arena scratch = {0};
    block b;
    if (!data->shape[LSCM_VALUES].present) {
        return fail(why, LSCM_MISSING, "%s: there are no 'values'; a decoder needs what do() set",
                    data->path);
    }
    lay_out_block(&b, &scratch, all.d, all.D);
    TRY(arena_open(&scratch, why));
    lay_out_block(&b, &scratch, all.d, all.D);
    TRY(list_masks(&list, data, &b, why));

    if (list.mask == NULL) {
        status = fail(why, LSCM_SHAPE, "%s: there are no rows", data->path);
        goto done;
    }
    all.masks = list.count;
    lay_out(&all, &all.memory);
    TRY(arena_open(&all.memory, why));
    lay_out(&all, &all.memory);
    memcpy(all.mask, list.mask, all.masks * all.d);
    for (size_t first = 0; first < data->rows; first += BLOCK) {
        size_t rows = data->rows - first < BLOCK ? data->rows - first : BLOCK;
        TRY(add_rows(&all, &list, data, &b, first, rows, why));
        if (m != NULL) {
            TRY(meter_add(m, rows * (all.D + 2 * all.d) * sizeof(double), why));
        }
    }
    *out = all;
    all.memory = (arena){0};
done:
    arena_close(&all.memory);
    arena_close(&scratch);
    free(list.mask);
    free(list.slot);
    return status;
}

void moments_close(moments *m)
{
    arena_close(&m->memory);
}
