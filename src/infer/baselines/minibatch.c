#include "infer/baselines/minibatch.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { BLOCK = 1024 }; /* rows read at a time */

static void lay_out(minibatch *m)
{
    arena *a = &m->memory;
    m->x = arena_take(a, m->rows, m->D * sizeof(float));
    m->mean = arena_take(a, m->D, sizeof(double));
    m->order = arena_take(a, m->rows, sizeof *m->order);
    m->out = arena_take(a, m->batch, m->D * sizeof(float));
}

/* All rows through block (BLOCK, D): with `means` into the means, else, centred, into x and
 * *squares. */
static lscm_status read_all(minibatch *m, const lscm_dataset *data, double *block, bool means,
                            double *squares, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    size_t D = m->D;
    for (size_t first = 0; first < m->rows; first += BLOCK) {
        size_t n = m->rows - first < BLOCK ? m->rows - first : BLOCK;
        TRY(lscm_dataset_read(data, LSCM_X, first, n, block, why));
        for (size_t r = 0; r < n; r++) {
            const double *row = block + r * D;
            for (size_t i = 0; i < D && means; i++) {
                m->mean[i] += row[i] / (double)m->rows;
            }
            for (size_t i = 0; i < D && !means; i++) {
                double left = row[i] - m->mean[i];
                *squares += left * left;
                m->x[(first + r) * D + i] = (float)left;
            }
        }
    }
done:
    return status;
}

lscm_status minibatch_open(minibatch *out, const lscm_dataset *data, size_t batch, size_t usual,
                           lscm_error *why)
{
    lscm_status status = LSCM_OK;
    arena scratch = {0};
    double squares = 0;
    minibatch m = {.rows = data->rows, .D = lscm_dataset_features(data)};
    m.batch = batch > 0 ? batch : usual;
    m.batch = m.batch < m.rows ? m.batch : m.rows;
    lay_out(&m);
    (void)arena_take(&scratch, BLOCK, m.D * sizeof(double));
    TRY(arena_open(&m.memory, why));
    TRY(arena_open(&scratch, why));
    lay_out(&m);
    double *block = arena_take(&scratch, BLOCK, m.D * sizeof(double));
    TRY(read_all(&m, data, block, true, NULL, why));
    TRY(read_all(&m, data, block, false, &squares, why));
    m.scale = sqrt(squares / ((double)m.rows * (double)m.D));
    if (!(m.scale > 0 && m.scale <= FLT_MAX)) {
        status = m.scale > 0
                     ? fail(why, LSCM_VALUE, "%s: the numbers of 'x' are too large", data->path)
                     : fail(why, LSCM_VALUE, "%s: all rows of 'x' are the same", data->path);
        goto done;
    }
    for (size_t k = 0; k < m.rows * m.D; k++) {
        m.x[k] = (float)((double)m.x[k] / m.scale);
    }
    *out = m;
    m = (minibatch){0};
done:
    arena_close(&m.memory);
    arena_close(&scratch);
    return status;
}

void minibatch_close(minibatch *m)
{
    arena_close(&m->memory);
}

size_t minibatch_per_epoch(const minibatch *m)
{
    return m->rows / m->batch;
}

/* Where the batch begins in the order, which is that of its epoch. */
static size_t first_of(minibatch *m, rng r, uint64_t step)
{
    size_t each = minibatch_per_epoch(m);
    r.stream += step / each << 32;
    if (!m->shuffled || m->from.seed != r.seed || m->from.stream != r.stream) {
        rng_permutation(r, 0, m->rows, m->order);
        m->from = r;
        m->shuffled = true;
    }
    return (size_t)(step % each) * m->batch;
}

const float *minibatch_at(minibatch *m, rng r, uint64_t step)
{
    if (m->batch == m->rows) {
        return m->x;
    }
    const size_t *row = m->order + first_of(m, r, step);
    for (size_t k = 0; k < m->batch; k++) {
        memcpy(m->out + k * m->D, m->x + row[k] * m->D, m->D * sizeof *m->out);
    }
    return m->out;
}

void minibatch_rows(minibatch *m, rng r, uint64_t step, uint32_t *row)
{
    size_t first = m->batch == m->rows ? 0 : first_of(m, r, step);
    for (size_t k = 0; k < m->batch; k++) {
        row[k] = (uint32_t)(m->batch == m->rows ? k : m->order[first + k]);
    }
}
