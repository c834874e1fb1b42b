/* What no data tell, drawn exactly. The likelihood does not change when, e being the noise of a
 * node over its sd,
 *
 *   slide:  z_u <- z_u + t z_k,   w_ku <- w_ku + t,   w_ki <- w_ki - t w_ui   for children i of u
 *   turn:   (e_u, e_v) is rotated by an angle, and with it (w_pu/s_u, w_pv/s_v) for parents p of u
 *           or v and (s_u w_ui, s_v w_vi) for children i; there is no edge between u and v
 *
 * u and v without labels, k before u in the order: nothing but names and sparsity tells z_u from
 * such a mixture. Nor does the volume of (B, W) change, so that on such a line only the prior is
 * left: over the edges j -> i that move, w their weights there,
 *
 *     prod  (1 - p) delta(w)  +  p N(w; 0, s_i^2/(t_i u_j^2))       (and what nu makes of a parent)
 *
 * has one weight for `all edges are there`, an integral in closed form, and one for each edge at
 * the point where it alone is missing. Where the slab has a hole (family_hole.h) these propose, and
 * the ratio of its factors decides. Where two or more are missing the line is left by no other
 * move than those of graph_chain.c. t_i, the node's own ridge (family.h), is drawn before. */
#include "infer/sample/joint_state.h"

#include <cblas.h>
#include <math.h>

static const double PI = 3.14159265358979323846;

/* An edge whose weight moves with the parameter x of the line: along a slide value + x slope; in a
 * turn it is (value cos x + partner sin x) / scale. */
struct moving_edge {
    size_t from, to;
    uint32_t bit;
    double value, partner; /* slide: w and its slope */
    double scale;
    double precision; /* of its prior */
};

typedef struct line {
    moving_edge *edge;
    size_t count;
    size_t missing; /* of them */
    bool barred;    /* one may never be there */
} line;

void joint_lay_out_orbits(joint_chain *c, arena *a)
{
    c->ridge = arena_take(a, c->d, sizeof *c->ridge);
    c->moving = arena_take(a, 4 * c->d, sizeof *c->moving);
    c->option = arena_take(a, 4 * c->d + 1, sizeof *c->option);
}

/* ---- The prior ---- */

static double count_parents(const joint_chain *c, size_t i)
{
    double n = 0;
    for (uint32_t left = c->g.parents[i]; left != 0; left &= left - 1) {
        n += 1;
    }
    return n;
}

/* log of s^2 and W of node i beforehand, with this ridge, but for what all ridges share. */
static double log_density(const joint_chain *c, size_t i, double ridge)
{
    const dag_prior *prior = &c->g.all.prior;
    double variance = c->g.sigma[i] * c->g.sigma[i];
    double n = count_parents(c, i);
    double squares = prior->variance > 0 ? 0 : prior->unit[i] * prior->unit[i];
    for (size_t p = 0; p < c->d; p++) {
        double w = prior->unit[p] * c->g.w[p * c->d + i];
        squares += w * w;
    }
    double powers = (prior->variance > 0 ? n : prior->dof + 2 * n) + (prior->hole ? 2 * n : 0);
    return powers / 2 * log(ridge) - ridge * squares / (2 * variance);
}

/* t_i given w and s. */
static void draw_ridges(joint_chain *c)
{
    for (size_t i = 0; i < c->d; i++) {
        const family *f = &c->family[i];
        double score[FAMILY_TERMS];
        size_t terms = family_terms(f, &c->g.all.prior);
        for (size_t k = 0; k < terms; k++) {
            family_term at = family_term_of(f, &c->g.all.prior, k);
            score[k] = at.log_share + log_density(c, i, at.prior.ridge);
        }
        size_t pick = terms > 1 ? hyper_pick(score, terms, chain_uniform(&c->g)) : 0;
        c->ridge[i] = family_term_of(f, &c->g.all.prior, pick).prior.ridge;
    }
}

/* How much likelier a graph is with the edge e at weight 0 than without it, of whose node all
 * moving edges are parents now. */
static double log_worth(const joint_chain *c, const moving_edge *e)
{
    const dag_prior *prior = &c->g.all.prior;
    double odds = prior->log_odds + 0.5 * log(e->precision / (2 * PI));
    if (prior->variance > 0) {
        return odds;
    }
    double unit = prior->unit[e->to] / c->g.sigma[e->to];
    double nu = prior->dof + count_parents(c, e->to);
    return odds + 0.5 * log(c->ridge[e->to] * unit * unit / 2) + lgamma((nu - 1) / 2) -
           lgamma(nu / 2);
}

/* ---- Lines ---- */

static void add_edge(joint_chain *c, line *l, size_t from, size_t to)
{
    moving_edge e = {.from = from, .to = to, .scale = 1, .bit = joint_bit(c, to, from)};
    double unit = c->g.all.prior.unit[from] / c->g.sigma[to];
    e.precision = c->ridge[to] * unit * unit;
    e.value = c->g.w[from * c->d + to];
    l->barred = l->barred || e.bit == 0 || c->g.position[from] > c->g.position[to];
    l->missing += (c->g.parents[to] & e.bit) == 0 ? 1 : 0;
    l->edge[l->count++] = e;
}

