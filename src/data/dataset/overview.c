/* The overview of a data set: one pass over all rows, checking them on the way.
 *
 * Mean and variance of x: per piece of a few thousand elements in two steps (mean, then squared
 * deviations), pieces merged by
 *     M2 = M2_a + M2_b + delta^2 n_a n_b / n,   delta = mean_b - mean_a
 * so a large offset loses no digits. x_sd divides by the number of elements.
 *
 * Distinct target sets are counted by 64-bit hashes of the masks. Memory is bounded: when 2^20
 * hashes are kept, those with the next bit set are dropped and the rest counts double. So the count
 * is exact up to 2^20 sets, and beyond that an estimate good to some parts in a thousand.
 */
#include "data/dataset/blocks.h"

#include <math.h>
#include <stdlib.h>

enum { PIECE = 2048, LANES = 8, SETS_MOST = 1 << 20, SETS_SLOTS = 1 << 21 };

typedef struct running {
    double count, mean, m2, least, most;
} running;

/* LANES sums side by side, because one would wait for itself at every addition. */
static running piece_of(const double *x, size_t n)
{
    double sum[LANES] = {0};
    double square[LANES] = {0};
    running piece = {.count = (double)n, .least = x[0], .most = x[0]};
    for (size_t i = 0; i < n; i++) {
        sum[i % LANES] += x[i];
        piece.least = x[i] < piece.least ? x[i] : piece.least;
        piece.most = x[i] > piece.most ? x[i] : piece.most;
    }
    for (int lane = 0; lane < LANES; lane++) {
        piece.mean += sum[lane] / piece.count;
    }
    for (size_t i = 0; i < n; i++) {
        double delta = x[i] - piece.mean;
        square[i % LANES] += delta * delta;
    }
    for (int lane = 0; lane < LANES; lane++) {
        piece.m2 += square[lane];
    }
    return piece;
}

static void merge(running *all, running piece)
{
    if (all->count == 0) {
        *all = piece;
        return;
    }
    double count = all->count + piece.count;
    double delta = piece.mean - all->mean;
    all->mean += delta * (piece.count / count);
    all->m2 += piece.m2 + delta * delta * (all->count * (piece.count / count));
    all->least = piece.least < all->least ? piece.least : all->least;
    all->most = piece.most > all->most ? piece.most : all->most;
    all->count = count;
}

/* Closes the gaps that missing entries leave; returns how many numbers there are. */
static size_t drop_missing(double *x, size_t n)
{
    size_t there = 0;
    for (size_t k = 0; k < n; k++) {
        x[there] = x[k];
        there += isnan(x[k]) ? 0 : 1;
    }
    return there;
}

static lscm_status walk_x(const lscm_dataset *data, running *all, size_t *missing, meter *m,
                          lscm_error *why)
{
    lscm_status status = LSCM_OK;
    const array_shape *shape = &data->shape[LSCM_X];
    size_t size = dtype_size(shape->type);
    size_t cols = shape_row_bytes(shape) / size;
    double x[PIECE];
    row_blocks walk;
    TRY(blocks_begin(&walk, data, LSCM_X, m, why));
    walk.holes = true;
    for (;;) {
        TRY(blocks_next(&walk, why));
        if (walk.count == 0) {
            break;
        }
        size_t n = walk.count * cols;
        for (size_t start = 0; start < n; start += PIECE) {
            size_t count = n - start < PIECE ? n - start : PIECE;
            dtype_to_double(shape->type, (const char *)walk.raw + start * size, count, x);
            size_t there = drop_missing(x, count);
            *missing += count - there;
            if (there > 0) {
                merge(all, piece_of(x, there));
            }
        }
    }
done:
    blocks_end(&walk);
    return status;
}

/* Hashes kept in an open-addressing table; 0 marks a free slot. */
typedef struct hash_set {
    uint64_t *slots; /* (SETS_SLOTS) */
    size_t kept;
    int level;     /* only hashes whose lowest `level` bits are 0 are kept */
    uint64_t last; /* rows of one set come together: most need no look-up */
} hash_set;

static uint64_t mix(uint64_t bits)
{
    bits += 0x9e3779b97f4a7c15U;
    bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9U;
    bits = (bits ^ (bits >> 27)) * 0x94d049bb133111ebU;
    return bits ^ (bits >> 31);
}

