/* All parent sets of a node by elimination. Let M be the matrix of the node and the candidates not
 * yet decided on, given those taken in; deciding on the last one, v,
 *
 *     leave it out:  drop its row;      take it in:  M <- M - m_v m_v' / M_vv.
 *
 * Walking over all sets like a binary counter, whose lowest bits change most often and belong to
 * the smallest matrices, makes this sum_r r^2 / 2^(r+1), about 3 multiplications for each set.
 * Eight sets, which differ in their three lowest bits, go side by side.
 */
#include "base/lanes_math.h"
#include "base/simd.h"
#include "infer/mechanism/family_hole.h"

#include <string.h>

enum { LOW = 3, SIDE = FAMILY_MOST + 1, MOST_HIGH = FAMILY_MOST - LOW, PACKED = 1771 };
_Static_assert(PACKED == (MOST_HIGH + 1) * (MOST_HIGH + 2) * (MOST_HIGH + 3) / 6, "all levels");
/* The same of the parents' slopes: b + 1 of each of at most FAMILY_MOST - b. */
enum { SLOPES = 2233, VARIANCES = (MOST_HIGH + 1) * (2 * FAMILY_MOST - MOST_HIGH) / 2 };

/* Lower triangles, row after row: the node first, so that the last row is the next to be decided
 * on, and leaving a candidate out leaves everything where it is. */
static inline size_t triangle(size_t row)
{
    return row * (row + 1) / 2;
}

/* M in units of the nodes with the ridge on it: candidates, then the node. */
static void scaled(const family *f, const dag_prior *prior, size_t level, double *m)
{
    size_t side = f->count + 1;
    const double *scatter = f->scatter + level * side * side;
    for (size_t a = 0; a < side; a++) {
        double unit = prior->unit[a < f->count ? f->candidate[a] : f->node];
        for (size_t b = 0; b < side; b++) {
            double other = prior->unit[b < f->count ? f->candidate[b] : f->node];
            m[a * side + b] = scatter[a * side + b] / (unit * other);
        }
        m[a * side + a] += a < f->count ? prior->ridge : 0;
    }
}

/* What is known of the low candidates of one lane, as hole_rows. */
typedef struct low_rows {
    double slope[LOW][SIDE], variance[LOW];
} low_rows;

/* Takes v in, the slopes too; returns log(pivot / t). A pivot that is not above t says that v is a
 * combination of those already in, up to rounding: then it tells nothing more. */
static double take_in(double *m, size_t side, size_t v, double ridge, low_rows *low)
{
    double row[SIDE];
    memcpy(row, m + v * side, side * sizeof *row);
    if (!(row[v] > ridge)) {
        return 0;
    }
    for (size_t a = 0; a < side; a++) {
        for (size_t b = 0; b < side; b++) {
            m[a * side + b] -= row[a] * row[b] / row[v];
        }
    }
    for (size_t j = 0; j < v; j++) {
        double share = low->slope[j][v] / row[v];
        low->variance[j] += share * low->slope[j][v];
        for (size_t a = 0; a < side; a++) {
            low->slope[j][a] -= share * row[a];
        }
    }
    for (size_t a = 0; a < side; a++) {
        low->slope[v][a] = row[a] / row[v];
    }
    low->variance[v] = 1 / row[v];
    return log(row[v] / ridge);
}

/* The triangle (high + 1 rows) that is left when each lane has decided on its low candidates, and
 * these. */
static void start(const double *m, size_t count, size_t low, double ridge, lanes *out,
                  lanes *log_det, hole_rows *rows)
{
    double own[SIDE * SIDE];
    size_t side = count + 1;
    *log_det = lanes_of(0);
    rows->taken = low;
    rows->width = count - low + 1;
    for (size_t lane = 0; lane < LANES; lane++) {
        low_rows taken = {.variance = {1 / ridge, 1 / ridge, 1 / ridge}};
        memcpy(own, m, side * side * sizeof *own);
        for (size_t v = 0; v < low; v++) {
            if ((lane >> v & 1) != 0) {
                (*log_det)[lane] += take_in(own, side, v, ridge, &taken);
            }
        }
        for (size_t a = 0; a <= count - low; a++) {
            size_t row = a == 0 ? count : low + a - 1;
            for (size_t b = 0; b <= a; b++) {
                size_t column = b == 0 ? count : low + b - 1;
                out[triangle(a) + b][lane] = own[row * side + column];
            }
            for (size_t j = 0; j < low; j++) {
                rows->slope[j * rows->width + a][lane] = taken.slope[j][row];
                rows->variance[j][lane] = taken.variance[j];
            }
        }
    }
}

