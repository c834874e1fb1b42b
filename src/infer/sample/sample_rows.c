/* Draws of z too, where rows are known worse than the mechanisms resolve: x is noisy, or z was
 * clipped, or lies beyond the values that label it (latent_chain.h). A chain hardly leaves a graph
 * that is far wrong, so it matters where it starts. Where x says nothing of z beyond its bounds
 * (clips, pixels at their ends), what stands there bends regressions, so graphs to start from, and
 * what rows count, come from those in which nothing is cut off. Where it does, all rows are better:
 * the others lack the interventions with the largest effects. */
#include "infer/sample/sample_rows.h"
#include "base/streams.h"
#include "base/tuned.h"
#include "infer/sample/clip.h"
#include "infer/sample/latent_chain.h"
#include "infer/sample/sample_chains.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

bool anchored_rows_few(const linear_view *s)
{
    return s->rank == s->d && s->rows * s->d <= tuned_rows_most();
}

static bool can_be_drawn(const anchored *a, const anchored_input *in)
{
    return in->keep == NULL && a->d <= ANCHORED_JOINT && anchored_rows_few(in->view);
}

bool anchored_noise_matters(const anchored *a)
{
    bool matters = false;
    for (size_t j = 0; j < a->d; j++) {
        matters = matters || (a->anchor.kind[j] != ANCHOR_NONE &&
                              !(a->anchor.noise[j] <= tuned_rows_matter() * a->sigma[j]));
    }
    return matters;
}

bool anchored_rows_noisy(const anchored *a, const anchored_input *in)
{
    return in->view->kind == VIEW_LINEAR && anchored_noise_matters(a) && can_be_drawn(a, in);
}

bool anchored_rows_matter(const anchored *a, const anchored_input *in)
{
    for (size_t j = 0; j < a->d && in->view->kind == VIEW_LINEAR; j++) {
        if (a->anchor.kind[j] == ANCHOR_NONE) {
            return a->clip > 0;
        }
    }
    return a->clip > 0 ? can_be_drawn(a, in) : anchored_rows_noisy(a, in);
}

lscm_status anchored_rows_known(const anchored *a, const anchored_input *in, uint8_t **keep,
                                lscm_error *why)
{
    size_t d = a->d;
    size_t count = 0;
    double *bound = malloc(d * sizeof *bound);
    uint8_t *inside = malloc(a->rows);
    if (bound == NULL || inside == NULL) {
        free(bound);
        free(inside);
        return fail_memory(why, a->rows + d * sizeof *bound);
    }
    clip_bounds(a->clip, in->reach, &a->anchor, bound);
    for (size_t k = 0; k < a->rows; k++) {
        inside[k] = 1;
        for (size_t j = 0; j < d; j++) {
            bool told = in->unknown == NULL || in->unknown[k * d + j] == 0;
            bool known = design_is_set(&in->view->design, k, j) ||
                         (told && fabs(a->z[k * d + j]) < bound[j]);
            inside[k] = known ? inside[k] : 0;
        }
        count += inside[k];
    }
    if (count < tuned_rows_inside() * d) {
        memset(inside, 1, a->rows);
    }
    *keep = inside;
    free(bound);
    return LSCM_OK;
}

typedef struct rows_scratch {
    dag_draws start;
    double *z, *series;
    arena memory;
} rows_scratch;

static void lay_out_rows(rows_scratch *t, const anchored *a, const anchored_input *in)
{
    arena *m = &t->memory;
    t->start.count = anchored_chains(in);
    t->start.d = a->d;
    t->start.parents = arena_take(m, t->start.count * a->d, sizeof *t->start.parents);
    t->start.order = arena_take(m, t->start.count * a->d, sizeof *t->start.order);
    t->z = arena_take(m, a->rows * a->d, sizeof(double));
    t->series = arena_take(m, a->draws, sizeof(double));
}

/* Chains start from the graphs drawn so far, spread over them. */
static void take_starts(const anchored *a, const graph_posterior *g, dag_draws *start)
{
    size_t d = a->d;
    for (size_t c = 0; c < start->count; c++) {
        size_t from = ((c + 1) * a->draws - 1) / start->count;
        memcpy(start->order + c * d, a->order + from * d, d * sizeof *start->order);
        for (size_t i = 0; i < d; i++) {
            const family *f = &g->families.list[i];
            for (size_t k = 0; k < f->count; k++) {
                bool there = a->w[(from * d + f->candidate[k]) * d + i] != 0;
                start->parents[c * d + i] |= there ? (uint32_t)1 << k : 0;
            }
        }
    }
}

lscm_status anchored_infer_rows(anchored *a, const anchored_input *in, const graph_posterior *g,
                                lscm_error *why)
{
    lscm_status status = LSCM_OK;
    const linear_view *s = in->view;
    size_t n = s->rows * s->d;
    rows_scratch t = {0};
    anchor encoder = a->anchor; /* as far as it has been refined */
    encoder.intercept = a->shift;
    encoder.slope = a->slope;
    lay_out_rows(&t, a, in);
    TRY(arena_open(&t.memory, why));
    lay_out_rows(&t, a, in);
    (void)arena_take(&a->rows_memory, n, sizeof(double));
    TRY(arena_open(&a->rows_memory, why));
    a->z_sd = arena_take(&a->rows_memory, n, sizeof(double));
    take_starts(a, g, &t.start);
    memcpy(t.z, a->z, n * sizeof *t.z);
    if (!(a->anchor.actuator_noise > 0)) {
        design_put(&s->design, t.z, NULL);
    }
    latent_problem problem = {.view = s,
                              .anchor = &encoder,
                              .z = t.z,
                              .clip = a->clip,
                              .reach = in->reach,
                              .unknown = in->unknown,
                              .graph = g,
                              .start = &t.start,
                              .chains = anchored_chains(in),
                              .sweeps = anchored_sweeps(in),
                              .order_given = in->order != NULL,
                              .effects = g->families.levels > 1,
                              .series = t.series,
                              .progress = in->progress};
    TRY(latent_sample(&problem, stream_of((uint64_t)in->settings->seed, STREAM_LATENT), a, a->z_sd,
                      why));
    memcpy(a->log_q, a->log_p, a->draws * sizeof(double));
    a->sampler = SAMPLER_LATENT;
done:
    arena_close(&t.memory);
    return status;
}