static void insert(uint64_t *slots, uint64_t hash, size_t *kept)
{
    size_t slot = (size_t)(hash >> 43); /* the top 21 bits: SETS_SLOTS */
    while (slots[slot] != 0 && slots[slot] != hash) {
        slot = (slot + 1) % SETS_SLOTS;
    }
    *kept += slots[slot] == 0 ? 1 : 0;
    slots[slot] = hash;
}

static void drop_half(hash_set *set)
{
    /* in place: every kept hash is taken out and put back, which closes the gaps; the table is half
     * empty, so begin behind a free slot to meet every run of slots from its start */
    size_t begin = 0;
    while (set->slots[begin] != 0) {
        begin++;
    }
    set->level++;
    set->kept = 0;
    for (size_t i = 1; i <= SETS_SLOTS; i++) {
        size_t slot = (begin + i) % SETS_SLOTS;
        uint64_t hash = set->slots[slot];
        set->slots[slot] = 0;
        if (hash != 0 && hash % (UINT64_C(1) << set->level) == 0) {
            insert(set->slots, hash, &set->kept);
        }
    }
}

static void add_set(hash_set *set, uint64_t hash)
{
    hash |= hash == 0 ? UINT64_C(1) << 63 : 0;
    if (hash == set->last || hash % (UINT64_C(1) << set->level) != 0) {
        return;
    }
    set->last = hash;
    insert(set->slots, hash, &set->kept);
    if (set->kept > SETS_MOST) {
        drop_half(set);
    }
}

static lscm_status walk_targets(const lscm_dataset *data, lscm_overview *overview, meter *m,
                                lscm_error *why)
{
    lscm_status status = LSCM_OK;
    const array_shape *shape = &data->shape[LSCM_TARGETS];
    size_t d = data->nodes;
    size_t row_bytes = shape_row_bytes(shape);
    hash_set set = {.slots = calloc(SETS_SLOTS, sizeof *set.slots)};
    double *mask = malloc((d + 1) * sizeof *mask); /* (d) */
    row_blocks walk = {0};
    if (set.slots == NULL || mask == NULL) {
        status = fail_memory(why, SETS_SLOTS * sizeof *set.slots + d * sizeof *mask);
        goto done;
    }
    TRY(blocks_begin(&walk, data, LSCM_TARGETS, m, why));
    for (;;) {
        TRY(blocks_next(&walk, why));
        if (walk.count == 0) {
            break;
        }
        for (size_t row = 0; row < walk.count; row++) {
            uint64_t hash = 0;
            size_t acted = 0;
            dtype_to_double(shape->type, (const char *)walk.raw + row * row_bytes, d, mask);
            for (size_t i = 0; i < d; i++) {
                size_t on = mask[i] != 0 ? 1 : 0;
                hash ^= on != 0 ? mix(i) : 0;
                acted += on;
                if (overview->per_node != NULL) {
                    overview->per_node[i] += on;
                }
            }
            if (acted > 0) {
                add_set(&set, mix(hash));
            } else {
                overview->observational++;
            }
        }
    }
    overview->sets = set.kept << set.level;
done:
    blocks_end(&walk);
    free(set.slots);
    free(mask);
    return status;
}

lscm_status lscm_dataset_check(const lscm_dataset *data, lscm_overview *overview,
                               const lscm_progress *progress, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    running all = {.mean = NAN, .m2 = NAN, .least = NAN, .most = NAN};
    meter m = meter_over(data, progress, "checking");
    *overview = (lscm_overview){.per_node = overview->per_node};
    for (size_t i = 0; overview->per_node != NULL && i < data->nodes; i++) {
        overview->per_node[i] = 0;
    }
    if (data->shape[LSCM_TARGETS].present) {
        TRY(walk_targets(data, overview, &m, why));
    }
    if (data->shape[LSCM_X].present) {
        TRY(walk_x(data, &all, &overview->missing, &m, why));
    }
    for (int field = LSCM_VALUES; FIELD_IS_ROWS(field); field++) {
        if (data->shape[field].present) {
            TRY(blocks_check(data, (lscm_field)field, 0, data->rows, &m, why));
        }
    }
    overview->x_min = all.least;
    overview->x_max = all.most;
    overview->x_mean = all.mean;
    overview->x_sd = sqrt(all.m2 / all.count);
done:
    return status;
}
