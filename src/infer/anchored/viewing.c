#include "infer/anchored/viewing.h"

#include "base/node_name.h"
#include "base/streams.h"
#include "base/tuned.h"
#include "infer/evidence/evidence.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Nothing else tells a node from the others. */
static lscm_status refuse_unlabelled(const viewing *v, lscm_error *why)
{
    const design *by = &v->by;
    for (size_t j = 0; j < by->d; j++) {
        char room[32];
        column_spread labels = {0};
        for (size_t row = 0; row < by->rows; row++) {
            if (design_is_set(by, row, j)) {
                spread_add(&labels, design_value(by, row, j));
            }
        }
        if (!(labels.n >= (double)tuned_kernel_least_labels() && labels.squares > 0)) {
            return fail(why, LSCM_VALUE,
                        "node %s was set by do() in too few rows, or always to the same value, to "
                        "be told apart in pictures (%.0f values to learn from); take more, or "
                        "--decoder linear for a rough answer",
                        name_of(v->names, j, room, sizeof room), labels.n);
        }
    }
    return LSCM_OK;
}

/* Networks see floats. */
static lscm_status refuse_sizes(const pictures *x, const char *path, lscm_error *why)
{
    bool finite = isfinite(x->scale);
    for (size_t k = 0; k < x->count && finite; k++) {
        finite = isfinite(x->backdrop[k]);
    }
    for (size_t k = 0; k < x->kept * x->count && finite && x->type == DTYPE_FLOAT32; k++) {
        finite = isfinite(((const float *)x->x)[k]);
    }
    if (!finite) {
        return fail(why, LSCM_VALUE,
                    "%s: numbers of 'x' are too large for single precision; scale them down", path);
    }
    if (!(x->scale >= (double)FLT_MIN)) {
        return fail(why, LSCM_VALUE,
                    "%s: numbers of 'x' are too small for single precision; scale them up", path);
    }
    return LSCM_OK;
}

lscm_status viewing_open(viewing *out, const lscm_dataset *data, const device *on, uint64_t seed,
                         meter *m, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    viewing v = {.device = on, .names = data->node_names};
    TRY(pictures_of(&v.x, data, seed, m, why));
    if (!(v.x.scale > 0)) {
        TRY(fail(why, LSCM_VALUE, "%s: all pictures are the same: there is nothing to find in them",
                 data->path));
    }
    TRY(refuse_sizes(&v.x, data->path, why));
    TRY(sight_store(&v.store, &v.x, on, why));
    TRY(signal_design(data, true, &v.by, m, why));
    TRY(refuse_unlabelled(&v, why));
done:
    *out = v;
    return status;
}

void viewing_close(viewing *v)
{
    for (size_t m = 0; m < SIGHT_MEMBERS; m++) {
        sight_net_close(&v->net[m]);
    }
    if (v->store != NULL) {
        v->device->pictures->drop(v->store);
    }
    read_off_close(&v->off);
    design_close(&v->by);
    pictures_close(&v->x);
    arena_close(&v->memory);
}

static void lay_out(viewing *v)
{
    size_t entries = v->members * v->by.rows * v->by.d;
    size_t count = picture_count(&v->reader.eye);
    v->held = arena_take(&v->memory, entries, 1);
    v->each = arena_take(&v->memory, entries, sizeof *v->each);
    v->unseen = arena_take(&v->memory, v->by.rows * v->by.d, 1);
    v->reader.parameters = arena_take(&v->memory, v->members * count, sizeof(float));
    v->reader.offset = arena_take(&v->memory, v->members * v->by.d, sizeof(double));
    v->reader.spread = arena_take(&v->memory, v->members * v->by.d, sizeof(double));
    v->reader.error = arena_take(&v->memory, 3 * v->by.d, sizeof(double));
    v->reader.stretch =
        arena_take(&v->memory, v->by.d * STRETCH_SIDES * STRETCH_NUMBERS, sizeof(double));
}

/* Members differ in where they begin, in what they are shown in which order, and in which labels
 * they are not shown. */
