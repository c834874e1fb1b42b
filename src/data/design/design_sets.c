#include "data/design/design_sets.h"

#include "data/design/mask_list.h"

#include <stdlib.h>
#include <string.h>

static void lay_out(design *s, arena *a)
{
    s->target = arena_take(a, s->sets, s->d);
    s->set = arena_take(a, s->rows, sizeof *s->set);
    s->row = arena_take(a, s->rows, sizeof *s->row);
    s->first = arena_take(a, s->sets + 1, sizeof *s->first);
}

/* Numbers the masks as they are met: number (rows). Rows one after the other are often alike. */
static lscm_status list_masks(mask_list *list, size_t rows, const uint8_t *mask, size_t *number,
                              lscm_error *why)
{
    lscm_status status = LSCM_OK;
    size_t d = list->d;
    for (size_t r = 0; r < rows; r++) {
        if (r > 0 && memcmp(mask + r * d, mask + (r - 1) * d, d) == 0) {
            number[r] = number[r - 1];
        } else {
            TRY(mask_list_number(list, mask + r * d, &number[r], why));
        }
    }
done:
    return status;
}

/* order (count): masks as numbers, ascending; one node at a time, the last counts most. */
static void sort_masks(const mask_list *list, size_t *order, size_t *spare)
{
    for (size_t k = 0; k < list->count; k++) {
        order[k] = k;
    }
    for (size_t i = 0; i < list->d; i++) {
        size_t zeros = 0;
        size_t ones = 0;
        for (size_t k = 0; k < list->count; k++) {
            if (list->mask[order[k] * list->d + i] != 0) {
                spare[ones++] = order[k];
            } else {
                order[zeros++] = order[k];
            }
        }
        memcpy(order + zeros, spare, ones * sizeof *spare);
    }
}

/* Counting sort: `first` holds where the next row of each set goes, then where the set begins. */
static void sort_rows(design *s)
{
    for (size_t r = 0; r < s->rows; r++) {
        s->first[s->set[r] + 1]++;
    }
    for (size_t k = 0; k < s->sets; k++) {
        s->first[k + 1] += s->first[k];
    }
    for (size_t r = s->rows; r-- > 0;) {
        s->row[--s->first[s->set[r] + 1]] = (uint32_t)r;
    }
    memmove(s->first, s->first + 1, s->sets * sizeof *s->first);
    s->first[s->sets] = s->rows;
}

lscm_status design_open(design *out, size_t rows, size_t d, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    *out = (design){.rows = rows, .d = d};
    (void)arena_take(&out->values, rows * d, sizeof *out->value);
    TRY(arena_open(&out->values, why));
    out->value = arena_take(&out->values, rows * d, sizeof *out->value);
done:
    return status;
}

lscm_status design_group(design *s, const uint8_t *mask, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    mask_list list = {.d = s->d};
    size_t *number = NULL; /* (rows): of their masks, as met */
    size_t *order = NULL;  /* (sets), and as much to sort in */
    size_t rows = s->rows;
    if (s->rows > UINT32_MAX) {
        return fail(why, LSCM_VALUE, "%zu rows are too many; use at most %u", s->rows,
                    (unsigned)UINT32_MAX);
    }
    number = malloc((s->rows + 1) * sizeof *number);
    if (number == NULL) {
        status = fail_memory(why, s->rows * sizeof *number);
        goto done;
    }
    TRY(list_masks(&list, s->rows, mask, number, why));
    s->sets = list.count;
    order = malloc((2 * list.count + 1) * sizeof *order);
    if (order == NULL) {
        status = fail_memory(why, 2 * list.count * sizeof *order);
        goto done;
    }
    lay_out(s, &s->memory);
    TRY(arena_open(&s->memory, why));
    lay_out(s, &s->memory);
    size_t *place = order + list.count; /* of each mask among the sets */
    sort_masks(&list, order, place);
    for (size_t k = 0; k < list.count; k++) {
        memcpy(s->target + k * s->d, list.mask + order[k] * s->d, s->d);
        place[order[k]] = k;
    }
    for (size_t r = 0; r < rows; r++) {
        s->set[r] = (uint32_t)place[number[r]];
    }
    sort_rows(s);
done:
    mask_list_close(&list);
    free(number);
    free(order);
    return status;
}

lscm_status design_of(design *out, size_t rows, size_t d, const uint8_t *mask, const double *values,
                      lscm_error *why)
{
    lscm_status status = LSCM_OK;
    design s = {0};
    TRY(design_open(&s, rows, d, why));
    TRY(design_group(&s, mask, why));
    for (size_t k = 0; values != NULL && k < rows * d; k++) {
        s.value[k] = mask[k] != 0 ? values[k] : 0;
    }
    *out = s;
    s = (design){0};
done:
    design_close(&s);
    return status;
}

