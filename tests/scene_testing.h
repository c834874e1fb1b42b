/* Scenes drawn up by a preset, their pictures, and where in a picture something is. */
#ifndef LSCM_TESTS_SCENE_TESTING_H
#define LSCM_TESTS_SCENE_TESTING_H

#include "scm/simulate/simulate.h"

#include "simulated.h"

/* What differs from the background: how much, and around where (pixels). */
typedef struct seen {
    double mass, row, column;
} seen;

static inline seen look(const projection *p, const double *x, size_t first_row)
{
    seen s = {0};
    for (size_t i = first_row * p->width * p->channels; i < p->features; i++) {
        double other = fabs(x[i] - p->scene.background[i]);
        s.mass += other;
        s.row += other * (double)(i / (p->width * p->channels));
        s.column += other * (double)(i / p->channels % p->width);
    }
    s.row /= s.mass;
    s.column /= s.mass;
    return s;
}

/* Changes in words: "size=48 width=96 grey=true". */
static inline projection scene_as(const char *name, int64_t nodes, int64_t seed,
                                  const char *changes)
{
    projection p;
    lscm_error why;
    lscm_simulation s = simulation_of(name, nodes, changes);
    s.seed = seed;
    assert_ok(projection_random(&p, &s, &why));
    return p;
}

static inline projection scene_of(const char *name, int64_t nodes, int64_t seed, int64_t size)
{
    projection p;
    lscm_error why;
    lscm_simulation s = preset(name, nodes, seed);
    s.size = size;
    assert_ok(projection_random(&p, &s, &why));
    assert_int_equal(p.features, 3 * size * size);
    return p;
}

/* The picture of z = 0 but for one node, or two. */
static inline double *picture(const projection *p, size_t node, double value, size_t other,
                              double set)
{
    double z[SCENE_NODES] = {0};
    double *x = malloc(p->features * sizeof *x);
    assert_non_null(x);
    z[node] = value;
    if (other != node) {
        z[other] = set;
    }
    projection_apply(p, 1, z, NULL, x);
    return x;
}

static inline seen look_at(const projection *p, size_t node, double value)
{
    double *x = picture(p, node, value, node, 0);
    seen s = look(p, x, 0);
    free(x);
    return s;
}

#endif
