#include "infer/run/directions.h"

#include "base/arena.h"
#include "base/node_name.h"
#include "base/tuned.h"
#include "scm/graph/graph.h"

#include <math.h>
#include <stdio.h>

enum { MOST_TOLD = 6, ROWS = 256 };

/* ---- Finding them ---- */

typedef struct scratch {
    uint8_t *told, *dag, *essential; /* (d, d) each */
    double *reversible;              /* (d, d): share of graphs */
    double *target;                  /* (ROWS, d) */
    cpdag_work work;
    arena memory;
} scratch;

static void lay_out(scratch *q, size_t d)
{
    q->told = arena_take(&q->memory, d * d, 1);
    q->dag = arena_take(&q->memory, d * d, 1);
    q->essential = arena_take(&q->memory, d * d, 1);
    q->reversible = arena_take(&q->memory, d * d, sizeof(double));
    q->target = arena_take(&q->memory, ROWS * d, sizeof(double));
    cpdag_lay_out(&q->work, &q->memory, d);
}

/* Pairs of which a row has one end set and not the other. *any: a row has any. */
static lscm_status tell_apart(const scratch *q, const lscm_dataset *data, bool *any,
                              lscm_error *why)
{
    lscm_status status = LSCM_OK;
    size_t d = data->nodes;
    for (size_t first = 0; first < data->rows; first += ROWS) {
        size_t count = data->rows - first < ROWS ? data->rows - first : ROWS;
        TRY(lscm_dataset_read(data, LSCM_TARGETS, first, count, q->target, why));
        for (size_t r = 0; r < count; r++) {
            const double *target = q->target + r * d;
            for (size_t k = 0; k < d * d; k++) {
                *any = *any || target[k / d] != 0;
                q->told[k] |= (target[k / d] != 0) != (target[k % d] != 0) ? 1 : 0;
            }
        }
    }
done:
    return status;
}

static void find_reversible(const scratch *q, const lscm_posterior *p)
{
    size_t d = p->d;
    for (size_t s = 0; s < p->draws; s++) {
        for (size_t k = 0; k < d * d; k++) {
            q->dag[k] = fabs(p->w[s * d * d + k]) > p->threshold ? 1 : 0;
        }
        if (essential_of_dag(q->dag, d, q->told, q->essential, &q->work)) {
            essential_add_reversible(q->essential, d, 1 / (double)p->draws, q->reversible);
        }
    }
}

lscm_status directions_find(fit *f, const lscm_posterior *p, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    size_t d = p->d;
    bool any = false;
    scratch q = {.told = NULL};
    if (f->settings.noise == LSCM_NOISE_EQUAL || f->order != NULL) {
        return LSCM_OK;
    }
    lay_out(&q, d);
    TRY(arena_open(&q.memory, why));
    lay_out(&q, d);
    TRY(tell_apart(&q, f->data, &any, why));
    find_reversible(&q, p);
    json_t *list = json_array();
    for (size_t k = 0; k < d * d; k++) {
        double either = p->edge_prob[k] + p->edge_prob[k % d * d + k / d];
        if (k / d < k % d && either > 1 - tuned_check_decided() && q.reversible[k] > either / 2) {
            (void)json_array_append_new(
                list, json_pack("[I, I]", (json_int_t)(k / d), (json_int_t)(k % d)));
        }
    }
    f->pairs = json_pack("{s:o}", "undirected", list);
    advise_on_directions(f, !any, p->edge_prob);
done:
    arena_close(&q.memory);
    return status;
}

/* ---- Saying so ---- */

/* Pairs with an edge of probability over 1/2, either way. */
static size_t count_likely(const double *edge_prob, size_t d)
{
    size_t count = 0;
    for (size_t k = 0; k < d * d; k++) {
        size_t back = k % d * d + k / d;
        count += k < back && edge_prob[k] + edge_prob[back] > 0.5 ? 1 : 0;
    }
    return count;
}

void advise_on_directions(const fit *f, bool observational, const double *edge_prob)
{
    const json_t *list = json_object_get(f->pairs, "undirected");
    char *const *names = f->data->node_names;
    size_t d = f->data->nodes;
    char text[1024] = "";
    size_t used = 0;
    size_t count = 0;
    for (size_t k = 0; k < json_array_size(list); k++) {
        char rooms[2][NODE_NAME_ROOM];
        const json_t *pair = json_array_get(list, k);
        size_t i = (size_t)json_integer_value(json_array_get(pair, 0));
        size_t j = (size_t)json_integer_value(json_array_get(pair, 1));
        if (!(edge_prob[i * d + j] + edge_prob[j * d + i] > 0.5)) {
            continue;
        }
        int wrote = count < MOST_TOLD ? snprintf(text + used, sizeof text - used, "%s%s -- %s",
                                                 count > 0 ? ", " : "",
                                                 name_of(names, i, rooms[0], NODE_NAME_ROOM),
                                                 name_of(names, j, rooms[1], NODE_NAME_ROOM))
                                      : 0;
        bool fits = wrote > 0 && (size_t)wrote < sizeof text - used;
        used += fits ? (size_t)wrote : 0;
        text[used] = '\0'; /* names whole: a half one may not be UTF-8 */
        count++;
    }
    if (count == 0) {
        return;
    }
    (void)json_array_append_new(
        f->warnings,
        json_sprintf("%s: of %zu likely edges %zu %s no direction that the data know (%s%s). Only "
                     "the equivalence class of the graph is known there; sets with do() on one end "
                     "and not on the other would tell",
                     observational ? "there are no interventions in these data"
                                   : "no intervention set tells some directions",
                     count_likely(edge_prob, d), count, count == 1 ? "has" : "have", text,
                     count > MOST_TOLD ? ", .." : ""));
}
