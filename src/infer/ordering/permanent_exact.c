/* F(S) = sum over ways to give rows 0 .. |S|-1 exactly the columns of S
 *      = sum_(j in S) F(S - j) theta_(|S|-1, j),   perm = F(all);
 * G(S) = the same for the rows from |S| on and the columns outside S. All terms are positive.
 *
 * Instead of logarithms in every term, rows and columns of exp(T) are divided once by the prices of
 * a best assignment: then theta <= 1 with a permutation of ones in it, F(all) is between 1 and d!,
 * and what underflows is below 1e-290 of the whole, for T of any size.
 */
#include "infer/ordering/permanent.h"

#include <math.h>
#include <string.h>

static size_t subsets_of(size_t d)
{
    return (size_t)1 << (d <= PERMANENT_MOST ? d : PERMANENT_MOST);
}

void permanent_lay_out(permanent_work *work, arena *a, size_t d)
{
    work->theta = arena_take(a, d * d, sizeof *work->theta);
    work->forward = arena_take(a, subsets_of(d), sizeof *work->forward);
    work->backward = arena_take(a, subsets_of(d), sizeof *work->backward);
    work->column_of = arena_take(a, d, sizeof *work->column_of);
    assignment_lay_out(&work->matching, a, d);
}

static size_t count(size_t set)
{
    return (size_t)__builtin_popcountll(set);
}

/* The number of the lowest element; the set must not be empty. */
static size_t lowest(size_t set)
{
    return (size_t)__builtin_ctzll(set);
}

/* theta, and what was taken out: the value of the best assignment. */
static lscm_status scale(const double *t, size_t d, double *taken, permanent_work *work,
                         lscm_error *why)
{
    lscm_status status = LSCM_OK;
    double *theta = work->theta;
    const double *price = work->matching.price;
    for (size_t k = 0; k < d * d; k++) {
        theta[k] = -t[k];
    }
    TRY(assignment_solve(theta, d, work->column_of, &work->matching, why));
    *taken = 0;
    for (size_t i = 0; i < d; i++) {
        size_t own = work->column_of[i];
        double least = theta[i * d + own] - price[own];
        *taken += t[i * d + own];
        for (size_t j = 0; j < d; j++) {
            theta[i * d + j] = exp(least - (theta[i * d + j] - price[j]));
        }
    }
done:
    return status;
}

lscm_status permanent_exact(const double *t, size_t d, double *value, permanent_work *work,
                            lscm_error *why)
{
    lscm_status status = LSCM_OK;
    double taken = 0;
    if (d > PERMANENT_MOST) {
        return fail(why, LSCM_VALUE,
                    "the exact permanent takes at most %d rows, not %zu; use the Bethe "
                    "approximation",
                    PERMANENT_MOST, d);
    }
    TRY(scale(t, d, &taken, work, why));
    work->d = d;
    work->forward[0] = 1;
    for (size_t set = 1; set < subsets_of(d); set++) {
        const double *theta = work->theta + (count(set) - 1) * d;
        double sum = 0;
        for (size_t left = set; left != 0; left &= left - 1) {
            size_t j = lowest(left);
            sum += work->forward[set ^ (size_t)1 << j] * theta[j];
        }
        work->forward[set] = sum;
    }
    *value = taken + log(work->forward[subsets_of(d) - 1]);
done:
    return status;
}

void permanent_marginals(const permanent_work *work, double *marginal)
{
    size_t d = work->d;
    size_t all = subsets_of(d) - 1;
    memset(marginal, 0, d * d * sizeof *marginal);
    work->backward[all] = 1 / work->forward[all];
    for (size_t set = all; set-- > 0;) {
        size_t i = count(set);
        double sum = 0;
        for (size_t left = all ^ set; left != 0; left &= left - 1) {
            size_t j = lowest(left);
            double ways = work->theta[i * d + j] * work->backward[set | (size_t)1 << j];
            sum += ways;
            marginal[i * d + j] += work->forward[set] * ways;
        }
        work->backward[set] = sum;
    }
}