static bool may_be_missing(const joint_chain *c, const moving_edge *e)
{
    return (c->family[e->to].required & e->bit) == 0;
}

/* All edges of the line, then without the one at `missing`, if it is one. */
static void put_edges(joint_chain *c, const line *l, size_t missing)
{
    for (size_t k = 0; k < l->count; k++) {
        c->g.parents[l->edge[k].to] |= l->edge[k].bit;
    }
    if (missing < l->count) {
        c->g.parents[l->edge[missing].to] &= ~l->edge[missing].bit;
        c->g.w[l->edge[missing].from * c->d + l->edge[missing].to] = 0;
    }
}

/* What a hole in the slab (family_hole.h) makes of the edges of the line that are there. */
static double log_hole(const joint_chain *c, const line *l)
{
    double sum = 0;
    for (size_t k = 0; k < l->count && c->g.all.prior.hole; k++) {
        const moving_edge *e = &l->edge[k];
        double w = c->g.w[e->from * c->d + e->to];
        sum += (c->g.parents[e->to] & e->bit) != 0 ? log(e->precision * w * w) : 0;
    }
    return sum;
}

/* The one that is missing, or the number of all. */
static size_t missing_of(const joint_chain *c, const line *l)
{
    size_t found = l->count;
    for (size_t k = 0; k < l->count; k++) {
        found = (c->g.parents[l->edge[k].to] & l->edge[k].bit) == 0 ? k : found;
    }
    return found;
}

/* Drawn is what holds without a hole; with one the edges decide whether to stay there, else they go
 * back to where they were, without the one at `missing`. */
static bool is_kept(joint_chain *c, const line *l, double before, size_t missing)
{
    if (!c->g.all.prior.hole || log(chain_uniform(&c->g)) < log_hole(c, l) - before) {
        return true;
    }
    for (size_t k = 0; k < l->count; k++) {
        const moving_edge *e = &l->edge[k];
        c->g.w[e->from * c->d + e->to] = e->value / e->scale;
    }
    put_edges(c, l, missing);
    return false;
}

/* z_u <- z_u + t z_k, k before u. */
static void slide(joint_chain *c, size_t u, size_t k)
{
    line l = {.edge = c->moving};
    double curve = 0; /* over the edges, of the precision times slope^2 */
    double tilt = 0;  /* .. times slope and weight */
    add_edge(c, &l, k, u);
    l.edge[0].partner = 1;
    for (size_t i = 0; i < c->d; i++) {
        if (c->g.w[u * c->d + i] != 0) {
            add_edge(c, &l, k, i);
            l.edge[l.count - 1].partner = -c->g.w[u * c->d + i];
        }
    }
    if (l.barred || l.missing > 1) {
        return;
    }
    double before = log_hole(c, &l);
    size_t missing = missing_of(c, &l);
    put_edges(c, &l, l.count);
    for (size_t n = 0; n < l.count; n++) {
        const moving_edge *e = &l.edge[n];
        curve += e->precision * e->partner * e->partner;
        tilt += e->precision * e->partner * e->value;
    }
    for (size_t n = 0; n < l.count; n++) {
        const moving_edge *e = &l.edge[n];
        double t = -e->value / e->partner;
        c->option[n] = may_be_missing(c, e) ? -(curve * t + 2 * tilt) * t / 2 -
                                                  log(fabs(e->partner)) - log_worth(c, e)
                                            : -INFINITY;
    }
    c->option[l.count] = (tilt * tilt / curve + log(2 * PI / curve)) / 2;
    size_t pick = hyper_pick(c->option, l.count + 1, chain_uniform(&c->g));
    double t = pick < l.count ? -l.edge[pick].value / l.edge[pick].partner
                              : -tilt / curve + chain_normal(&c->g) / sqrt(curve);
    for (size_t n = 0; n < l.count; n++) {
        const moving_edge *e = &l.edge[n];
        c->g.w[e->from * c->d + e->to] = e->value + t * e->partner;
    }
    put_edges(c, &l, pick);
    t = is_kept(c, &l, before, missing) ? t : 0;
    cblas_daxpy((int)c->r, t, c->slope + k, (int)c->d, c->slope + u, (int)c->d);
}

/* log I_0(x), x >= 0. */
static double log_bessel(double x)
{
    double sum = 1;
    double term = 1;
    if (x > 30) {
        return x - 0.5 * log(2 * PI * x) + log1p(1 / (8 * x) + 9 / (128 * x * x));
    }
    for (int k = 1; term > 1e-17 * sum; k++) {
        term *= x * x / (4.0 * k * k);
        sum += term;
    }
    return log(sum);
}

