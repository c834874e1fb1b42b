/* With rows normalised, P_ij = exp(s_ij + g_j) / sum_k exp(s_ik + g_k), the columns sum to 1 where
 *   phi(g) = sum_i log sum_j exp(s_ij + g_j) - sum_j g_j
 * is least: convex, gradient c - 1 (c the column sums), Hessian H = diag(c) - P'P. Off its diagonal
 * H is negative and its rows sum to 0: a graph Laplacian with weights P'P, solved without a single
 * subtraction (Grassmann, Taksar & Heyman 1985), so that weak couplings keep all their digits.
 *
 * |phi'''| <= r phi'' along a step of range r, hence log(1 + r)/r of Newton's step always descends;
 * it is doubled while the slope stays negative, which walks down exponential tails fast. Wide
 * logits are first flattened, then brought back by factors of four. Backward: ds_ij = P_ij (dp_ij -
 * alpha_i - beta_j),  a_i = sum_j P_ij dp_ij,  alpha = a - P beta, H beta = sum_i P_ij (dp_ij -
 * a_i): the projection of dp on what leaves all sums alone.
 */
#include "infer/ordering/sinkhorn.h"

#include "base/lanes_math.h"
#include "base/simd.h"

enum { SWEEPS = 6, DOUBLINGS = 10, TILE = 4 };

/* Rounding errors of 1e-16 in c, divided by the coupling of a column to the rest, must not look
 * like a wish to move. */
static const double WEAKEST_COUPLING = 1e-13;
/* In the adjoint they must not grow to numbers whose difference is then taken. */
static const double WEAKEST_ADJOINT = 1e-16;
/* Numbers below 1e-308 are lost in P; before g has moved so far that they would count, P is made
 * afresh from s. */
static const double FARTHEST = 200;
/* Logits with a wider range than FLAT start flattened to it, and steepen by FASTER whenever the
 * columns are right to ROUGHLY. */
static const double FLAT = 20;
static const double FASTER = 4;
static const double ROUGHLY = 0.1;

void sinkhorn_lay_out(sinkhorn_work *work, arena *a, size_t d)
{
    work->weight = arena_take(a, d * d, sizeof *work->weight);
    work->pivot = arena_take(a, d, sizeof *work->pivot);
    work->column = arena_take(a, d, sizeof *work->column);
    work->g = arena_take(a, d, sizeof *work->g);
    work->step = arena_take(a, d, sizeof *work->step);
    work->scale = arena_take(a, d, sizeof *work->scale);
    work->right = arena_take(a, d, sizeof *work->right);
}

/* p_ij <- p_ij scale_j / (sum of row i), in the lanes of `active`; column = sums of columns. */
LANES_INLINE void rescale(lanes *p, const lanes *scale, size_t d, lanes_mask active, lanes *column)
{
    for (size_t j = 0; j < d; j++) {
        column[j] = lanes_of(0);
    }
    for (size_t i = 0; i < d; i++) {
        lanes *row = p + i * d;
        lanes sum = lanes_of(0);
        for (size_t j = 0; j < d; j++) {
            sum += row[j] * scale[j];
        }
        lanes inverse = lanes_select(active, 1.0 / sum, lanes_of(1));
        for (size_t j = 0; j < d; j++) {
            row[j] *= scale[j] * inverse;
            column[j] += row[j];
        }
    }
}

/* p = exp(steep s + g) with rows that sum to 1, and its column sums, in the lanes of `stale`. */
LANES_INLINE void refresh(const lanes *s, lanes steep, size_t d, lanes_mask stale, lanes *p,
                          const sinkhorn_work *work)
{
    const lanes *g = work->g;
    for (size_t i = 0; i < d; i++) {
        const lanes *row = s + i * d;
        lanes top = steep * row[0] + g[0];
        for (size_t j = 1; j < d; j++) {
            top = lanes_larger(steep * row[j] + g[j], top);
        }
        for (size_t j = 0; j < d; j++) {
            lanes fresh = lanes_exp(steep * row[j] + g[j] - top);
            p[i * d + j] = lanes_select(stale, fresh, p[i * d + j]);
        }
        work->scale[i] = lanes_of(1);
    }
    rescale(p, work->scale, d, stale, work->column);
}

