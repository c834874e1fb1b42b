#include "cuda/muon.h"

#include <math.h>
#include <stdlib.h>

enum { ROUNDS = 5, TILE = 32, PUSH = 256, APPLY = 256 };

/* ---- Laying out ---- */

static size_t tiles_of(size_t rows, size_t cols)
{
    return ((rows + TILE - 1) / TILE) * ((cols + TILE - 1) / TILE);
}

static size_t least_of(const muon_matrix *m)
{
    return m->in < m->out ? m->in : m->out;
}

void muon_lay_out(muon_device *m, device_pool *pool, const muon_plan *plan)
{
    size_t gram = 0;
    size_t turn = 0;
    size_t work = 0;
    for (size_t k = 0; k < plan->matrices; k++) {
        const muon_matrix *w = &plan->matrix[k];
        size_t least = least_of(w);
        gram += tiles_of(least, least);
        turn += tiles_of(w->in, w->out);
        work += 2 * w->in * w->out + 2 * least * least;
    }
    m->count = plan->count;
    m->matrices = (int)plan->matrices;
    m->gram_tiles = (int)gram;
    m->turn_tiles = (int)turn;
    m->decay = (float)plan->decay;
    pool_take(pool, &m->place, plan->matrices);
    pool_take(pool, &m->matrix, plan->count);
    pool_take(pool, &m->gram, gram);
    pool_take(pool, &m->turn, turn);
    pool_take(pool, &m->work, work);
    pool_take(pool, &m->state, 2 * plan->count);
}

static size_t list_tiles(muon_tile *out, int matrix, size_t rows, size_t cols)
{
    size_t n = 0;
    for (size_t i = 0; i < rows; i += TILE) {
        for (size_t j = 0; j < cols; j += TILE) {
            muon_tile t = {matrix, (int)i, (int)j};
            out[n++] = t;
        }
    }
    return n;
}

lscm_status muon_begin(muon_device *m, const muon_plan *plan, cudaStream_t stream, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    size_t gram = 0;
    size_t turn = 0;
    size_t work = 0;
    muon_place place[MUON_MATRICES];
    muon_tile *tiles = (muon_tile *)malloc((size_t)(m->gram_tiles + m->turn_tiles) * sizeof *tiles);
    int *matrix = (int *)malloc(m->count * sizeof *matrix);
    if (tiles == NULL || matrix == NULL) {
        status = fail_memory(why, m->count * sizeof *matrix);
        goto done;
    }
    for (size_t i = 0; i < m->count; i++) {
        matrix[i] = -1;
    }
    for (size_t k = 0; k < plan->matrices; k++) {
        const muon_matrix *w = &plan->matrix[k];
        size_t numbers = w->in * w->out;
        size_t least = least_of(w);
        size_t most = w->in < w->out ? w->out : w->in;
        muon_place p = {w->at,
                        work,
                        work + numbers,
                        work + 2 * numbers,
                        work + 2 * numbers + least * least,
                        (int)w->in,
                        (int)w->out,
                        (int)least,
                        (float)(w->size * sqrt((double)most))};
        place[k] = p;
        gram += list_tiles(tiles + gram, (int)k, least, least);
        turn += list_tiles(tiles + m->gram_tiles + turn, (int)k, w->in, w->out);
        for (size_t i = w->at; i < w->at + numbers; i++) {
            matrix[i] = (int)k;
        }
        work += 2 * numbers + 2 * least * least;
    }
    TRY(cuda_put(m->place, place, plan->matrices * sizeof *place, stream, why));
    TRY(cuda_put(m->gram, tiles, gram * sizeof *tiles, stream, why));
    TRY(cuda_put(m->turn, tiles + gram, turn * sizeof *tiles, stream, why));
    TRY(cuda_put(m->matrix, matrix, m->count * sizeof *matrix, stream, why));
    TRY(cuda_done(cudaStreamSynchronize(stream), "working", why));
done:
    free(tiles);
    free(matrix);
    return status;
}

/* ---- A step ---- */

static __global__ void __launch_bounds__(PUSH) muon_push(muon_device m, const float *gradient)
{
    const float keep = 0.95f;
    __shared__ double sums[PUSH];
    muon_place p = m.place[blockIdx.x];
    int t = threadIdx.x;
    int n = p.in * p.out;
    float *u = m.work + p.u;
    double sum = 0;
    for (int i = t; i < n; i += PUSH) {
        float g = gradient[p.at + i];
        float momentum = keep * m.state[p.at + i] + g;
        m.state[p.at + i] = momentum;
        u[i] = g + keep * momentum;
        sum += (double)u[i] * (double)u[i];
    }
    sums[t] = sum;
    __syncthreads();
    for (int half = PUSH / 2; half > 0; half /= 2) {
        if (t < half) {
            sums[t] += sums[t + half];
        }
        __syncthreads();
    }
    float scale = (float)(1 / (sqrt(sums[0]) + 1e-30));
    for (int i = t; i < n; i += PUSH) {
        u[i] *= scale;
    }
}

/* A matrix read as (row, column) -> row `down` + column `right`. */
struct muon_view {
    const float *x;
    int rows, cols, down, right;
};

static __device__ __forceinline__ float muon_at(muon_view v, int i, int j)
{
    return i < v.rows && j < v.cols ? v.x[(size_t)i * v.down + (size_t)j * v.right] : 0;
}

