/* Many labels, m landmarks M. With K_MM + jitter I = L L', v_i = L^-1 k_M(f_i) and
 *
 *     w_i = 1 / (ridge + 1 - v_i'v_i),
 *     B_j = sum w_i v_i v_i',  g_j = sum w_i v_i y_i  over the labels of node j,
 *     (B_j + I) b = g_j,   alpha = L'^-1 b,   y'alpha = sum w_i y_i^2 - g'b,
 *
 * which is kernel ridge regression with k replaced by k_M K_MM^-1 k_M' except on the diagonal: what
 * the landmarks miss of a row counts as noise of its label (Snelson and Ghahramani, FITC). Without
 * that, 4 000 landmarks and 5 000 labels of a node fit the labels and nothing else. With M all
 * labels it is the exact solution. The ridge is at least 1e-3 (kernel_nystroem_ridge): landmarks
 * are known exactly, and weights of 1e5 would leave nothing of the others in float32. Rows come in
 * blocks; the products of a block are float32, their
 * sums are double (the largest eigenvalue of B grows with the number of rows, the smallest hardly
 * does), and b is refined three times with them. B_j is kept in tiles on and below the diagonal:
 * 4 d m^2 bytes.
 */
#include "base/tuned.h"
#include "infer/kernel/kernel_cholesky.h"
#include "infer/kernel/kernel_parts.h"

#include <cblas.h>
#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

enum { TILE = 256, BLOCK = 1024, CHUNK = 64 };
static const double BYTES = 1e9; /* for all B */

struct kernel_nystroem {
    const kernel_inputs *in;
    size_t d, m, tiles; /* tiles: in a row */
    float *l;           /* (m, m): L */
    double *b;          /* (d, tiles (tiles + 1) / 2, TILE, TILE) */
    double *g;          /* (d, m) */
    double *squares;    /* (d): sum w y^2 */
    size_t *rows;       /* (d): added so far */
    uint32_t *row;      /* (BLOCK): of f */
    kernel_points p;    /* (BLOCK) */
    float *v;           /* (BLOCK, m) */
    float *own;         /* (BLOCK, m): those of one node */
    double *weight;     /* (BLOCK): sqrt(w) */
    double *y;          /* (BLOCK): sqrt(w) y */
    float *product;     /* (threads, TILE, TILE) */
    float *a;           /* (m, m): B + I, its factor */
    float *step;        /* (m) */
    double *x, *left;   /* (m): b; what is left of g */
    double *back;       /* (m): the last step of b */
    arena memory;
};

size_t kernel_nystroem_most(size_t d)
{
    double m = sqrt(BYTES / 4 / (double)(d > 0 ? d : 1));
    size_t most = tuned_kernel_landmarks();
    return m < (double)most ? (size_t)m : most;
}

double kernel_nystroem_ridge(double ridge)
{
    return ridge > tuned_kernel_landmark_ridge() ? ridge : tuned_kernel_landmark_ridge();
}

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

static size_t tile_size(const kernel_nystroem *w)
{
    return w->tiles * (w->tiles + 1) / 2 * TILE * TILE;
}

static void lay_out(kernel_nystroem *w, arena *a)
{
    size_t m = w->m;
    w->l = arena_take(a, m * m, sizeof(float));
    w->b = arena_take(a, w->d * tile_size(w), sizeof(double));
    w->g = arena_take(a, w->d * m, sizeof(double));
    w->squares = arena_take(a, w->d, sizeof(double));
    w->rows = arena_take(a, w->d, sizeof *w->rows);
    w->row = arena_take(a, BLOCK, sizeof *w->row);
    w->p.unit = arena_take(a, BLOCK * w->p.k, sizeof(double));
    w->p.radius = arena_take(a, BLOCK, sizeof(double));
    w->v = arena_take(a, BLOCK * m, sizeof(float));
    w->own = arena_take(a, BLOCK * m, sizeof(float));
    w->y = arena_take(a, BLOCK, sizeof(double));
    w->weight = arena_take(a, BLOCK, sizeof(double));
    w->product = arena_take(a, (size_t)omp_get_max_threads() * TILE * TILE, sizeof(float));
    w->a = arena_take(a, m * m, sizeof(float));
    w->step = arena_take(a, m, sizeof(float));
    w->x = arena_take(a, m, sizeof(double));
    w->left = arena_take(a, m, sizeof(double));
    w->back = arena_take(a, m, sizeof(double));
}

static bool factor_landmarks(kernel_nystroem *w, double jitter)
{
    kernel_triangle(&w->in->points, w->in->cosine, w->l, w->m);
    for (size_t i = 0; i < w->m; i++) {
        w->l[i * w->m + i] = (float)(1 + jitter);
    }
    return kernel_cholesky(w->l, w->m);
}