/* Four columns side by side, so that most operands of long sums are in registers; at the edge the
 * last column is repeated. */
typedef struct tile {
    size_t column[TILE];
} tile;

LANES_INLINE tile tile_at(size_t first, size_t d)
{
    tile at;
    for (size_t b = 0; b < TILE; b++) {
        at.column[b] = first + b < d ? first + b : d - 1;
    }
    return at;
}

/* weight_jk = sum_i p_ij p_ik for j < k (and a few for j = k). */
LANES_INLINE void couple(const lanes *p, size_t d, lanes *weight)
{
    for (size_t j = 0; j + 1 < d; j += 2) {
        for (size_t k = j + 1; k < d; k += TILE) {
            tile at = tile_at(k, d);
            lanes sum[2][TILE] = {{{0}}};
            for (size_t i = 0; i < d; i++) {
                const lanes *row = p + i * d;
                for (size_t b = 0; b < TILE; b++) {
                    sum[0][b] += row[j] * row[at.column[b]];
                    sum[1][b] += row[j + 1] * row[at.column[b]];
                }
            }
            for (size_t b = 0; b < TILE; b++) {
                weight[j * d + at.column[b]] = sum[0][b];
                weight[(j + 1) * d + at.column[b]] = sum[1][b];
            }
        }
    }
}

/* Solves the Laplacian system (weakest + sum_k weight_jk) x_j - sum_k weight_jk x_k = right_j,
 * x_(d-1) = 0. Row k of the elimination is made when its turn comes,
 *   weight_kj += sum_(m < k) share_mk weight_mj,  share_mk = weight_mk / pivot_m,
 * with the shares below the diagonal; every pivot is a sum of positive numbers. Destroys weight and
 * right. */
LANES_INLINE void solve(lanes *weight, lanes *right, size_t d, double weakest, lanes *pivot,
                        lanes *x)
{
    for (size_t k = 0; k + 1 < d; k++) {
        lanes *row = weight + k * d;
        lanes total = lanes_of(weakest);
        for (size_t m = 0; m < k; m++) {
            right[k] += row[m] * right[m];
        }
        for (size_t j = k + 1; j < d; j += TILE) {
            tile at = tile_at(j, d);
            lanes sum[TILE] = {{0}};
            for (size_t m = 0; m < k; m++) {
                for (size_t b = 0; b < TILE; b++) {
                    sum[b] += row[m] * weight[m * d + at.column[b]];
                }
            }
            for (size_t b = 0; b < TILE && j + b < d; b++) {
                row[j + b] += sum[b];
                total += row[j + b];
            }
        }
        pivot[k] = 1.0 / total;
        for (size_t j = k + 1; j < d; j++) {
            weight[j * d + k] = row[j] * pivot[k];
        }
    }
    x[d - 1] = lanes_of(0);
    for (size_t k = d - 1; k-- > 0;) {
        lanes sum = right[k];
        for (size_t j = k + 1; j < d; j++) {
            sum += weight[k * d + j] * x[j];
        }
        x[k] = sum * pivot[k];
    }
}

/* The slope of phi along `step` where p has been rescaled: sum_j step_j (c_j - 1). */
LANES_INLINE lanes slope_at(const lanes *p, const lanes *scale, const lanes *step, size_t d)
{
    lanes slope = lanes_of(0);
    for (size_t i = 0; i < d; i++) {
        lanes sum = lanes_of(0);
        lanes moment = lanes_of(0);
        for (size_t j = 0; j < d; j++) {
            lanes scaled = p[i * d + j] * scale[j];
            sum += scaled;
            moment += scaled * step[j];
        }
        slope += moment / sum - step[i];
    }
    return slope;
}

