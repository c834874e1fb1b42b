/* See order_sums.h. Eight sets that differ in nodes 0 to 2 are summed side by side over the other
 * nodes, then one after the other over these three. */
#include "infer/graph/order_sums.h"

#include "base/simd.h"
#include "infer/graph/subset_lanes.h"
#include "infer/graph/subset_sums.h"

#include <string.h>

enum { LOW = SUBSET_LOW, MOST = 32 };

void order_sums_lay_out(order_sums *sums, arena *a, size_t d)
{
    sums->d = d;
    sums->total = arena_take(a, d, sizeof *sums->total);
    sums->forward = arena_take(a, subset_entries(d), sizeof *sums->forward);
    sums->backward = arena_take(a, subset_entries(d), sizeof *sums->backward);
    sums->before = arena_take(a, d, sizeof *sums->before);
    for (size_t i = 0; i < d; i++) {
        double *table = arena_take(a, subset_entries(d - 1), sizeof *table);
        if (sums->total != NULL) {
            sums->total[i] = table;
        }
    }
}

/* What node i, last of `with`, or next after `without`, adds: the two sets differ in i. */
static inline double term(const order_sums *sums, const double *value, size_t set, size_t i,
                          bool forward)
{
    size_t without = set & ~((size_t)1 << i);
    size_t from = forward ? without : set | (size_t)1 << i;
    return value[from] + sums->total[i][mask_without(without, i)];
}

static double log_sum(const double *x, size_t n)
{
    double top = x[0];
    for (size_t k = 1; k < n; k++) {
        top = x[k] > top ? x[k] : top;
    }
    if (!(top > -INFINITY)) {
        return top;
    }
    double sum = 0;
    for (size_t k = 0; k < n; k++) {
        sum += exp(x[k] - top);
    }
    return top + log(sum);
}

/* Eight sets from `base` on, over the nodes in `high`. */
LANES_INLINE lanes sum_high(const order_sums *sums, const double *value, size_t base, size_t high,
                            bool forward)
{
    lanes x[MOST];
    size_t n = 0;
    lanes top = lanes_of(-DBL_MAX);
    for (size_t left = high; left != 0; left &= left - 1) {
        size_t i = (size_t)__builtin_ctzll(left);
        size_t without = base & ~((size_t)1 << i);
        size_t from = forward ? without : base | (size_t)1 << i;
        x[n] = *(const lanes *)(const void *)(value + from) +
               *(const lanes *)(const void *)(sums->total[i] + mask_without(without, i));
        top = lanes_larger(x[n], top);
        n++;
    }
    lanes sum = lanes_of(0);
    for (size_t k = 0; k < n; k++) {
        sum += lanes_exp(x[k] - top);
    }
    lanes result = top + lanes_log(lanes_larger(sum, lanes_of(DBL_MIN)));
    return lanes_select(lanes_less(lanes_of(0), sum), result, lanes_of(-INFINITY));
}

/* Whether nothing comes in the way of orders that begin with `base` and some of the nodes in `low`.
 */
static bool may_begin(const order_sums *sums, size_t base, size_t low)
{
    size_t missing = 0;
    for (size_t left = base; left != 0; left &= left - 1) {
        missing |= sums->before[__builtin_ctzll(left)];
    }
    return (missing & ~(base | low)) == 0;
}

/* forward: value(S) over i in S, from the empty set; else over i not in S, from the full one. */
CLONED static void run(const order_sums *sums, double *value, bool forward)
{
    size_t d = sums->d;
    size_t all = ((size_t)1 << d) - 1;
    size_t low = d < LOW ? d : LOW;
    size_t low_mask = ((size_t)1 << low) - 1;
    for (size_t step = 0; step <= all >> low; step++) {
        size_t base = (forward ? step : (all >> low) - step) << low;
        size_t members = forward ? base : all & ~base;
        if (!may_begin(sums, base, low_mask)) {
            for (size_t k = 0; k <= low_mask; k++) {
                value[base + k] = -INFINITY;
            }
            continue;
        }
        lanes sum = sum_high(sums, value, base, members & ~low_mask, forward);
        for (size_t k = 0; k <= low_mask; k++) {
            size_t lane = forward ? k : low_mask - k;
            size_t set = base | lane;
            double x[LOW + 1] = {sum[lane]};
            size_t n = 1;
            for (size_t i = 0; i < low; i++) {
                if ((lane >> i & 1) == (size_t)forward) {
                    x[n++] = term(sums, value, set, i, forward);
                }
            }
            value[set] = set == (forward ? 0 : all) ? 0 : log_sum(x, n);
        }
    }
}

