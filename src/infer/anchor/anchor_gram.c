/* Sums over the targets' rows of every node at once. A row counts for all nodes of its set, so
 *
 *     G_j = sum over pieces p that have j as a target of  Y_p' Y_p :
 *
 * the Gram matrices of a chunk of pieces are formed once, tile by tile, and a matrix product with
 * 0/1 weights (nodes x folds, pieces) adds them up for all nodes: d K r^2 instead of d N r^2
 * operations for K sets. Threads share pieces, then columns; each number is summed in one order.
 */
#include "infer/anchor/anchor_state.h"

#include <cblas.h>
#include <omp.h>
#include <string.h>

enum { COLUMNS = 256 }; /* of a product, per task */

void block_fold(node_block *b)
{
    const row_sets *sets = b->sets;
    size_t d = b->s->d;
    b->pieces = 0;
    for (size_t p = 0; p < sets->pieces; p++) {
        const row_piece *piece = sets->piece + p;
        const uint8_t *target = b->s->design.target + piece->set * d;
        uint8_t *fold = b->fold + b->pieces * b->count;
        bool used = false;
        for (size_t k = 0; k < b->count; k++) {
            size_t j = b->node[k];
            fold[k] = ANCHOR_OUT;
            if (target[j] != 0) {
                size_t part = sets->sets_of[j] > 1 ? sets->fold[piece->set * d + j] : piece->half;
                fold[k] = (uint8_t)(part < b->folds ? part : b->folds - 1);
                used = true;
            }
        }
        if (used) {
            b->piece[b->pieces++] = p;
        }
    }
}

/* Columns first .. first + cols - 1 of the rows of a piece, relative to the centre. */
static void gather(const node_block *b, const row_piece *piece, size_t first, size_t cols,
                   double *out)
{
    size_t r = b->s->rank;
    for (size_t i = 0; i < piece->count; i++) {
        const double *y = b->s->y + b->sets->row[piece->first + i * piece->step] * r + first;
        for (size_t c = 0; c < cols; c++) {
            out[i * cols + c] = y[c] - b->centre[first + c];
        }
    }
}

/* v, or its residual, of the rows of a piece; 0 where the node is not a target. */
static void fill_values(const node_block *b, size_t p, const double *y, double *v, bool residual)
{
    const row_piece *piece = b->sets->piece + b->piece[p];
    const uint8_t *fold = b->fold + p * b->count;
    int n = (int)piece->count;
    int m = (int)b->count;
    int r = (int)b->s->rank;
    if (residual) {
        cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, n, m, r, 1, y, r, b->b, m, 0, v, m);
    }
    for (size_t i = 0; i < piece->count; i++) {
        const double *value =
            design_values(&b->s->design, b->sets->row[piece->first + i * piece->step]);
        for (size_t k = 0; k < b->count; k++) {
            double known = residual ? b->a[k] + v[i * b->count + k] : 0;
            size_t j = b->node[k];
            v[i * b->count + k] = fold[k] != ANCHOR_OUT ? value[j] - b->v_centre[j] - known : 0;
        }
    }
}

/* sum (columns) of the rows of x (rows, columns). */
static void sum_rows(const double *restrict x, size_t rows, size_t columns, double *restrict sum)
{
    memset(sum, 0, columns * sizeof *sum);
    for (size_t i = 0; i < rows; i++) {
        for (size_t c = 0; c < columns; c++) {
            sum[c] += x[i * columns + c];
        }
    }
}

static void sum_squares(const double *restrict x, size_t rows, size_t columns, double *restrict sum)
{
    memset(sum, 0, columns * sizeof *sum);
    for (size_t i = 0; i < rows; i++) {
        for (size_t c = 0; c < columns; c++) {
            sum[c] += x[i * columns + c] * x[i * columns + c];
        }
    }
}

/* Sums of one piece: y into total (r); y v, v, v^2 into part (count, r + 2). */
static void sum_piece(const node_block *b, size_t p, anchor_scratch *w, bool residual, double *part,
                      double *total)
{
    const row_piece *piece = b->sets->piece + b->piece[p];
    size_t r = b->s->rank;
    size_t m = b->count;
    double *sum = w->sums;
    double *squares = w->sums + m;
    gather(b, piece, 0, r, w->y);
    fill_values(b, p, w->y, w->v, residual);
    cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, (int)m, (int)r, (int)piece->count, 1, w->v,
                (int)m, w->y, (int)r, 0, part, (int)(r + 2));
    sum_rows(w->y, piece->count, r, total);
    sum_rows(w->v, piece->count, m, sum);
    sum_squares(w->v, piece->count, m, squares);
    for (size_t k = 0; k < m; k++) {
        part[k * (r + 2) + r] = sum[k];
        part[k * (r + 2) + r + 1] = squares[k];
    }
}