LANES_INLINE lanes worst_error(const lanes *column, size_t d)
{
    lanes worst = lanes_of(0);
    for (size_t j = 0; j < d; j++) {
        worst = lanes_max(worst, lanes_abs(column[j] - 1.0));
    }
    return worst;
}

/* Sweeps that normalise columns, then rows. Returns how far g has moved. */
LANES_INLINE lanes sweep(lanes *p, size_t d, const sinkhorn_work *work)
{
    const lanes_mask all = (lanes_mask){0} == 0;
    lanes *product = work->right; /* of all scales */
    for (size_t j = 0; j < d; j++) {
        product[j] = lanes_of(1);
    }
    for (size_t sweeps = 0; sweeps < SWEEPS; sweeps++) {
        for (size_t j = 0; j < d; j++) {
            work->scale[j] = 1.0 / lanes_max(work->column[j], lanes_of(1e-40));
            product[j] *= work->scale[j];
        }
        rescale(p, work->scale, d, all, work->column);
    }
    lanes moved = lanes_of(0);
    for (size_t j = 0; j < d; j++) {
        lanes by = lanes_log(product[j]);
        work->g[j] += by;
        moved = lanes_max(moved, lanes_abs(by));
    }
    return moved;
}

/* Newton's step, centred, safely shortened or lengthened, and done to g. In `active` lanes; the
 * others step by 0. Leaves exp(step) in scale and returns how far g moves. */
LANES_INLINE lanes choose_step(const lanes *p, size_t d, lanes_mask active,
                               const sinkhorn_work *work)
{
    lanes *step = work->step;
    lanes least = lanes_of(0);
    lanes most = lanes_of(0);
    for (size_t j = 0; j < d; j++) {
        least = lanes_min(least, step[j]);
        most = lanes_max(most, step[j]);
    }
    lanes range = most - least;
    active &= lanes_less(lanes_of(0), range);
    /* log(1 + r)/r is 1 - r/2 to rounding where r is small and the quotient would lose digits */
    lanes length = lanes_select(lanes_less(lanes_of(1e-8), range), lanes_log(1.0 + range), range);
    lanes t = lanes_select(active, length / range, lanes_of(0));
    for (size_t j = 0; j < d; j++) {
        step[j] = lanes_select(active, (step[j] - 0.5 * (most + least)) * t, lanes_of(0));
        work->scale[j] = lanes_exp(step[j]);
    }
    length = lanes_select(active, length, lanes_of(0));
    /* steps much smaller than 1 are as good as exact */
    lanes_mask growing = active & lanes_less(lanes_of(0.5), length);
    for (size_t k = 0; k < DOUBLINGS; k++) {
        growing &= lanes_less(length, lanes_of(FARTHEST / 2));
        if (!lanes_any(growing)) {
            break;
        }
        for (size_t j = 0; j < d; j++) {
            lanes once = work->scale[j];
            work->right[j] = lanes_select(growing, once * once, once);
        }
        growing &= lanes_less(slope_at(p, work->right, step, d), lanes_of(0));
        for (size_t j = 0; j < d; j++) {
            work->scale[j] = lanes_select(growing, work->right[j], work->scale[j]);
            step[j] = lanes_select(growing, step[j] + step[j], step[j]);
        }
        length = lanes_select(growing, length + length, length);
    }
    for (size_t j = 0; j < d; j++) {
        work->g[j] += step[j];
    }
    return length;
}

/* A start: the largest entry of every column is 1, logits flattened where they are wide, sweeps.
 * Returns how far g has moved since P was made. */
LANES_INLINE lanes start(const lanes *s, size_t d, lanes *steep, lanes *p,
                         const sinkhorn_work *work)
{
    const lanes_mask all = (lanes_mask){0} == 0;
    lanes most = s[0];
    lanes least = s[0];
    for (size_t j = 0; j < d; j++) {
        lanes top = s[j];
        for (size_t i = 0; i < d; i++) {
            top = lanes_larger(s[i * d + j], top);
            least = lanes_min(least, s[i * d + j]);
        }
        most = lanes_larger(top, most);
        work->g[j] = -top;
    }
    lanes range = most - least;
    *steep = lanes_select(lanes_less(lanes_of(FLAT), range), FLAT / range, lanes_of(1));
    for (size_t j = 0; j < d; j++) {
        work->g[j] *= *steep;
    }
    refresh(s, *steep, d, all, p, work);
    return sweep(p, d, work);
}