/* The tile from (i, j) on of a b: this thread's four, rows t / 8 and columns 4 (t % 8) .. */
static __device__ void muon_product(muon_view a, muon_view b, int i, int j, float sum[4])
{
    __shared__ float left[TILE][TILE + 1];
    __shared__ float right[TILE][TILE + 1];
    int t = threadIdx.x;
    sum[0] = sum[1] = sum[2] = sum[3] = 0;
    for (int k = 0; k < a.cols; k += TILE) {
        for (int n = t; n < TILE * TILE; n += 256) {
            int fast = n % TILE;
            int slow = n / TILE;
            int row = a.right == 1 ? slow : fast; /* neighbours in memory by neighbours */
            int col = a.right == 1 ? fast : slow;
            left[row][col] = muon_at(a, i + row, k + col);
            row = b.right == 1 ? slow : fast;
            col = b.right == 1 ? fast : slow;
            right[row][col] = muon_at(b, k + row, j + col);
        }
        __syncthreads();
        for (int n = 0; n < TILE; n++) {
            float v = left[t / 8][n];
            UNROLL
            for (int c = 0; c < 4; c++) {
                sum[c] += v * right[n][4 * (t % 8) + c];
            }
        }
        __syncthreads();
    }
}

static __global__ void __launch_bounds__(256) muon_gram(muon_device m, bool swapped)
{
    muon_tile tile = m.gram[blockIdx.x];
    muon_place p = m.place[tile.matrix];
    const float *u = m.work + (swapped ? p.v : p.u);
    bool wide = p.in <= p.out;
    float sum[4];
    muon_view a = {u, p.least, wide ? p.out : p.in, wide ? p.out : 1, wide ? 1 : p.out};
    muon_view b = {u, wide ? p.out : p.in, p.least, wide ? 1 : p.out, wide ? p.out : 1};
    muon_product(a, b, tile.i, tile.j, sum);
    int i = tile.i + (int)threadIdx.x / 8;
    for (int c = 0; c < 4; c++) {
        int j = tile.j + 4 * ((int)threadIdx.x % 8) + c;
        if (i < p.least && j < p.least) {
            m.work[p.gram + (size_t)i * p.least + j] = sum[c];
        }
    }
}

static __global__ void __launch_bounds__(256) muon_power(muon_device m)
{
    muon_tile tile = m.gram[blockIdx.x];
    muon_place p = m.place[tile.matrix];
    const float *gram = m.work + p.gram;
    float sum[4];
    muon_view a = {gram, p.least, p.least, p.least, 1};
    muon_product(a, a, tile.i, tile.j, sum);
    int i = tile.i + (int)threadIdx.x / 8;
    for (int c = 0; c < 4; c++) {
        int j = tile.j + 4 * ((int)threadIdx.x % 8) + c;
        if (i < p.least && j < p.least) {
            size_t at = (size_t)i * p.least + j;
            m.work[p.power + at] = 2.0315f * sum[c] - 4.7750f * gram[at];
        }
    }
}

static __global__ void __launch_bounds__(256) muon_turn(muon_device m, bool swapped)
{
    muon_tile tile = m.turn[blockIdx.x];
    muon_place p = m.place[tile.matrix];
    const float *from = m.work + (swapped ? p.v : p.u);
    float *to = m.work + (swapped ? p.u : p.v);
    float sum[4];
    muon_view u = {from, p.in, p.out, p.out, 1};
    muon_view power = {m.work + p.power, p.least, p.least, p.least, 1};
    bool wide = p.in <= p.out;
    muon_product(wide ? power : u, wide ? u : power, tile.i, tile.j, sum);
    int i = tile.i + (int)threadIdx.x / 8;
    for (int c = 0; c < 4; c++) {
        int j = tile.j + 4 * ((int)threadIdx.x % 8) + c;
        if (i < p.in && j < p.out) {
            size_t at = (size_t)i * p.out + j;
            to[at] = 3.4445f * from[at] + sum[c];
        }
    }
}

/* Rounds are odd in number: U is where V was. */
static __global__ void __launch_bounds__(APPLY)
    muon_apply(muon_device m, muon_dials dials, float *parameters, const float *gradient)
{
    size_t n = (size_t)blockIdx.x * APPLY + threadIdx.x;
    if (n >= m.count) {
        return;
    }
    float rate = *dials.rate;
    if (m.matrix[n] >= 0) {
        muon_place p = m.place[m.matrix[n]];
        float u = m.work[p.v + n - p.at];
        parameters[n] = (1 - rate * m.decay) * parameters[n] - rate * p.length * u;
        return;
    }
    float g = gradient[n];
    float mean = 0.9f * m.state[n] + 0.1f * g;
    float square = 0.99f * m.state[m.count + n] + 0.01f * g * g;
    m.state[n] = mean;
    m.state[m.count + n] = square;
    parameters[n] -= *dials.adam_rate * mean / (sqrtf(*dials.adam_correct * square) + 1e-8f);
}

void muon_step(const muon_device *m, muon_dials dials, float *parameters, const float *gradient,
               cudaStream_t stream)
{
    LAUNCH(muon_push, m->matrices, PUSH, 0, stream, *m, gradient);
    for (int k = 0; k < ROUNDS; k++) {
        bool swapped = k % 2 == 1;
        LAUNCH(muon_gram, m->gram_tiles, 256, 0, stream, *m, swapped);
        LAUNCH(muon_power, m->gram_tiles, 256, 0, stream, *m);
        LAUNCH(muon_turn, m->turn_tiles, 256, 0, stream, *m, swapped);
    }
    LAUNCH(muon_apply, (m->count + APPLY - 1) / APPLY, APPLY, 0, stream, *m, dials, parameters,
           gradient);
}