static uint64_t seed_of(const lscm_fit_settings *s, size_t member)
{
    rng r = stream_of((uint64_t)s->seed, STREAM_SIGHT_MEMBERS);
    return (uint64_t)s->seed + (member > 0 ? rng_below(r, member, (uint64_t)1 << 62) : 0);
}

static sight_settings settings_of(const viewing *v, const lscm_fit_settings *s, size_t member)
{
    return (sight_settings){
        .device = v->device,
        .store = v->store,
        .steps = s->steps > 0 ? (size_t)s->steps : tuned_sight_steps(),
        .batch = s->batch > 0 ? (size_t)s->batch : tuned_sight_batch(),
        .pixels = tuned_sight_pixels(),
        .rate = s->rate > 0 ? s->rate : tuned_sight_rate(),
        .seed = seed_of(s, member),
    };
}

lscm_status viewing_begin(viewing *v, const lscm_fit_settings *s, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    size_t entries = v->by.rows * v->by.d;
    v->members = tuned_sight_members();
    v->reader =
        (sight_reader){.d = v->by.d,
                       .members = v->members,
                       .eye = picture_shape_of(v->x.height, v->x.width, v->x.channels, v->by.d),
                       .backdrop = v->x.backdrop,
                       .scale = v->x.scale};
    lay_out(v);
    TRY(arena_open(&v->memory, why));
    lay_out(v);
    for (size_t m = 0; m < v->members; m++) {
        sight_settings settings = settings_of(v, s, m);
        uint8_t *held = v->held + m * entries;
        TRY(hold_out_values(&v->by, settings.seed, held, why));
        TRY(sight_net_open(&v->net[m], &v->x, &v->by, held, &settings, why));
    }
done:
    return status;
}

lscm_status viewing_trial(viewing *v, const lscm_fit_settings *s, const lscm_progress *progress,
                          double *missed, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    sight_net n = {0};
    sight_settings settings = settings_of(v, s, 0);
    uint8_t *held = malloc(v->by.rows * v->by.d);
    if (held == NULL) {
        status = fail_memory(why, v->by.rows * v->by.d);
        goto done;
    }
    settings.steps = tuned_sight_trial();
    TRY(hold_out_values(&v->by, settings.seed, held, why));
    TRY(sight_net_open(&n, &v->x, &v->by, held, &settings, why));
    while (!sight_net_over(&n)) {
        TRY(sight_net_step(&n, why));
        if ((n.now.steps % 10 == 0 || v->store != NULL) && progress != NULL &&
            progress->report != NULL &&
            !progress->report(progress->self, "trying a network of pictures", n.now.steps,
                              n.now.end)) {
            TRY(fail(why, LSCM_STOPPED, "stopped on request"));
        }
    }
    *missed = n.now.best;
done:
    sight_net_close(&n);
    free(held);
    return status;
}

/* ---- z ---- */

static void take_members(viewing *v)
{
    size_t d = v->by.d;
    size_t count = picture_count(&v->reader.eye);
    for (size_t m = 0; m < v->members; m++) {
        const sight_net *n = &v->net[m];
        memcpy(v->reader.parameters + m * count, n->parameters, count * sizeof(float));
        memcpy(v->reader.offset + m * d, n->offset, d * sizeof(double));
        memcpy(v->reader.spread + m * d, n->spread, d * sizeof(double));
    }
}

typedef struct read_block {
    double *x;     /* (block, count) */
    float *scaled; /* (block, count) */
    double *each;  /* (members, block, d) */
    arena memory;
} read_block;

static void lay_out_block(read_block *b, const viewing *v, size_t rows)
{
    b->x = arena_take(&b->memory, rows * v->x.count, sizeof *b->x);
    b->scaled = arena_take(&b->memory, rows * v->x.count, sizeof *b->scaled);
    b->each = arena_take(&b->memory, v->members * rows * v->by.d, sizeof *b->each);
}