/* Takes in the candidate of row `last`, as above; its slopes where there is a hole. */
LANES_INLINE lanes step(const lanes *from, size_t last, double ridge, lanes *to,
                        const hole_rows *rows, hole_rows *rows_to)
{
    lanes row[MOST_HIGH + 1];
    lanes pivot = from[triangle(last) + last];
    lanes_mask tells = lanes_less(lanes_of(ridge), pivot);
    pivot = lanes_larger(pivot, lanes_of(ridge));
    lanes inverse = 1.0 / pivot;
    for (size_t a = 0; a < last; a++) {
        row[a] = lanes_select(tells, from[triangle(last) + a], lanes_of(0));
        lanes share = row[a] * inverse;
        for (size_t b = 0; b <= a; b++) {
            to[triangle(a) + b] = from[triangle(a) + b] - share * row[b];
        }
    }
    if (rows_to != NULL) {
        hole_take_in(rows, last, row, inverse, tells, rows_to);
    }
    return lanes_log(pivot * (1 / ridge));
}

CLONED static void walk(const double *m, size_t count, double ridge, double unit_squared,
                        const hole_law *hole, const family_table *out)
{
    lanes store[PACKED];            /* the triangle made by taking in row b + 1, for each b */
    lanes log_det[MOST_HIGH + 1];   /* by rows still to be decided on */
    const lanes *at[MOST_HIGH + 1]; /* the same: where their triangle is */
    lanes *level[MOST_HIGH + 1];
    lanes slopes[SLOPES];
    lanes variances[VARIANCES];
    const hole_rows *rows_at[MOST_HIGH + 1];
    hole_rows rows[MOST_HIGH + 1];
    size_t low = count < LOW ? count : LOW;
    size_t high = count - low;
    size_t bytes = sizeof(double) << low;
    lanes *next = store;
    lanes *next_slope = slopes;
    lanes *next_variance = variances;
    for (size_t b = 0; b <= high; b++) {
        level[b] = next;
        next += triangle(b + 1);
        rows[b] = (hole_rows){.slope = next_slope, .variance = next_variance};
        next_slope += (count - b) * (b + 1);
        next_variance += count - b;
    }
    start(m, count, low, ridge, level[high], &log_det[high], &rows[high]);
    for (size_t b = 0; b <= high; b++) {
        at[b] = level[high];
        log_det[b] = log_det[high];
        rows_at[b] = &rows[high];
    }
    for (size_t set = 0; set < (size_t)1 << high; set++) {
        if (set > 0) {
            size_t b = (size_t)__builtin_ctzll(set);
            lanes sum = log_det[b + 1] + step(at[b + 1], b + 1, ridge, level[b], rows_at[b + 1],
                                              hole != NULL ? &rows[b] : NULL);
            for (size_t below = 0; below <= b; below++) {
                at[below] = level[b];
                log_det[below] = sum;
                rows_at[below] = &rows[b];
            }
        }
        lanes rest = lanes_larger(at[0][0], lanes_of(0));
        lanes scaled_rest = rest * unit_squared;
        lanes sum = log_det[0];
        if (hole != NULL) {
            const hole_entry *entry = &hole->entry[__builtin_popcountll(set)];
            sum -= 2.0 * hole_factor(hole, entry, rows_at[0], rest);
        }
        memcpy(out->rest + (set << low), &scaled_rest, bytes);
        memcpy(out->log_det + (set << low), &sum, bytes);
    }
}

static void hole_law_of(hole_law *out, const family *f, const dag_prior *prior)
{
    double unit = prior->unit[f->node];
    out->known = prior->variance > 0;
    out->ridge = prior->ridge;
    for (size_t entry = 0; entry <= f->count; entry++) {
        for (size_t lane = 0; lane < LANES; lane++) {
            double x[HOLE_POINTS];
            double share[HOLE_POINTS];
            hole_points(hole_shape(f, prior, entry + (size_t)__builtin_popcountll(lane)), x, share);
            for (size_t k = 0; k < HOLE_POINTS; k++) {
                out->entry[entry].x[k][lane] = out->known ? unit * unit / prior->variance : x[k];
                out->entry[entry].share[k][lane] = share[k];
            }
        }
    }
}

/* Clones stay static: their resolvers would be seen outside the library. */
void family_regress(const family *f, const dag_prior *prior, size_t level, const family_table *out)
{
    double m[SIDE * SIDE];
    scaled(f, prior, level, m);
    double unit = prior->unit[f->node];
    hole_law hole;
    if (prior->hole) {
        hole_law_of(&hole, f, prior);
    }
    walk(m, f->count, prior->ridge, unit * unit, prior->hole ? &hole : NULL, out);
}