lscm_status kernel_nystroem_open(kernel_nystroem **out, const kernel_inputs *in, size_t d,
                                 lscm_error *why)
{
    lscm_status status = LSCM_OK;
    kernel_nystroem *w = calloc(1, sizeof *w);
    if (w == NULL) {
        return fail_memory(why, sizeof *w);
    }
    *w = (kernel_nystroem){.in = in, .d = d, .m = in->m, .tiles = (in->m + TILE - 1) / TILE};
    w->p.k = in->points.k;
    lay_out(w, &w->memory);
    TRY(arena_open(&w->memory, why));
    lay_out(w, &w->memory);
    double jitter = tuned_kernel_jitter();
    while (!factor_landmarks(w, jitter) && jitter < 1) {
        jitter *= 10;
    }
    *out = w;
    w = NULL;
done:
    kernel_nystroem_close(w);
    return status;
}

void kernel_nystroem_close(kernel_nystroem *w)
{
    if (w != NULL) {
        arena_close(&w->memory);
        free(w);
    }
}

/* ---- Adding rows ---- */

/* v of the rows of the block, times sqrt(w) */
static void project(kernel_nystroem *w, const kernel_encoder *e, const features *f, double ridge)
{
    size_t m = w->m;
    kernel_points_of(&e->space, f->f, w->row, &w->p);
    kernel_matrix(&w->p, &w->in->points, w->in->cosine, w->v);
#pragma omp parallel for schedule(dynamic)
    for (size_t first = 0; first < w->p.n; first += CHUNK) {
        size_t rows = least(w->p.n - first, CHUNK);
        kernel_cholesky_rows(w->l, m, rows, w->v + first * m);
        for (size_t i = first; i < first + rows; i++) {
            float *v = w->v + i * m;
            double known = (double)cblas_sdot((int)m, v, 1, v, 1);
            w->weight[i] = 1 / sqrt(ridge + fmax(1 - known, 0));
            cblas_sscal((int)m, (float)w->weight[i], v, 1);
        }
    }
}

/* B_j += own' own, g_j += own' y for n rows of one node */
static void add_products(kernel_nystroem *w, size_t j, size_t n)
{
    size_t m = w->m;
    size_t count = w->tiles * (w->tiles + 1) / 2;
    double *b = w->b + j * tile_size(w);
    double *g = w->g + j * m;
#pragma omp parallel for schedule(dynamic)
    for (size_t tile = 0; tile < count; tile++) {
        size_t down = 0;
        while ((down + 1) * (down + 2) / 2 <= tile) {
            down++;
        }
        size_t across = tile - down * (down + 1) / 2;
        size_t rows = least(m - down * TILE, TILE);
        size_t columns = least(m - across * TILE, TILE);
        float *product = w->product + (size_t)omp_get_thread_num() * TILE * TILE;
        double *to = b + tile * TILE * TILE;
        cblas_sgemm(CblasRowMajor, CblasTrans, CblasNoTrans, (int)rows, (int)columns, (int)n, 1,
                    w->own + down * TILE, (int)m, w->own + across * TILE, (int)m, 0, product, TILE);
        for (size_t i = 0; i < rows; i++) {
            for (size_t c = 0; c < columns; c++) {
                to[i * TILE + c] += (double)product[i * TILE + c];
            }
        }
        for (size_t i = 0; i < n && across == down; i++) {
            const float *v = w->own + i * m + down * TILE;
            for (size_t c = 0; c < rows; c++) {
                g[down * TILE + c] += w->y[i] * (double)v[c];
            }
        }
    }
}

static void add_node(kernel_nystroem *w, const kernel_encoder *e, const kernel_labels *l, size_t j,
                     unsigned role)
{
    const features *f = l->f;
    size_t n = 0;
    for (size_t i = 0; i < w->p.n; i++) {
        size_t at = (size_t)w->row[i] * f->d + j;
        if (l->role[at] == role) {
            double v = design_value(&f->design, w->row[i], j);
            w->y[n] = w->weight[i] * (v - e->shift[j]) / w->p.radius[i];
            w->squares[j] += w->y[n] * w->y[n];
            memcpy(w->own + n * w->m, w->v + i * w->m, w->m * sizeof *w->v);
            n++;
        }
    }
    w->rows[j] += n;
    if (n > 0) {
        add_products(w, j, n);
    }
}