/* z of all rows by every member. */
static lscm_status read_each(viewing *v, const lscm_dataset *data, meter *m, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    row_blocks walk = {0};
    read_block b = {0};
    size_t d = v->by.d;
    TRY(blocks_begin(&walk, data, LSCM_X, m, why));
    lay_out_block(&b, v, walk.block_rows);
    TRY(arena_open(&b.memory, why));
    lay_out_block(&b, v, walk.block_rows);
    for (;;) {
        TRY(blocks_next(&walk, why));
        if (walk.count == 0) {
            break;
        }
        dtype_to_double(data->shape[LSCM_X].type, walk.raw, walk.count * v->x.count, b.x);
        for (size_t r = 0; r < walk.count; r++) {
            pictures_scale(&v->x, b.x + r * v->x.count, b.scaled + r * v->x.count);
        }
        TRY(sight_read(&v->reader, v->device, walk.count, b.scaled, NULL, NULL, b.each, why));
        for (size_t k = 0; k < v->members; k++) {
            memcpy(v->each + (k * v->by.rows + walk.first) * d, b.each + k * walk.count * d,
                   walk.count * d * sizeof(double));
        }
    }
done:
    blocks_end(&walk);
    arena_close(&b.memory);
    return status;
}

/* Covariance of errors among members where node i is free, in the scale that labels held out give:
 * that of a and b times sqrt(V_a V_b / (I_a I_b)). */
static void take_blur(viewing *v)
{
    read_off *off = &v->off;
    size_t d = v->by.d;
    size_t entries = v->by.rows * d;
    const double *V = v->reader.error;
    const double *I = V + d;
    double *rows = off->intercept; /* not used yet */
    memset(rows, 0, d * sizeof *rows);
    for (size_t row = 0; row < v->by.rows; row++) {
        for (size_t i = 0; i < d; i++) {
            rows[i] += design_is_set(&v->by, row, i) ? 0 : 1;
        }
    }
    for (size_t row = 0; row < v->by.rows; row++) {
        for (size_t a = 0; a < d; a++) {
            for (size_t b = 0; b < d; b++) {
                double sum = 0;
                bool known = design_is_set(&v->by, row, a) || design_is_set(&v->by, row, b) ||
                             v->unseen[row * d + a] != 0 || v->unseen[row * d + b] != 0;
                for (size_t m = 0; m < v->members && !known; m++) {
                    const double *z = v->each + m * entries + row * d;
                    sum += (z[a] - off->z[row * d + a]) * (z[b] - off->z[row * d + b]);
                }
                double scale = sqrt(V[a] * V[b] / fmax(I[a] * I[b], 1e-300));
                sum *= scale / (double)(v->members - 1);
                for (size_t i = 0; i < d && !known; i++) {
                    bool is_free = !design_is_set(&v->by, row, i);
                    off->blur[(i * d + a) * d + b] += is_free ? sum / rows[i] : 0;
                }
            }
        }
    }
    off->blurred = true;
}

/* sd of the error of a scale: how much members' slopes on their mean differ where nothing was set,
 * in the scale of labels held out; mean square over nodes. */
static void take_gain(viewing *v)
{
    read_off *off = &v->off;
    size_t d = v->by.d;
    size_t entries = v->by.rows * d;
    double total = 0;
    for (size_t j = 0; j < d; j++) {
        column_spread slopes = {0};
        for (size_t m = 0; m < v->members; m++) {
            column_spread z = {0};
            column_spread away = {0}; /* of the member from the mean of all */
            double with = 0;
            for (size_t row = 0; row < v->by.rows; row++) {
                size_t k = row * d + j;
                if (!design_is_set(&v->by, row, j) && v->unseen[k] == 0) {
                    double before = z.mean;
                    double apart = v->each[m * entries + k] - off->z[k];
                    spread_add(&z, off->z[k]);
                    spread_add(&away, apart);
                    with += (off->z[k] - before) * (apart - away.mean);
                }
            }
            spread_add(&slopes, z.squares > 0 ? with / z.squares : 0);
        }
        double ratio = v->reader.error[j] / fmax(v->reader.error[d + j], 1e-300);
        total += ratio * slopes.squares / (double)(v->members - 1) / (double)d;
    }
    off->gain = sqrt(total);
}