/* score = base[|pa|] + slope[|pa|] log(scale + rest) - linear rest - log_det / 2; the eight lanes
 * of an entry are for `entry` parents and those of the lane. */
typedef struct score_terms {
    lanes base[FAMILY_MOST + 1], slope[FAMILY_MOST + 1];
    double scale, linear;
} score_terms;

static void terms_of(score_terms *out, const family *f, const dag_prior *prior, size_t level)
{
    const double log_pi = 1.1447298858494001741;
    double unit = prior->unit[f->node];
    double n = f->rows > 1 ? f->rows : 1;
    const family_level *at = &f->level[level];
    double heft = at->tau > 0 ? at->heft : n;
    double shared = at->log_prior - 0.5 * log(heft) - 0.5 * at->log_spread;
    bool equal = prior->variance > 0;
    out->scale = equal ? 1 : prior->ridge * unit * unit;
    out->linear = equal ? 0.5 / prior->variance : 0;
    for (size_t entry = 0; entry <= f->count; entry++) {
        for (size_t lane = 0; lane < LANES; lane++) {
            double size = (double)(entry + (size_t)__builtin_popcountll(lane));
            double nu = prior->dof + size;
            double base = shared - (n - 1) / 2 * log_pi + size * prior->log_odds;
            if (equal) {
                base -= (n - 1) / 2 * log(2 * prior->variance);
            } else {
                base += lgamma((nu + n - 1) / 2) - lgamma(nu / 2) + nu / 2 * log(out->scale);
            }
            bool missing = (f->required & ~(uint32_t)lane & (LANES - 1)) != 0;
            out->base[entry][lane] = missing ? -INFINITY : base;
            out->slope[entry][lane] = equal ? 0 : -(nu + n - 1) / 2;
        }
    }
}

CLONED static void combine(const score_terms *terms, size_t count, uint32_t required,
                           const family_table *table, double *score)
{
    size_t low = count < LOW ? count : LOW;
    size_t bytes = sizeof(double) << low;
    for (size_t set = 0; set < (size_t)1 << (count - low); set++) {
        size_t entry = (size_t)__builtin_popcountll(set);
        lanes rest = lanes_of(1);
        lanes log_det = lanes_of(0);
        memcpy(&rest, table->rest + (set << low), bytes);
        memcpy(&log_det, table->log_det + (set << low), bytes);
        lanes sum = terms->base[entry] + terms->slope[entry] * lanes_log(terms->scale + rest);
        sum -= terms->linear * rest + 0.5 * log_det;
        if ((required >> LOW & ~set) != 0) {
            sum = lanes_of(-INFINITY);
        }
        memcpy(score + (set << low), &sum, bytes);
    }
}

void family_scores(const family *f, const dag_prior *prior, size_t level, const family_table *table,
                   double *score)
{
    score_terms terms;
    terms_of(&terms, f, prior, level);
    combine(&terms, f->count, f->required, table, score);
}

/* score = log(e^score + e^(other + share)), (2^count) each. */
CLONED static void add_logs(size_t count, const double *other, double share, double *score)
{
    size_t low = count < LOW ? count : LOW;
    size_t bytes = sizeof(double) << low;
    for (size_t set = 0; set < (size_t)1 << (count - low); set++) {
        lanes a = lanes_of(0);
        lanes b = lanes_of(0);
        memcpy(&a, score + (set << low), bytes);
        memcpy(&b, other + (set << low), bytes);
        b += share;
        lanes top = lanes_larger(a, b);
        lanes sum = top + lanes_log(1.0 + lanes_exp(lanes_smaller(a, b) - top));
        sum = lanes_select(lanes_less(lanes_of(-INFINITY), top), sum, top);
        memcpy(score + (set << low), &sum, bytes);
    }
}

void family_scores_all(const family *f, const dag_prior *prior, const family_table *work,
                       double *score)
{
    size_t terms = family_terms(f, prior);
    for (size_t set = 0; set < (size_t)1 << f->count; set++) {
        score[set] = -INFINITY;
    }
    for (size_t k = 0; k < terms; k++) {
        family_term at = family_term_of(f, prior, k);
        family_regress(f, &at.prior, at.level, work);
        family_scores(f, &at.prior, at.level, work, terms == 1 ? score : work->rest);
        if (terms > 1) {
            add_logs(f->count, work->rest, at.log_share, score);
        }
    }
}