/* Adds pieces first .. first + count - 1 to the sums of node k. */
static void add_pieces(node_block *b, size_t k, size_t first, size_t count, bool residual)
{
    size_t r = b->s->rank;
    for (size_t p = 0; p < count; p++) {
        size_t fold = b->fold[(first + p) * b->count + k];
        if (fold == ANCHOR_OUT) {
            continue;
        }
        size_t at = k * b->folds + (residual ? 0 : fold);
        const double *part = b->parts + (p * b->count + k) * (r + 2);
        double *cross = b->cross + at * (r + 2);
        double *sum = b->sum + at * r;
        b->rows[at] += (double)b->sets->piece[b->piece[first + p]].count;
        for (size_t c = 0; c < r + 2; c++) {
            cross[c] += part[c];
        }
        for (size_t c = 0; c < r; c++) {
            sum[c] += b->totals[p * r + c];
        }
    }
}

void block_moments(node_block *b, bool residual)
{
    size_t r = b->s->rank;
    size_t slots = b->count * b->folds;
    memset(b->rows, 0, slots * sizeof(double));
    memset(b->sum, 0, slots * r * sizeof(double));
    memset(b->cross, 0, slots * (r + 2) * sizeof(double));
#pragma omp parallel if (b->shared)
    for (size_t first = 0; first < b->pieces; first += ANCHOR_CHUNK) {
        size_t count = b->pieces - first < ANCHOR_CHUNK ? b->pieces - first : ANCHOR_CHUNK;
#pragma omp for schedule(dynamic, 4)
        for (size_t p = 0; p < count; p++) {
            sum_piece(b, first + p, b->scratch + omp_get_thread_num(), residual,
                      b->parts + p * b->count * (r + 2), b->totals + p * r);
        }
#pragma omp for schedule(static)
        for (size_t k = 0; k < b->count; k++) {
            add_pieces(b, k, first, count, residual);
        }
    }
}

static size_t width(const node_block *b, size_t t)
{
    size_t left = b->s->rank - t * b->tile;
    return left < b->tile ? left : b->tile;
}

/* Tile (row, col) of one piece. */
static void tile_piece(const node_block *b, size_t p, size_t row, size_t col, anchor_scratch *w,
                       double *out)
{
    const row_piece *piece = b->sets->piece + b->piece[p];
    size_t rows = width(b, row);
    size_t cols = width(b, col);
    const double *right = w->left;
    gather(b, piece, row * b->tile, rows, w->left);
    if (col != row) {
        gather(b, piece, col * b->tile, cols, w->right);
        right = w->right;
    }
    cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, (int)rows, (int)cols, (int)piece->count, 1,
                w->left, (int)rows, right, (int)cols, 0, out, (int)b->tile);
}

static void fill_weights(node_block *b, size_t first, size_t count)
{
    memset(b->weight, 0, b->count * b->folds * ANCHOR_CHUNK * sizeof(double));
    for (size_t p = 0; p < count; p++) {
        for (size_t k = 0; k < b->count; k++) {
            size_t fold = b->fold[(first + p) * b->count + k];
            if (fold != ANCHOR_OUT) {
                b->weight[(k * b->folds + fold) * ANCHOR_CHUNK + p] = 1;
            }
        }
    }
}

/* Adds tile (row, col), number `at`, of pieces first .. first + count - 1; by all threads. */
static void add_tile(node_block *b, size_t row, size_t col, size_t at, size_t first, size_t count)
{
    size_t area = b->tile * b->tile;
#pragma omp for schedule(dynamic, 4)
    for (size_t p = 0; p < count; p++) {
        tile_piece(b, first + p, row, col, b->scratch + omp_get_thread_num(), b->parts + p * area);
    }
#pragma omp for schedule(static)
    for (size_t c = 0; c < area; c += COLUMNS) {
        size_t cols = area - c < COLUMNS ? area - c : COLUMNS;
        cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (int)(b->count * b->folds),
                    (int)cols, (int)count, 1, b->weight, ANCHOR_CHUNK, b->parts + c, (int)area, 1,
                    b->gram + at * area + c, (int)b->span);
    }
}

