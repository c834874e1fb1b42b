/* Slides with the weights integrated out. u without labels, k before u in the order:
 *
 *     z_u <- z_u + t z_k,    and every edge k -> i, i = u or a child of u, may come or go.
 *
 * With W and s integrated out the families of u and of its children are independent given t, and
 * |det B| stays: what is left of t when all these edges are summed over is
 *
 *     log P(t) = sum_i log(e^(score_i without k) + e^(score_i with k)),
 *
 * so t is moved by Metropolis, then each edge is drawn by itself. A family with k says nothing of t
 * but for its prior, one without says where t must be: with b_k and b_u its regression on its
 * parents, u and k among them, at t_i = b_k/b_u (of u itself: -b_k) with the standard error that
 * the regression gives. Proposed is a Cauchy variable about one of these, by turns of chance: its
 * tails reach where no edge is missing. All this is the same from wherever on the line it is looked
 * at but for the prior; both ends are looked at, so that no choice here is more than a proposal.
 *
 * joint_orbit.c, given W, leaves a line on which two edges are missing at once by no move: there
 * k -> u -> {i, j} and k -> {i, j} <- u are two modes. Here they are one step apart. */
#include "infer/sample/joint_state.h"

#include <cblas.h>
#include <lapacke.h>
#include <math.h>

static const double PI = 3.14159265358979323846;

/* What a family that moves says of t. */
struct slide_aim {
    size_t node;
    uint32_t bit;         /* of k among its candidates, or 0 */
    double without, with; /* scores */
    double at, width;
};

void joint_lay_out_slides(joint_chain *c, arena *a)
{
    c->aim = arena_take(a, 2 * c->d, sizeof *c->aim);
}

static void slide_by(joint_chain *c, size_t u, size_t k, double t)
{
    cblas_daxpy((int)c->r, t, c->slope + k, (int)c->d, c->slope + u, (int)c->d);
}

/* The scatter of the node's parents, then u (if it is one), then k, and at last the node, upper
 * part, to `factor`; their number without the node. */
static size_t gather(joint_chain *c, const family *f, uint32_t last, uint32_t k)
{
    size_t m = f->count + 1;
    size_t n = 0;
    uint32_t first = c->g.parents[f->node] & ~(last | k);
    const uint32_t turn[] = {first, last, k};
    for (size_t part = 0; part < 3; part++) {
        for (size_t j = 0; j < f->count; j++) {
            if ((turn[part] >> j & 1) != 0) {
                c->columns[n++] = j;
            }
        }
    }
    c->columns[n] = f->count;
    for (size_t a = 0; a <= n; a++) {
        for (size_t b = 0; b <= n; b++) {
            c->factor[a * (n + 1) + b] = f->scatter[c->columns[a] * m + c->columns[b]];
        }
    }
    return n;
}

/* t_i and its standard error, by the Cholesky factor of the scatter: its last rows are what is left
 * of u, k and the node given those before. False where there is none. */
static bool aim(joint_chain *c, size_t u, slide_aim *out)
{
    const family *f = &c->family[out->node];
    uint32_t via = out->node == u ? 0 : joint_bit(c, out->node, u);
    size_t n = gather(c, f, via, out->bit);
    size_t m = n + 1;
    if (LAPACKE_dpotrf_work(LAPACK_COL_MAJOR, 'L', (int)m, c->factor, (int)m) != 0) {
        return false;
    }
    const double *k = c->factor + (n - 1) * m; /* columns */
    double sd = c->factor[n * m + n] / sqrt(fmax(f->rows, 1));
    double by_k = k[n] / k[n - 1];
    if (via == 0) {
        out->at = -by_k;
        out->width = sd / k[n - 1];
    } else {
        const double *v = k - m;
        double by_u = (v[n] - v[n - 1] * by_k) / v[n - 2];
        out->at = by_k / by_u;
        double first = -out->at / v[n - 2];
        double second = (1 - v[n - 1] * first) / k[n - 1];
        out->width = sd * hypot(first, second) / fabs(by_u);
    }
    return isfinite(out->at) && isfinite(out->width) && out->width > 0;
}

static double log_sum(double a, double b)
{
    double most = fmax(a, b);
    return most > -INFINITY ? most + log(exp(a - most) + exp(b - most)) : most;
}

/* Fills `aims` (count) where z_u is now; log P there, or NaN where nothing can be said. */
static double look(joint_chain *c, size_t u, slide_aim *aims, size_t count)
{
    double sum = 0;
    for (size_t n = 0; n < count; n++) {
        slide_aim *to = &aims[n];
        uint32_t others = c->g.parents[to->node] & ~to->bit;
        joint_refresh(c, to->node);
        to->without = graph_chain_score(&c->g, to->node, others);
        to->with = to->bit != 0 ? graph_chain_score(&c->g, to->node, others | to->bit) : -INFINITY;
        sum += log_sum(to->without, to->with);
        if (to->bit != 0 && !aim(c, u, to)) {
            return NAN;
        }
    }
    return sum;
}

/* log of the density with which t is proposed, but for what all have in common. */
static double log_proposed(const slide_aim *aims, size_t count, double t)
{
    double sum = 0;
    for (size_t n = 0; n < count; n++) {
        double far = (t - aims[n].at) / aims[n].width;
        sum += aims[n].bit != 0 ? 1 / (aims[n].width * (1 + far * far)) : 0;
    }
    return log(sum);
}

static void draw_edges(joint_chain *c, const slide_aim *aims, size_t count)
{
    for (size_t n = 0; n < count; n++) {
        const slide_aim *at = &aims[n];
        uint32_t *parents = &c->g.parents[at->node];
        bool there = chain_uniform(&c->g) < 1 / (1 + exp(at->without - at->with));
        *parents = there ? *parents | at->bit : *parents & ~at->bit;
    }
}

static void slide(joint_chain *c, size_t u, size_t k)
{
    slide_aim *here = c->aim;
    slide_aim *there = c->aim + c->d;
    size_t count = 0;
    size_t aimed = 0;
    for (size_t i = 0; i < c->d; i++) {
        if (i == u || (c->g.parents[i] & joint_bit(c, i, u)) != 0) {
            here[count] = there[count] = (slide_aim){.node = i, .bit = joint_bit(c, i, k)};
            aimed += here[count++].bit != 0 ? 1 : 0;
        }
    }
    double before = look(c, u, here, count);
    if (aimed == 0 || !(before > -INFINITY)) {
        return;
    }
    size_t pick = (size_t)(chain_uniform(&c->g) * (double)aimed);
    const slide_aim *by = here;
    while (by->bit == 0 || pick-- > 0) {
        by++;
    }
    double t = by->at + by->width * tan(PI * (chain_uniform(&c->g) - 0.5));
    slide_by(c, u, k, t);
    double change = look(c, u, there, count) + log_proposed(there, count, -t) - before -
                    log_proposed(here, count, t);
    bool moved = log(chain_uniform(&c->g)) < change;
    if (!moved) {
        slide_by(c, u, k, -t);
    }
    draw_edges(c, moved ? there : here, count);
}

void joint_move_slides(joint_chain *c)
{
    for (size_t u = 0; u < c->d; u++) {
        for (size_t k = 0; k < c->d && !c->label[u].any; k++) {
            if (c->g.position[k] < c->g.position[u]) {
                slide(c, u, k);
            }
        }
    }
}