void order_sums_run(const order_sums *sums, bool forward, bool backward, int threads)
{
#pragma omp parallel sections num_threads(threads < 2 || !backward || !forward ? 1 : 2)
    {
#pragma omp section
        if (forward) {
            run(sums, sums->forward, true);
        }
#pragma omp section
        if (backward) {
            run(sums, sums->backward, false);
        }
    }
}

/* forward(U) + backward(U + i) of eight U from `base` on, masks without i. */
LANES_INLINE lanes before_and_after(const order_sums *sums, size_t i, size_t base, size_t size)
{
    lanes x = lanes_of(-INFINITY);
    if (i >= LOW && size >= LANES) {
        size_t first = mask_with(base, i);
        return *(const lanes *)(const void *)(sums->forward + first) +
               *(const lanes *)(const void *)(sums->backward + (first | (size_t)1 << i));
    }
    for (size_t k = 0; k < LANES && k < size; k++) {
        size_t before = mask_with(base + k, i);
        x[k] = sums->forward[before] + sums->backward[before | (size_t)1 << i];
    }
    return x;
}

CLONED static void edges(const order_sums *sums, size_t i, double *edge_prob)
{
    size_t d = sums->d;
    size_t size = (size_t)1 << (d - 1);
    const lanes *total = (const lanes *)(const void *)sums->total[i];
    double all = sums->forward[((size_t)1 << d) - 1];
    lanes whole = lanes_of(0);
    lanes sum[MOST];
    for (size_t j = 0; j < MOST; j++) {
        sum[j] = lanes_of(0);
    }
    for (size_t base = 0; base < size; base += LANES) {
        lanes x = before_and_after(sums, i, base, size);
        if (!lanes_any(lanes_less(lanes_of(-INFINITY), x))) {
            continue;
        }
        lanes own = total[base / LANES];
        lanes p = lanes_exp(x + own - all);
        if (!lanes_any(lanes_less(lanes_of(1e-30), p))) {
            continue;
        }
        whole += p;
        for (size_t j = 0; j + 1 < d; j++) {
            if (j >= LOW && (base >> j & 1) == 0) {
                continue;
            }
            lanes other = j >= LOW ? total[(base ^ (size_t)1 << j) / LANES]
                          : j == 0 ? subset_neighbours(own, 0)
                          : j == 1 ? subset_neighbours(own, 1)
                                   : subset_neighbours(own, 2);
            /* lanes without j have more in `other`, and add nothing; so does what is impossible */
            sum[j] += p * (1.0 - lanes_exp(lanes_smaller(other - own, lanes_of(0))));
        }
    }
    double norm = 0;
    for (size_t k = 0; k < LANES; k++) {
        norm += whole[k];
    }
    for (size_t j = 0; j < d; j++) {
        double p = 0;
        for (size_t k = 0; k < LANES && j != i; k++) {
            p += sum[j < i ? j : j - 1][k];
        }
        p /= norm;
        edge_prob[j * d + i] = p < 1 ? p : 1;
    }
}

/* Clones stay static: their resolvers would be seen outside the library. */
void order_sums_edges(const order_sums *sums, size_t i, double *edge_prob)
{
    edges(sums, i, edge_prob);
}

void order_sums_draw(const order_sums *sums, rng r, uint64_t first, size_t *order)
{
    size_t left = ((size_t)1 << sums->d) - 1;
    for (size_t k = sums->d; k-- > 0;) {
        double u = rng_uniform(r, first + k);
        size_t last = 0;
        for (size_t rest = left; rest != 0 && u > 0; rest &= rest - 1) {
            size_t i = (size_t)__builtin_ctzll(rest);
            double p = exp(term(sums, sums->forward, left, i, true) - sums->forward[left]);
            u -= p;
            /* rounding may leave a little of u: then it is the last one that could be */
            last = p > 0 ? i : last;
        }
        order[k] = last;
        left &= ~((size_t)1 << last);
    }
}
