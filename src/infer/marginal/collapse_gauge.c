/* Parameters that no data can tell apart. A node u that is never a target has neither scale nor
 * origin, and may be mixed with a parent j that is also a parent of every child k of u:
 *
 *     z_u -> z_u + f z_j:  w_ju += f,  w_jk -= f w_uk,  A_j -= f A_u,
 *     z_u -> q z_u:        w_ju *= q,  c_u *= q,  s_u *= q,  w_uk /= q,  A_u /= q.
 *
 * The likelihood stays, only the penalty decides, in closed form: f is a least-squares problem in
 * the weights, and q^2 = t u_u^2 (1/s_u^2 + sum_k w_uk^2/s_k^2)/(dof + 2 parents). EM by itself
 * would creep along these directions. With one s for all nodes the scale is known.
 */
#include "infer/marginal/collapse_state.h"

#include <math.h>

static bool may_mix(const collapse_graph *g, size_t d, size_t u, size_t j)
{
    bool may = g->parent[j * d + u] != 0;
    for (size_t k = 0; k < d && may; k++) {
        may = g->parent[u * d + k] == 0 || g->parent[j * d + k] != 0;
    }
    return may;
}

/* What node u weighs in the mechanisms: 1/s_u^2 + sum_k w_uk^2/s_k^2. */
static double weight_of(const collapse_graph *g, const collapse_parameters *p, size_t u)
{
    size_t d = p->d;
    double sum = 1 / (p->sigma[u] * p->sigma[u]);
    for (size_t k = 0; k < d; k++) {
        if (g->parent[u * d + k] != 0) {
            sum += p->w[u * d + k] * p->w[u * d + k] / (p->sigma[k] * p->sigma[k]);
        }
    }
    return sum;
}

static void mix(const collapse_graph *g, collapse_parameters *p, size_t u, size_t j)
{
    size_t d = p->d;
    double f = -p->w[j * d + u] / (p->sigma[u] * p->sigma[u]);
    for (size_t k = 0; k < d; k++) {
        if (g->parent[u * d + k] != 0) {
            f += p->w[j * d + k] * p->w[u * d + k] / (p->sigma[k] * p->sigma[k]);
        }
    }
    f /= weight_of(g, p, u);
    if (!(fabs(f) < INFINITY)) {
        return;
    }
    p->w[j * d + u] += f;
    for (size_t k = 0; k < d; k++) {
        if (g->parent[u * d + k] != 0) {
            p->w[j * d + k] -= f * p->w[u * d + k];
        }
    }
    for (size_t k = 0; k < p->rank; k++) {
        p->a[j * p->rank + k] -= f * p->a[u * p->rank + k];
    }
}

static void rescale(const collapse_graph *g, const dag_prior *prior, collapse_parameters *p,
                    size_t u)
{
    size_t d = p->d;
    double count = prior->dof;
    for (size_t j = 0; j < d; j++) {
        count += g->parent[j * d + u] != 0 ? 2 : 0;
    }
    double q = sqrt(prior->ridge * prior->unit[u] * prior->unit[u] * weight_of(g, p, u) / count);
    if (!(q > 0 && q < INFINITY)) {
        return;
    }
    for (size_t k = 0; k < d; k++) {
        p->w[k * d + u] *= q;
        p->w[u * d + k] /= q;
    }
    for (size_t k = 0; k < p->rank; k++) {
        p->a[u * p->rank + k] /= q;
    }
    p->c[u] *= q;
    p->sigma[u] *= q;
}

void collapse_gauge(const collapse *c, const collapse_graph *g, const collapse_settings *s,
                    collapse_parameters *p)
{
    for (size_t k = 0; k < c->d; k++) {
        size_t u = g->order[k];
        for (size_t j = 0; j < c->d && c->targeted[u] == 0; j++) {
            if (may_mix(g, c->d, u, j)) {
                mix(g, p, u, j);
            }
        }
        if (c->targeted[u] == 0 && !s->equal) {
            rescale(g, s->prior, p, u);
        }
    }
}
