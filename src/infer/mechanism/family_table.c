/* All parent sets of a node by elimination, sets of the candidates that are not required: those
 * that are have been taken in beforehand. Let M be the matrix of the node and the candidates not
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

/* M in units of the nodes with the ridge on it: candidates that are not required, those that are,
 * then the node. */
static void scaled(const family *f, const dag_prior *prior, size_t level, double *m)
{
    size_t side = f->count + 1;
    const double *scatter = f->scatter + level * side * side;
    size_t place[SIDE];
    size_t next = 0;
    for (uint32_t required = 0; required < 2; required++) {
        for (size_t c = 0; c < f->count; c++) {
            if ((f->required >> c & 1) == required) {
                place[next++] = c;
            }
        }
    }
    place[f->count] = f->count;
    for (size_t a = 0; a < side; a++) {
        double unit = prior->unit[a < f->count ? f->candidate[place[a]] : f->node];
        for (size_t b = 0; b < side; b++) {
            double other = prior->unit[b < f->count ? f->candidate[place[b]] : f->node];
            m[a * side + b] = scatter[place[a] * side + place[b]] / (unit * other);
        }
        m[a * side + a] += a < f->count ? prior->ridge : 0;
    }
}

/* What is known of the candidates that a lane may have taken in, as hole_rows: required ones, then
 * the low ones. */
typedef struct low_rows {
    double slope[FAMILY_MOST][SIDE], variance[FAMILY_MOST];
} low_rows;

/* Takes v in as number `at`, the slopes too; returns log(pivot / t). A pivot that is not above t
 * says that v is a combination of those already in, up to rounding: then it tells nothing more. */
static double take_in(double *m, size_t side, size_t v, double ridge, low_rows *low, size_t at)
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
    for (size_t j = 0; j < at; j++) {
        double share = low->slope[j][v] / row[v];
        low->variance[j] += share * low->slope[j][v];
        for (size_t a = 0; a < side; a++) {
            low->slope[j][a] -= share * row[a];
        }
    }
    for (size_t a = 0; a < side; a++) {
        low->slope[at][a] = row[a] / row[v];
    }
    low->variance[at] = 1 / row[v];
    return log(row[v] / ridge);
}

/* Of a table: candidates, those of them that are required, those of the rest that lanes differ in.
 */
typedef struct table_shape {
    size_t count, required, low, high;
} table_shape;

static table_shape shape_of(const family *f)
{
    table_shape out = {.count = f->count, .required = (size_t)__builtin_popcount(f->required)};
    size_t left = out.count - out.required;
    out.low = left < LOW ? left : LOW;
    out.high = left - out.low;
    return out;
}

/* The triangle (high + 1 rows) that is left when each lane has taken in what is required and
 * decided on its low candidates, and these. */
static void start(const double *m, const table_shape *shape, double ridge, lanes *out,
                  lanes *log_det, hole_rows *rows)
{
    double base[SIDE * SIDE];
    double own[SIDE * SIDE];
    low_rows taken;
    size_t side = shape->count + 1;
    size_t low = shape->low;
    double shared = 0;
    memset(&taken, 0, sizeof taken);
    for (size_t j = 0; j < FAMILY_MOST; j++) {
        taken.variance[j] = 1 / ridge;
    }
    memcpy(base, m, side * side * sizeof *base);
    for (size_t j = 0; j < shape->required; j++) {
        shared += take_in(base, side, low + shape->high + j, ridge, &taken, j);
    }
    rows->taken = shape->required + low;
    rows->width = shape->high + 1;
    for (size_t lane = 0; lane < LANES; lane++) {
        low_rows lanes_own = taken;
        (*log_det)[lane] = shared;
        memcpy(own, base, side * side * sizeof *own);
        for (size_t v = 0; v < low; v++) {
            if ((lane >> v & 1) != 0) {
                (*log_det)[lane] += take_in(own, side, v, ridge, &lanes_own, shape->required + v);
            }
        }
        for (size_t a = 0; a <= shape->high; a++) {
            size_t row = a == 0 ? shape->count : low + a - 1;
            for (size_t b = 0; b <= a; b++) {
                size_t column = b == 0 ? shape->count : low + b - 1;
                out[triangle(a) + b][lane] = own[row * side + column];
            }
            for (size_t j = 0; j < rows->taken; j++) {
                rows->slope[j * rows->width + a][lane] = sqrt(ridge) * lanes_own.slope[j][row];
                rows->variance[j][lane] = ridge * lanes_own.variance[j];
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
        hole_take_in(rows, last, row, inverse, tells, ridge, rows_to);
    }
    return lanes_log(pivot * (1 / ridge));
}

/* The entries of eight sets, or of as many as there are; eight take no call. */
LANES_INLINE void put(double *to, lanes x, size_t bytes)
{
    if (bytes == sizeof x) {
        memcpy(to, &x, sizeof x);
    } else {
        memcpy(to, &x, bytes);
    }
}

LANES_INLINE lanes get(const double *from, size_t bytes, lanes otherwise)
{
    if (bytes == sizeof otherwise) {
        memcpy(&otherwise, from, sizeof otherwise);
    } else {
        memcpy(&otherwise, from, bytes);
    }
    return otherwise;
}

CLONED static void walk(const double *m, const table_shape *shape, double ridge,
                        double unit_squared, const hole_law *hole, const family_table *out)
{
    lanes store[PACKED];            /* the triangle made by taking in row b + 1, for each b */
    lanes log_det[MOST_HIGH + 1];   /* by rows still to be decided on */
    const lanes *at[MOST_HIGH + 1]; /* the same: where their triangle is */
    lanes *level[MOST_HIGH + 1];
    lanes slopes[SLOPES];
    lanes variances[VARIANCES];
    const hole_rows *rows_at[MOST_HIGH + 1];
    hole_rows rows[MOST_HIGH + 1];
    size_t low = shape->low;
    size_t high = shape->high;
    size_t bytes = sizeof(double) << low;
    lanes *next = store;
    lanes *next_slope = slopes;
    lanes *next_variance = variances;
    for (size_t b = 0; b <= high; b++) {
        level[b] = next;
        next += triangle(b + 1);
        rows[b] = (hole_rows){.slope = next_slope, .variance = next_variance};
        next_slope += (shape->count - b) * (b + 1);
        next_variance += shape->count - b;
    }
    start(m, shape, ridge, level[high], &log_det[high], &rows[high]);
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
            const hole_entry *entry =
                &hole->entry[shape->required + (size_t)__builtin_popcountll(set)];
            sum -= 2.0 * hole_factor(hole, entry, rows_at[0], rest);
        }
        put(out->rest + (set << low), scaled_rest, bytes);
        put(out->log_det + (set << low), sum, bytes);
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
    table_shape shape = shape_of(f);
    walk(m, &shape, prior->ridge, unit * unit, prior->hole ? &hole : NULL, out);
}

/* score = base[|pa|] + slope[|pa|] log(scale + rest) - linear rest - log_det / 2; the eight lanes
 * of an entry are for `entry` parents and those of the lane. */
typedef struct score_terms {
    lanes base[FAMILY_MOST + 1], slope[FAMILY_MOST + 1];
    double scale, linear;
} score_terms;

static void terms_of(score_terms *out, const family *f, const dag_prior *prior, size_t level,
                     double log_share)
{
    const double log_pi = 1.1447298858494001741;
    double unit = prior->unit[f->node];
    double n = f->rows > 1 ? f->rows : 1;
    const family_level *at = &f->level[level];
    double shared =
        log_share + at->log_prior - 0.5 * log(family_heft(f, level)) - 0.5 * at->log_spread;
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
            out->base[entry][lane] = base;
            out->slope[entry][lane] = equal ? 0 : -(nu + n - 1) / 2;
        }
    }
}