lscm_status kernel_nystroem_add(kernel_nystroem *w, const kernel_encoder *e, const kernel_labels *l,
                                unsigned role, double ridge, const lscm_progress *progress,
                                lscm_error *why)
{
    lscm_status status = LSCM_OK;
    const features *f = l->f;
    w->p.n = 0;
    for (size_t row = 0; row < f->rows; row++) {
        if (memchr(l->role + row * f->d, (int)role, f->d) != NULL) {
            w->row[w->p.n++] = (uint32_t)row;
        }
        if (w->p.n > 0 && (w->p.n == BLOCK || row + 1 == f->rows)) {
            TRY(kernel_told(progress, "encoding", row, f->rows, why));
            project(w, e, f, ridge);
            for (size_t j = 0; j < f->d; j++) {
                add_node(w, e, l, j, role);
            }
            w->p.n = 0;
        }
    }
done:
    return status;
}

/* ---- Solving ---- */

/* a = B_j + I, lower triangle, as float */
static void put_square(kernel_nystroem *w, size_t j)
{
    const double *b = w->b + j * tile_size(w);
#pragma omp parallel for schedule(dynamic, 16)
    for (size_t i = 0; i < w->m; i++) {
        size_t down = i / TILE;
        for (size_t c = 0; c <= i; c++) {
            size_t tile = down * (down + 1) / 2 + c / TILE;
            w->a[i * w->m + c] = (float)b[(tile * TILE + i % TILE) * TILE + c % TILE];
        }
        w->a[i * w->m + i] += 1;
    }
}

/* left = g - (B + I) x */
static void residual(kernel_nystroem *w, size_t j)
{
    const double *b = w->b + j * tile_size(w);
    for (size_t i = 0; i < w->m; i++) {
        w->left[i] = w->g[j * w->m + i] - w->x[i];
    }
    for (size_t down = 0; down < w->tiles; down++) {
        int rows = (int)least(w->m - down * TILE, TILE);
        double *own = w->left + down * TILE;
        for (size_t across = 0; across < down; across++) {
            const double *tile = b + (down * (down + 1) / 2 + across) * TILE * TILE;
            cblas_dgemv(CblasRowMajor, CblasNoTrans, rows, TILE, -1, tile, TILE,
                        w->x + across * TILE, 1, 1, own, 1);
            cblas_dgemv(CblasRowMajor, CblasTrans, rows, TILE, -1, tile, TILE, w->x + down * TILE,
                        1, 1, w->left + across * TILE, 1);
        }
        cblas_dsymv(CblasRowMajor, CblasLower, rows, -1,
                    b + (down * (down + 1) / 2 + down) * TILE * TILE, TILE, w->x + down * TILE, 1,
                    1, own, 1);
    }
}

static void solve_node(kernel_nystroem *w, kernel_encoder *e, size_t j, double ridge)
{
    size_t m = w->m;
    e->unit[j] = 0;
    e->ridge[j] = ridge;
    put_square(w, j);
    bool solved = kernel_cholesky(w->a, m);
    double before = INFINITY; /* size of what is left */
    memset(w->x, 0, m * sizeof *w->x);
    for (size_t round = 0; round <= tuned_kernel_refined() && solved; round++) {
        residual(w, j);
        double size = cblas_dnrm2((int)m, w->left, 1);
        if (!(size < before)) { /* the last step was none */
            cblas_daxpy((int)m, -1, w->back, 1, w->x, 1);
            break;
        }
        before = size;
        for (size_t i = 0; i < m; i++) {
            w->step[i] = (float)w->left[i];
        }
        kernel_cholesky_solve(w->a, m, w->step);
        for (size_t i = 0; i < m; i++) {
            w->back[i] = (double)w->step[i];
            w->x[i] += w->back[i];
        }
    }
    double left = w->squares[j] - cblas_ddot((int)m, w->g + j * m, 1, w->x, 1);
    if (solved && w->rows[j] > 0) {
        e->unit[j] = sqrt(fmax(left, 0) / (double)w->rows[j]);
    }
    for (size_t i = 0; i < m; i++) {
        w->step[i] = (float)w->x[i];
    }
    cblas_strsv(CblasRowMajor, CblasLower, CblasTrans, CblasNonUnit, (int)m, w->l, (int)m, w->step,
                1);
    for (size_t i = 0; i < m; i++) {
        e->alpha[i * e->d + j] = w->step[i];
    }
}

lscm_status kernel_nystroem_solve(kernel_nystroem *w, kernel_encoder *e, const kernel_labels *l,
                                  double ridge, const lscm_progress *progress, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    for (size_t j = 0; j < e->d; j++) {
        TRY(kernel_told(progress, "encoding", j, e->d, why));
        if (l->usable[j]) {
            solve_node(w, e, j, ridge);
        }
    }
done:
    return status;
}