void block_grams(node_block *b)
{
    memset(b->gram, 0, b->count * b->folds * b->span * sizeof(double));
    for (size_t first = 0; first < b->pieces; first += ANCHOR_CHUNK) {
        size_t count = b->pieces - first < ANCHOR_CHUNK ? b->pieces - first : ANCHOR_CHUNK;
        fill_weights(b, first, count);
#pragma omp parallel if (b->shared)
        for (size_t row = 0, at = 0; row < b->tiles; row++) {
            for (size_t col = row; col < b->tiles; col++, at++) {
                add_tile(b, row, col, at, first, count);
            }
        }
    }
}

void block_unpack(const node_block *b, size_t k, unsigned folds, double *gram)
{
    size_t r = b->s->rank;
    memset(gram, 0, r * r * sizeof(double));
    for (size_t f = 0; f < b->folds; f++) {
        const double *tile = b->gram + (k * b->folds + f) * b->span;
        for (size_t row = 0; (folds >> f & 1U) != 0 && row < b->tiles; row++) {
            for (size_t col = row; col < b->tiles; col++, tile += b->tile * b->tile) {
                double *to = gram + row * b->tile * r + col * b->tile;
                for (size_t i = 0; i < width(b, row); i++) {
                    for (size_t c = 0; c < width(b, col); c++) {
                        to[i * r + c] += tile[i * b->tile + c];
                    }
                }
            }
        }
    }
    for (size_t i = 0; i < r; i++) {
        for (size_t c = 0; c < i; c++) {
            gram[i * r + c] = gram[c * r + i];
        }
    }
}

void block_pack(const node_block *b, size_t k, const double *gram)
{
    size_t r = b->s->rank;
    double *tile = b->gram + k * b->folds * b->span;
    for (size_t row = 0; row < b->tiles; row++) {
        for (size_t col = row; col < b->tiles; col++, tile += b->tile * b->tile) {
            const double *from = gram + row * b->tile * r + col * b->tile;
            for (size_t i = 0; i < width(b, row); i++) {
                memcpy(tile + i * b->tile, from + i * r, width(b, col) * sizeof(double));
            }
        }
    }
}

size_t anchor_slices(size_t rank)
{
    return rank <= ANCHOR_FOLDS_TO ? 16 : 1; /* few tiles: threads share the rows too */
}

/* Tile (row, col) over the kept rows from .. to - 1, added to out (r, r). */
static void tile_rows(const node_block *b, const uint8_t *keep, size_t row, size_t col, size_t from,
                      size_t to, anchor_scratch *w, double *out)
{
    size_t r = b->s->rank;
    size_t rows = width(b, row);
    size_t cols = width(b, col);
    const double *centre = b->centre;
    for (size_t i = from; i < to;) {
        size_t n = 0;
        for (; i < to && n < ANCHOR_PIECE; i++) {
            const double *y = b->s->y + i * r;
            if (keep != NULL && keep[i] == 0) {
                continue;
            }
            for (size_t c = 0; c < rows; c++) {
                w->left[n * rows + c] = y[row * b->tile + c] - centre[row * b->tile + c];
            }
            for (size_t c = 0; c < cols; c++) {
                w->right[n * cols + c] = y[col * b->tile + c] - centre[col * b->tile + c];
            }
            n++;
        }
        cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, (int)rows, (int)cols, (int)n, 1,
                    w->left, (int)rows, w->right, (int)cols, 1,
                    out + row * b->tile * r + col * b->tile, (int)r);
    }
}

void anchor_covariance(const node_block *b, const uint8_t *keep, double rows, double *parts,
                       double *covariance)
{
    size_t r = b->s->rank;
    size_t slices = anchor_slices(r);
    size_t step = b->s->rows / slices + 1;
    size_t tasks = slices * b->tiles * b->tiles;
    memset(parts, 0, slices * r * r * sizeof(double));
#pragma omp parallel for schedule(dynamic, 1) if (b->shared)
    for (size_t task = 0; task < tasks; task++) {
        size_t slice = task % slices;
        size_t row = task / slices / b->tiles;
        size_t col = task / slices % b->tiles;
        size_t from = slice * step;
        size_t to = from + step < b->s->rows ? from + step : b->s->rows;
        if (col >= row && from < to) {
            tile_rows(b, keep, row, col, from, to, b->scratch + omp_get_thread_num(),
                      parts + slice * r * r);
        }
    }
    for (size_t i = 0; i < r; i++) {
        for (size_t c = i; c < r; c++) {
            double sum = 0;
            for (size_t slice = 0; slice < slices; slice++) {
                sum += parts[(slice * r + i) * r + c];
            }
            covariance[i * r + c] = sum / rows;
            covariance[c * r + i] = sum / rows;
        }
    }
}