/* log(e^a + e^b). What is less than this below the other is less than half of its last digit. */
static const double NOTHING = -40;
LANES_INLINE lanes add_logs(lanes a, lanes b)
{
    lanes top = lanes_larger(a, b);
    lanes below = lanes_smaller(a, b) - top;
    bool counts = lanes_any(lanes_less(lanes_of(NOTHING), below));
    return counts ? top + lanes_log(1.0 + lanes_exp(below)) : top;
}

/* Gains of the sets of a table (family_gain). */
typedef struct table_gains {
    const double *gain;   /* NULL: none */
    uint32_t fixed, free; /* bits of required parents there, and of the others */
    uint32_t lane[LANES]; /* those of the low candidates of each lane */
} table_gains;

static table_gains gains_of(const family *f, size_t level)
{
    uint32_t all = ((uint32_t)1 << f->count) - 1;
    table_gains out = {0};
    if (f->gain == NULL) {
        return out;
    }
    out.gain = f->gain[f->level[level].place];
    out.fixed = spread_bits(f->required, f->gain_of);
    out.free = spread_bits(all & ~f->required, f->gain_of);
    for (uint32_t lane = 0; lane < LANES; lane++) {
        out.lane[lane] = spread_bits(lane, out.free);
    }
    return out;
}

static lanes gains_at(const table_gains *g, uint32_t first)
{
    lanes out;
    for (size_t lane = 0; lane < LANES; lane++) {
        out[lane] = g->gain[g->fixed | first | g->lane[lane]];
    }
    return out;
}

/* score = terms and gains, or log(e^score + e^that). */
CLONED static void combine(const score_terms *terms, const table_shape *shape,
                           const table_gains *gains, bool add, const family_table *table,
                           double *score)
{
    size_t bytes = sizeof(double) << shape->low;
    uint32_t high = gains->free; /* bits of the candidates that are not low .. */
    uint32_t first = 0;          /* .. and those of the set, which run through all of these */
    for (size_t k = 0; k < shape->low; k++) {
        high &= high - 1;
    }
    for (size_t set = 0; set < (size_t)1 << shape->high; set++) {
        size_t entry = shape->required + (size_t)__builtin_popcountll(set);
        lanes rest = get(table->rest + (set << shape->low), bytes, lanes_of(1));
        lanes log_det = get(table->log_det + (set << shape->low), bytes, lanes_of(0));
        lanes sum = terms->base[entry] + terms->slope[entry] * lanes_log(terms->scale + rest);
        sum -= terms->linear * rest + 0.5 * log_det;
        if (gains->gain != NULL) {
            sum += gains_at(gains, first);
            first = (first - high) & high;
        }
        if (add) {
            sum = add_logs(get(score + (set << shape->low), bytes, sum), sum);
        }
        put(score + (set << shape->low), sum, bytes);
    }
}

void family_scores(const family *f, const dag_prior *prior, size_t level, const family_table *table,
                   double *score)
{
    score_terms terms;
    table_shape shape = shape_of(f);
    table_gains gains = gains_of(f, level);
    terms_of(&terms, f, prior, level, 0);
    combine(&terms, &shape, &gains, false, table, score);
}

void family_scores_all(const family *f, const dag_prior *prior, const family_table *work,
                       double *score)
{
    table_shape shape = shape_of(f);
    for (size_t k = 0; k < family_terms(f, prior); k++) {
        family_term at = family_term_of(f, prior, k);
        score_terms terms;
        family_regress(f, &at.prior, at.level, work);
        table_gains gains = gains_of(f, at.level);
        terms_of(&terms, f, &at.prior, at.level, at.log_share);
        combine(&terms, &shape, &gains, k > 0, work, score);
    }
}
