/* Messages a_ij to rows and b_ij to columns with
 *   b_ij = theta_ij / sum_(k != j) a_ik,   a_ij = theta_ij / sum_(k != i) b_kj,
 * in which at the fixed point the belief is a_ij / sum_k a_ik = b_ij / sum_k b_kj, and
 *   log perm = sum_i log A_i + sum_j log B_j - sum_ij log(1 + a_ij b_ij / theta_ij)
 *            = sum_j log B_j - (d - 1) sum_i log A_i + sum_ij log(A_i - a_ij)
 * with row sums A_i and column sums B_j: stationary in the messages, so their error enters squared.
 * Beliefs near 1 keep all digits of 1 - b: see `parts`.
 */
#include "infer/ordering/permanent.h"

#include "base/lanes_math.h"
#include "base/simd.h"

/* Messages of a belief that tends to 0 or 1 grow without end; this stops them at exp(+-300), which
 * no sum or product here can turn into an overflow. */
static const double SMALLEST = 5e-131;

void bethe_lay_out(bethe_work *work, arena *a, size_t d)
{
    work->theta = arena_take(a, d * d, sizeof *work->theta);
    work->a = arena_take(a, d * d, sizeof *work->a);
    work->b = arena_take(a, d * d, sizeof *work->b);
    work->row = arena_take(a, d, sizeof *work->row);
    work->column = arena_take(a, d, sizeof *work->column);
    work->largest = arena_take(a, d, sizeof *work->largest);
    work->rest = arena_take(a, d, sizeof *work->rest);
    work->inverse = arena_take(a, d, sizeof *work->inverse);
}

/* theta = exp(t) with rows, then columns divided by their largest entry; a = theta. Returns the sum
 * of logarithms that were taken out. */
LANES_INLINE lanes scale(const lanes *t, size_t d, const bethe_work *work)
{
    lanes taken = lanes_of(0);
    for (size_t i = 0; i < d; i++) {
        lanes top = t[i * d];
        for (size_t j = 1; j < d; j++) {
            top = lanes_max(top, t[i * d + j]);
        }
        work->row[i] = top;
        taken += top;
    }
    for (size_t j = 0; j < d; j++) {
        lanes top = t[j] - work->row[0];
        for (size_t i = 1; i < d; i++) {
            top = lanes_max(top, t[i * d + j] - work->row[i]);
        }
        work->column[j] = top;
        taken += top;
    }
    for (size_t i = 0; i < d; i++) {
        for (size_t j = 0; j < d; j++) {
            lanes scaled = lanes_exp(t[i * d + j] - work->row[i] - work->column[j]);
            work->theta[i * d + j] = scaled;
            work->a[i * d + j] = scaled;
        }
    }
    return taken;
}

/* A sum from which each of its terms can be left out without loss of digits: the largest term is
 * kept apart, and largest - x is exactly 0 for the largest itself. */
typedef struct parts {
    lanes largest, rest;
} parts;

LANES_INLINE void parts_add(parts *sum, lanes x)
{
    lanes larger = lanes_larger(x, sum->largest);
    sum->rest += lanes_smaller(x, sum->largest);
    sum->largest = larger;
}

LANES_INLINE lanes parts_without(parts sum, lanes x)
{
    return (sum.largest - x) + sum.rest + SMALLEST;
}

LANES_INLINE parts row_parts(const lanes *a, size_t d)
{
    parts sum = {lanes_of(0), lanes_of(0)};
    for (size_t j = 0; j < d; j++) {
        parts_add(&sum, a[j]);
    }
    return sum;
}

/* b from a, and the sums of rows of a and of columns of b. */
LANES_INLINE void pass_to_columns(size_t d, const bethe_work *work)
{
    for (size_t i = 0; i < d; i++) {
        parts sum = row_parts(work->a + i * d, d);
        work->row[i] = sum.largest + sum.rest;
        for (size_t k = i * d; k < (i + 1) * d; k++) {
            work->b[k] = work->theta[k] / parts_without(sum, work->a[k]);
        }
    }
    for (size_t j = 0; j < d; j++) {
        parts sum = {lanes_of(0), lanes_of(0)};
        for (size_t i = 0; i < d; i++) {
            parts_add(&sum, work->b[i * d + j]);
        }
        work->largest[j] = sum.largest;
        work->rest[j] = sum.rest;
        work->column[j] = sum.largest + sum.rest;
    }
}

/* a from b, in the lanes of `active`. */
LANES_INLINE void pass_to_rows(size_t d, lanes_mask active, const bethe_work *work)
{
    for (size_t i = 0; i < d; i++) {
        for (size_t j = 0; j < d; j++) {
            size_t k = i * d + j;
            parts sum = {work->largest[j], work->rest[j]};
            lanes next = work->theta[k] / parts_without(sum, work->b[k]);
            work->a[k] = lanes_select(active, next, work->a[k]);
        }
    }
}

/* The largest difference between the two forms of a belief, after pass_to_columns. (Sums of beliefs
 * are right long before the beliefs are, when these tend to 0 or 1.) */
LANES_INLINE lanes disagreement(size_t d, const bethe_work *work)
{
    lanes worst = lanes_of(0);
    for (size_t j = 0; j < d; j++) {
        work->inverse[j] = 1.0 / work->column[j];
    }
    for (size_t i = 0; i < d; i++) {
        lanes inverse = 1.0 / work->row[i];
        for (size_t j = 0; j < d; j++) {
            size_t k = i * d + j;
            lanes difference = work->a[k] * inverse - work->b[k] * work->inverse[j];
            worst = lanes_larger(lanes_abs(difference), worst);
        }
    }
    return worst;
}

/* The value, less what was taken out, and the beliefs; after pass_to_columns. */
LANES_INLINE lanes log_permanent(size_t d, const bethe_work *work, lanes *belief)
{
    lanes sum = lanes_of(0);
    for (size_t i = 0; i < d; i++) {
        parts row = row_parts(work->a + i * d, d);
        lanes inverse = 1.0 / work->row[i];
        sum += lanes_log(work->column[i]) - (double)(d - 1) * lanes_log(work->row[i]);
        for (size_t k = i * d; k < (i + 1) * d; k++) {
            sum += lanes_log(parts_without(row, work->a[k]));
            belief[k] = work->a[k] * inverse;
        }
    }
    return sum;
}

CLONED static double bethe_permanent_eight(const lanes *t, size_t d, size_t iterations,
                                           lanes *value, lanes *belief, const bethe_work *work)
{
    lanes taken = scale(t, d, work);
    pass_to_columns(d, work);
    lanes worst = disagreement(d, work);
    for (size_t n = 0; n < iterations; n++) {
        lanes_mask active = lanes_less(lanes_of(PERMANENT_TOLERANCE), worst);
        if (!lanes_any(active)) {
            break;
        }
        pass_to_rows(d, active, work);
        pass_to_columns(d, work);
        worst = disagreement(d, work);
    }
    lanes logarithm = taken + log_permanent(d, work, belief);
    *value = logarithm;
    return lanes_largest(worst + 0.0 * logarithm); /* NaN where the value is */
}

/* Clones stay static: their resolvers would be seen outside the library. */
double bethe_permanent(const lanes *t, size_t d, size_t iterations, lanes *value, lanes *belief,
                       const bethe_work *work)
{
    return bethe_permanent_eight(t, d, iterations, value, belief, work);
}