lscm_status design_hide(design *out, const design *from, const uint8_t *held, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    size_t d = from->d;
    design s = {.rows = from->rows, .d = d, .value = from->value, .names = from->names};
    uint8_t *mask = malloc(s.rows * d + 1);
    if (mask == NULL) {
        status = fail_memory(why, s.rows * d);
        goto done;
    }
    for (size_t r = 0; r < s.rows; r++) {
        const uint8_t *target = design_targets(from, r);
        for (size_t j = 0; j < d; j++) {
            mask[r * d + j] = target[j] != 0 && held[r * d + j] == 0;
        }
    }
    TRY(design_group(&s, mask, why));
    *out = s;
    s = (design){0};
done:
    free(mask);
    design_close(&s);
    return status;
}

lscm_status design_keep(design *out, const design *from, const uint8_t *keep, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    size_t d = from->d;
    size_t rows = 0;
    design s = {0};
    uint8_t *mask = malloc(from->rows * d + 1);
    uint32_t *batch = calloc(from->rows + 1, sizeof *batch);
    if (mask == NULL || batch == NULL) {
        status = fail_memory(why, from->rows * d);
        goto done;
    }
    for (size_t r = 0; r < from->rows; r++) {
        rows += row_counts(keep, r) ? 1 : 0;
    }
    TRY(design_open(&s, rows, d, why));
    rows = 0;
    for (size_t r = 0; r < from->rows; r++) {
        if (row_counts(keep, r)) {
            memcpy(mask + rows * d, design_targets(from, r), d);
            batch[rows] = (uint32_t)design_batch(from, r);
            memcpy(s.value + rows++ * d, design_values(from, r), d * sizeof *s.value);
        }
    }
    TRY(design_group(&s, mask, why));
    s.names = from->names;
    if (from->batch != NULL) {
        TRY(design_divide(&s, batch, from->batches, why));
    }
    *out = s;
    s = (design){0};
done:
    free(mask);
    free(batch);
    design_close(&s);
    return status;
}

static void lay_out_parts(design *s)
{
    s->batch = arena_take(&s->parts, s->rows, sizeof *s->batch);
    s->batch_target = arena_take(&s->parts, s->batches, s->d);
}

lscm_status design_divide(design *s, const uint32_t *batch, size_t batches, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    arena_close(&s->parts);
    s->batches = batches;
    lay_out_parts(s);
    TRY(arena_open(&s->parts, why));
    lay_out_parts(s);
    memcpy(s->batch, batch, s->rows * sizeof *batch);
    for (size_t r = 0; r < s->rows; r++) {
        memcpy(s->batch_target + batch[r] * s->d, design_targets(s, r), s->d);
    }
done:
    return status;
}

void design_close(design *s)
{
    arena_close(&s->parts);
    arena_close(&s->memory);
    arena_close(&s->values);
}

size_t design_list(const design *s, const uint8_t *keep, bool by_set, uint32_t *row)
{
    size_t count = 0;
    for (size_t k = 0; k < s->rows; k++) {
        uint32_t r = by_set ? s->row[k] : (uint32_t)k;
        if (row_counts(keep, r)) {
            row[count++] = r;
        }
    }
    return count;
}

double design_missed(const design *s, const double *z, double *count)
{
    double squares = 0;
    *count = 0;
    for (size_t r = 0; r < s->rows; r++) {
        const uint8_t *target = design_targets(s, r);
        for (size_t j = 0; j < s->d; j++) {
            double missed = target[j] != 0 ? z[r * s->d + j] - design_value(s, r, j) : 0;
            squares += missed * missed;
            *count += target[j];
        }
    }
    return squares;
}

void design_put(const design *s, double *z, double *sd)
{
    for (size_t r = 0; r < s->rows; r++) {
        const uint8_t *target = design_targets(s, r);
        for (size_t j = 0; j < s->d; j++) {
            if (target[j] != 0) {
                z[r * s->d + j] = design_value(s, r, j);
            }
            if (target[j] != 0 && sd != NULL) {
                sd[r * s->d + j] = 0;
            }
        }
    }
}

void design_shift(design *s, const double *by, double times)
{
    for (size_t r = 0; r < s->rows; r++) {
        const uint8_t *target = design_targets(s, r);
        for (size_t j = 0; j < s->d; j++) {
            s->value[r * s->d + j] += target[j] != 0 ? times * by[j] : 0;
        }
    }
}

void design_count(const design *s, const uint8_t *keep, size_t *rows, size_t *sets)
{
    if (rows != NULL) {
        memset(rows, 0, s->d * sizeof *rows);
    }
    if (sets != NULL) {
        memset(sets, 0, s->d * sizeof *sets);
    }
    for (size_t k = 0; k < s->sets; k++) {
        size_t count = 0;
        for (size_t at = s->first[k]; at < s->first[k + 1]; at++) {
            count += row_counts(keep, s->row[at]) ? 1 : 0;
        }
        for (size_t j = 0; j < s->d && count > 0; j++) {
            if (s->target[k * s->d + j] == 0) {
                continue;
            }
            if (rows != NULL) {
                rows[j] += count;
            }
            if (sets != NULL) {
                sets[j]++;
            }
        }
    }
}