/* Steepens the logits in the lanes of `ready`: g is in their units. */
LANES_INLINE lanes steepen(lanes steep, size_t d, lanes_mask ready, const sinkhorn_work *work)
{
    const lanes one = lanes_of(1);
    lanes next = lanes_select(ready, lanes_min(steep * FASTER, one), steep);
    lanes ratio = lanes_select(ready, next / steep, one);
    for (size_t j = 0; j < d; j++) {
        work->g[j] *= ratio;
    }
    return next;
}

CLONED static double forward_eight(const lanes *s, size_t d, lanes *p, const sinkhorn_work *work)
{
    const lanes one = lanes_of(1);
    lanes steep = one; /* the logits are steep * s */
    lanes moved = start(s, d, &steep, p, work);
    lanes worst = worst_error(work->column, d);
    for (size_t steps = 0; steps < SINKHORN_STEPS; steps++) {
        lanes_mask ready = lanes_less(steep, one) & lanes_less(worst, lanes_of(ROUGHLY));
        lanes_mask stale = lanes_less(lanes_of(FARTHEST), moved) | ready;
        if (lanes_any(stale)) {
            steep = steepen(steep, d, ready, work);
            refresh(s, steep, d, stale, p, work);
            moved = lanes_select(stale, lanes_of(0), moved);
            worst = worst_error(work->column, d);
        }
        lanes_mask active =
            lanes_less(lanes_of(SINKHORN_TOLERANCE), worst) | lanes_less(steep, one);
        if (!lanes_any(active)) {
            break;
        }
        for (size_t j = 0; j < d; j++) {
            work->right[j] = 1.0 - work->column[j];
        }
        couple(p, d, work->weight);
        solve(work->weight, work->right, d, WEAKEST_COUPLING, work->pivot, work->step);
        moved += choose_step(p, d, active, work);
        rescale(p, work->scale, d, active, work->column);
        worst = worst_error(work->column, d);
    }
    return lanes_largest(worst);
}

/* Clones stay static: their resolvers would be seen outside the library. */
double sinkhorn_forward(const lanes *s, size_t d, lanes *p, const sinkhorn_work *work)
{
    return forward_eight(s, d, p, work);
}

CLONED static void backward_eight(const lanes *p, const lanes *dp, size_t d, lanes *ds,
                                  const sinkhorn_work *work)
{
    lanes *mean = work->g;    /* a_i = sum_j P_ij dp_ij */
    lanes *beta = work->step; /* (d) */
    for (size_t j = 0; j < d; j++) {
        work->right[j] = lanes_of(0);
    }
    for (size_t i = 0; i < d; i++) {
        lanes sum = lanes_of(0);
        for (size_t j = 0; j < d; j++) {
            sum += p[i * d + j] * dp[i * d + j];
        }
        mean[i] = sum;
        for (size_t j = 0; j < d; j++) {
            work->right[j] += p[i * d + j] * (dp[i * d + j] - sum);
        }
    }
    couple(p, d, work->weight);
    solve(work->weight, work->right, d, WEAKEST_ADJOINT, work->pivot, beta);
    for (size_t i = 0; i < d; i++) {
        lanes alpha = mean[i];
        for (size_t j = 0; j < d; j++) {
            alpha -= p[i * d + j] * beta[j];
        }
        for (size_t j = 0; j < d; j++) {
            ds[i * d + j] = p[i * d + j] * (dp[i * d + j] - alpha - beta[j]);
        }
    }
}

/* Clones stay static: their resolvers would be seen outside the library. */
void sinkhorn_backward(const lanes *p, const lanes *dp, size_t d, lanes *ds,
                       const sinkhorn_work *work)
{
    backward_eight(p, dp, d, ds, work);
}
