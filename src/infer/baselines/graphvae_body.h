/* See graphvae.h. Position k of the order has node order[k]; gate number k (k - 1)/2 + a is that of
 * the node at position a on the one at k. */
#include "infer/baselines/likelihood_body.h"

#include <string.h>

void NAMED(graphvae, lay_out)(GRAPHVAE *g, arena *a, const graphvae_layout *at, const size_t *order,
                              size_t rows, const device *on)
{
    size_t d = network_in(&at->decoder);
    *g = (GRAPHVAE){.at = *at, .d = d, .D = network_in(&at->encoder), .order = order};
    NAMED(network, lay_out)(&g->encode, a, &at->encoder, rows, on);
    NAMED(network, lay_out)(&g->decode, a, &at->decoder, rows, on);
    g->top = arena_take(a, d - 1, sizeof *g->top);
    for (size_t k = 0; k + 1 < d; k++) {
        NETWORK net;
        NAMED(network, lay_out)(&net, a, &at->top_down, rows, on);
        if (g->top != NULL) {
            g->top[k] = net;
        }
    }
    g->z = arena_take(a, rows * d, sizeof(REAL));
    g->slope = arena_take(a, rows * d, sizeof(REAL));
    g->seen = arena_take(a, (d - 1) * rows * d, sizeof(REAL));
    g->back = arena_take(a, rows * d, sizeof(REAL));
    g->gate = arena_take(a, d * d, sizeof(double));
    g->by = arena_take(a, d * d, sizeof(double));
}

/* A batch on its way. */
typedef struct graph_pass {
    const GRAPHVAE *g;
    const REAL *parameters;
    REAL *running, *gradient;
    size_t n;
    const graphvae_drawn *drawn;
    REAL *below; /* (n, 2d): of the encoder, then its gradient */
} graph_pass;

/* What the network of the node at position k > 0 sees, and its gradient. */
static NETWORK_BATCH top_of(const graph_pass *p, size_t k)
{
    const GRAPHVAE *g = p->g;
    const network_shape *shape = &g->at.top_down;
    size_t at = g->at.top + (k - 1) * network_count(shape);
    size_t averages = g->at.top_running + (k - 1) * network_running(shape);
    return (NETWORK_BATCH){.parameters = p->parameters + at,
                           .running = p->running != NULL ? p->running + averages : NULL,
                           .n = p->n,
                           .input = g->seen + (k - 1) * p->n * g->d,
                           .gradient = p->gradient + at,
                           .input_gradient = g->back};
}

static void open_gates(const graph_pass *p)
{
    const GRAPHVAE *g = p->g;
    const REAL *logit = p->parameters + g->at.gates;
    size_t pair = 0;
    memset(g->gate, 0, g->d * g->d * sizeof *g->gate);
    for (size_t k = 1; k < g->d; k++) {
        for (size_t a = 0; a < k; a++, pair++) {
            double u = ((double)logit[pair] + p->drawn->gumbel[pair]) / p->drawn->temperature;
            g->gate[g->order[a] * g->d + g->order[k]] = 1 / (1 + exp(-u));
        }
    }
}

/* Row r of node i: q from the two sides. above (n, 2), or NULL for the first node. */
static graphvae_fusion fuse_row(const graph_pass *p, size_t r, size_t i, const REAL *above)
{
    const REAL *below = p->below + r * 2 * p->g->d;
    double top[2] = {0, 0};
    if (above != NULL) {
        top[0] = (double)above[2 * r];
        top[1] = (double)above[2 * r + 1];
    }
    return graphvae_fuse((double)below[i], (double)below[p->g->d + i], above != NULL ? top : NULL);
}

/* z of all nodes, causes first; returns the sum of their KL. */
static double draw_z(const graph_pass *p)
{
    const GRAPHVAE *g = p->g;
    size_t d = g->d;
    double kl = 0;
    for (size_t k = 0; k < d; k++) {
        size_t i = g->order[k];
        const REAL *above = NULL;
        if (k > 0) {
            REAL *seen = g->seen + (k - 1) * p->n * d; /* (n, d) */
            for (size_t r = 0; r < p->n; r++) {
                for (size_t j = 0; j < d; j++) {
                    /* no gate is open to what comes later: its z is still 0 */
                    seen[r * d + j] = (REAL)(g->gate[j * d + i] * (double)g->z[r * d + j]);
                }
            }
            const NETWORK_BATCH top = top_of(p, k);
            above = NAMED(network, forward)(&g->top[k - 1], &top);
        }
        for (size_t r = 0; r < p->n; r++) {
            graphvae_fusion f = fuse_row(p, r, i, above);
            g->z[r * d + i] = (REAL)(f.m + f.s * p->drawn->eps[r * d + i]);
            kl += f.kl;
        }
    }
    return kl;
}