/* Networks that died say the same of all pictures. */
static lscm_status refuse_still(const viewing *v, lscm_error *why)
{
    const design *by = &v->by;
    for (size_t j = 0; j < by->d; j++) {
        char room[32];
        column_spread z = {0};
        double unit = v->reader.spread[j];
        for (size_t row = 0; row < by->rows; row++) {
            if (!design_is_set(by, row, j)) {
                spread_add(&z, v->off.z[row * by->d + j]);
            }
        }
        if (z.n > 1 && !(z.squares > 1e-12 * z.n * unit * unit)) {
            return fail(why, LSCM_VALUE,
                        "the networks of pictures read the same z of node %s off all of them: they "
                        "learned nothing; try a smaller --rate or more --steps",
                        name_of(v->names, j, room, sizeof room));
        }
    }
    return LSCM_OK;
}

lscm_status viewing_read(viewing *v, const lscm_dataset *data, meter *m, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    size_t entries = v->by.rows * v->by.d;
    TRY(read_off_open(&v->off, &v->by, v->names, why));
    take_members(v);
    TRY(read_each(v, data, m, why));
    sight_errors(&v->reader, &v->by, v->held, v->each, v->off.r2);
    sight_settle(&v->reader, entries, v->each, v->off.z, v->off.sd);
    TRY(refuse_still(v, why));
    for (size_t k = 0; k < entries; k++) {
        bool is_free = !design_is_set(&v->by, k / v->by.d, k % v->by.d);
        v->unseen[k] = is_free && sight_unseen(&v->reader, k % v->by.d, v->off.sd[k]) ? 1 : 0;
        v->off.hidden += v->unseen[k];
    }
    v->off.unknown = v->unseen;
    take_blur(v);
    take_gain(v);
    design_put(&v->by, v->off.z, v->off.sd);
done:
    return status;
}

/* Beyond the labels readings are what the mechanisms make of them: these came of rows within. */
static void put_right(viewing *v, const anchored *a)
{
    read_off *off = &v->off;
    size_t d = v->by.d;
    size_t entries = v->by.rows * d;
    read_off_take_model(off, a);
    for (size_t j = 0; j < d; j++) {
        double squares = 0;
        for (size_t k = 0; k < a->draws; k++) {
            squares += a->sigma[k * d + j] * a->sigma[k * d + j] / (double)a->draws;
        }
        off->sigma[j] = sqrt(squares);
    }
    const mechanism_model model = read_off_model(off);
    double *put = v->each; /* members are not asked any more */
    memcpy(put, off->z, entries * sizeof(double));
    for (size_t k = 0; k < entries; k++) {
        put[k] = v->unseen[k] != 0 ? off->told[k] : put[k];
    }
    stretch_begin(&v->by, v->reader.stretch);
    stretch_fit(v->reader.stretch, &v->by, v->unseen, &model, a->order + (a->draws - 1) * d, put);
    for (size_t k = 0; k < entries; k++) {
        if (v->unseen[k] == 0) {
            off->told[k] = off->z[k];
            off->told_sd[k] = off->sd[k];
            sight_put_right(&v->reader, k % d, &off->told[k], &off->told_sd[k]);
        }
    }
}

lscm_status viewing_infer(viewing *v, anchored *out, const anchored_input *in, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    read_off *off = &v->off;
    read_off_spread(off);
    TRY(read_off_find_reach(off, why));
    TRY(leaks_both_ways(off->leak, NULL, &v->by, off->z, why));
    anchored_input with = read_off_with_errors(off, in);
    if (off->outside + off->hidden > 0) {
        TRY(read_off_infer_within(off, out, &with, why));
        put_right(v, out);
        goto done;
    }
    TRY(anchored_infer(out, &with, why));
    memcpy(off->told, off->z, v->by.rows * v->by.d * sizeof(double));
    memcpy(off->told_sd, off->sd, v->by.rows * v->by.d * sizeof(double));
    stretch_begin(&v->by, v->reader.stretch);
done:
    return status;
}