/* An angle with density ~ exp(k cos x), by Best and Fisher. */
static double draw_angle(joint_chain *c, double k)
{
    if (!(k > 1e-6)) {
        return 2 * PI * chain_uniform(&c->g);
    }
    double tau = 1 + sqrt(1 + 4 * k * k);
    double rho = (tau - sqrt(2 * tau)) / (2 * k);
    double r = (1 + rho * rho) / (2 * rho);
    double sign = chain_uniform(&c->g) < 0.5 ? -1 : 1;
    for (;;) {
        double z = cos(PI * chain_uniform(&c->g));
        double f = (1 + r * z) / (r + z);
        double left = k * (r - f);
        double u = chain_uniform(&c->g);
        if (left * (2 - left) > u || log(left / u) + 1 >= left) {
            return sign * acos(fmax(-1, fmin(1, f)));
        }
    }
}

/* The edges of u and v with one other node: (x_u, x_v) turns. */
static void add_pair(joint_chain *c, line *l, const moving_edge *first, const moving_edge *second)
{
    if (first->value == 0 && second->value == 0) {
        return;
    }
    for (size_t n = 0; n < 2; n++) {
        const moving_edge *e = n == 0 ? first : second;
        const moving_edge *o = n == 0 ? second : first;
        add_edge(c, l, e->from, e->to);
        moving_edge *out = &l->edge[l->count - 1];
        out->scale = e->scale;
        out->value *= e->scale;
        out->partner = (n == 0 ? -1 : 1) * o->value * o->scale;
    }
}

static void collect_pairs(joint_chain *c, line *l, size_t u, size_t v)
{
    size_t d = c->d;
    const double *w = c->g.w;
    double su = c->g.sigma[u];
    double sv = c->g.sigma[v];
    for (size_t i = 0; i < d; i++) {
        if (i == u || i == v) {
            continue;
        }
        add_pair(c, l, &(moving_edge){.from = u, .to = i, .value = w[u * d + i], .scale = su},
                 &(moving_edge){.from = v, .to = i, .value = w[v * d + i], .scale = sv});
        add_pair(c, l, &(moving_edge){.from = i, .to = u, .value = w[i * d + u], .scale = 1 / su},
                 &(moving_edge){.from = i, .to = v, .value = w[i * d + v], .scale = 1 / sv});
    }
}

static void turn_columns(joint_chain *c, size_t u, size_t v, double angle)
{
    double su = c->g.sigma[u];
    double sv = c->g.sigma[v];
    double co = cos(angle);
    double si = sin(angle);
    for (size_t k = 0; k < c->r; k++) {
        double *row = c->slope + k * c->d;
        double a = row[u] / su;
        double b = row[v] / sv;
        row[u] = su * (a * co - b * si);
        row[v] = sv * (a * si + b * co);
    }
}

static void turn(joint_chain *c, size_t u, size_t v)
{
    line l = {.edge = c->moving};
    double cosine = 0; /* of twice the angle, in the exponent */
    double sine = 0;
    if (c->g.w[u * c->d + v] != 0 || c->g.w[v * c->d + u] != 0 || c->level[u] != c->level[v]) {
        return;
    }
    collect_pairs(c, &l, u, v);
    if (l.barred || l.missing > 1) {
        return;
    }
    double before = log_hole(c, &l);
    size_t missing = missing_of(c, &l);
    put_edges(c, &l, l.count);
    for (size_t n = 0; n < l.count; n++) {
        const moving_edge *e = &l.edge[n];
        double precision = e->precision / (e->scale * e->scale);
        cosine -= precision * (e->value * e->value - e->partner * e->partner) / 4;
        sine -= precision * e->value * e->partner / 2;
    }
    for (size_t n = 0; n < l.count; n++) {
        const moving_edge *e = &l.edge[n];
        double twice = 2 * atan2(-e->value, e->partner);
        double change = hypot(e->value, e->partner) / e->scale;
        c->option[n] = may_be_missing(c, e)
                           ? cosine * cos(twice) + sine * sin(twice) - log(change) - log_worth(c, e)
                           : -INFINITY;
    }
    double size = hypot(cosine, sine);
    c->option[l.count] = log(PI) + log_bessel(size);
    size_t pick = hyper_pick(c->option, l.count + 1, chain_uniform(&c->g));
    double angle = pick < l.count ? atan2(-l.edge[pick].value, l.edge[pick].partner)
                                  : (draw_angle(c, size) + atan2(sine, cosine)) / 2;
    for (size_t n = 0; n < l.count; n++) {
        const moving_edge *e = &l.edge[n];
        c->g.w[e->from * c->d + e->to] =
            (e->value * cos(angle) + e->partner * sin(angle)) / e->scale;
    }
    put_edges(c, &l, pick);
    if (is_kept(c, &l, before, missing)) {
        turn_columns(c, u, v, angle);
    }
}

void joint_move_orbits(joint_chain *c)
{
    bool all = true;
    for (size_t j = 0; j < c->d; j++) {
        all = all && c->label[j].any;
    }
    if (all) {
        return;
    }
    draw_ridges(c);
    for (size_t u = 0; u < c->d; u++) {
        if (c->label[u].any) {
            continue;
        }
        for (size_t k = 0; k < c->d; k++) {
            if (c->g.position[k] < c->g.position[u]) {
                slide(c, u, k);
            }
        }
        for (size_t v = 0; v < u; v++) {
            if (!c->label[v].any) {
                turn(c, u, v);
            }
        }
    }
}