/* The equations of graphvae.h for node i: slopes into below, and above (n, 2) unless NULL. */
static void fusion_back(const graph_pass *p, size_t i, REAL *above)
{
    const GRAPHVAE *g = p->g;
    size_t d = g->d;
    double n = (double)p->n;
    for (size_t r = 0; r < p->n; r++) {
        graphvae_fusion f = fuse_row(p, r, i, above);
        double by_z = (double)g->slope[r * d + i];
        double by_s = by_z * p->drawn->eps[r * d + i] * f.s; /* in log s */
        double k = f.e / (f.st * f.st) / n;
        double pull = f.h * f.h * k;
        double by_r =
            f.h * (1 - f.h) * f.e * (by_z + f.h * k) + f.h * f.h / (2 * n) - f.h * by_s / 2;
        p->below[r * 2 * d + i] = (REAL)(f.h * by_z + pull);
        p->below[r * 2 * d + d + i] = (REAL)(-2 * by_r * f.slope_b);
        if (above != NULL) {
            above[2 * r] = (REAL)((1 - f.h) * by_z - pull);
            above[2 * r + 1] = (REAL)((by_s - pull * f.e + 2 * by_r) * f.slope_t);
        }
    }
}

/* From what the network of the node at position k saw, g->back, to z and gates of its parents. */
static void parents_back(const graph_pass *p, size_t k)
{
    const GRAPHVAE *g = p->g;
    size_t d = g->d;
    size_t i = g->order[k];
    for (size_t a = 0; a < k; a++) {
        size_t j = g->order[a];
        double c = g->gate[j * d + i];
        double sum = 0;
        for (size_t r = 0; r < p->n; r++) {
            double by = (double)g->back[r * d + j];
            sum += by * (double)g->z[r * d + j];
            g->slope[r * d + j] += (REAL)(c * by);
        }
        g->by[j * d + i] = sum;
    }
}

static void nodes_back(const graph_pass *p)
{
    const GRAPHVAE *g = p->g;
    for (size_t k = g->d; k-- > 0;) {
        if (k == 0) {
            fusion_back(p, g->order[0], NULL);
            break;
        }
        const NETWORK *net = &g->top[k - 1];
        fusion_back(p, g->order[k], net->value[net->shape.layers - 1]);
        const NETWORK_BATCH top = top_of(p, k);
        NAMED(network, backward)(net, &top);
        parents_back(p, k);
    }
    REAL *logit = p->gradient + g->at.gates;
    for (size_t k = 1; k < g->d; k++) {
        for (size_t a = 0; a < k; a++) {
            size_t at = g->order[a] * g->d + g->order[k];
            double c = g->gate[at];
            *logit++ = (REAL)(g->by[at] * c * (1 - c) / p->drawn->temperature);
        }
    }
}

void NAMED(graphvae, loss)(const GRAPHVAE *g, const NETWORK_BATCH *b, const graphvae_drawn *drawn,
                           const x_noise_rule *noise, training_terms *terms)
{
    size_t n = b->n;
    graph_pass p = {.g = g,
                    .parameters = b->parameters,
                    .running = b->running,
                    .gradient = b->gradient,
                    .n = n,
                    .drawn = drawn};
    const NETWORK_BATCH to_x = {.parameters = b->parameters + g->at.decode,
                                .running =
                                    b->running != NULL ? b->running + g->at.decode_running : NULL,
                                .n = n,
                                .input = g->z,
                                .gradient = b->gradient + g->at.decode,
                                .input_gradient = g->slope};
    open_gates(&p);
    memset(g->z, 0, n * g->d * sizeof *g->z);
    p.below = NAMED(network, forward)(&g->encode, b);
    *terms = (training_terms){.kl = draw_z(&p) / (double)n};
    REAL *y = NAMED(network, forward)(&g->decode, &to_x);
    gaussian_x(g->encode.device, n, g->D, b->input, y, noise, terms);
    terms->loss += terms->kl;
    NAMED(network, backward)(&g->decode, &to_x);
    nodes_back(&p);
    NAMED(network, backward)(&g->encode, b);
}
