/* Merging, checking and recording background knowledge: see knowledge.h. */
#include "infer/run/knowledge.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NODE_TEXT = 96 };

/* The nodes as people know them. */
typedef struct naming {
    size_t d;
    char *const *names; /* (d), or NULL */
} naming;

/* A name, which may be cut, or a number. */
static const char *node_text(naming n, size_t node, char out[NODE_TEXT])
{
    if (n.names != NULL) {
        (void)snprintf(out, NODE_TEXT, "%s", n.names[node]);
    } else {
        (void)snprintf(out, NODE_TEXT, "%zu", node);
    }
    return out;
}

static lscm_status refuse(naming n, size_t j, size_t i, const char *what, lscm_error *why)
{
    char from[NODE_TEXT];
    char to[NODE_TEXT];
    return fail(why, LSCM_USAGE, "the edge %s->%s is required, but %s; leave out one of the two",
                node_text(n, j, from), node_text(n, i, to), what);
}

/* Does the edge lead from a later tier to an earlier one? */
static bool climbs(const size_t *tiers, size_t j, size_t i)
{
    return tiers != NULL && tiers[j] != SIZE_MAX && tiers[i] != SIZE_MAX && tiers[j] > tiers[i];
}

/* position (d): where a node stands in the given order, or NULL. */
static lscm_status check_edge(const lscm_run_options *run, naming n, const size_t *position,
                              size_t j, size_t i, lscm_error *why)
{
    char text[NODE_TEXT];
    if (i == j) {
        return fail(why, LSCM_USAGE, "the edge %s->%s is required, but no node causes itself",
                    node_text(n, i, text), text);
    }
    if (run->forbidden != NULL && run->forbidden[j * n.d + i] != 0) {
        return refuse(n, j, i, "it is also forbidden", why);
    }
    if (climbs(run->tiers, j, i)) {
        return refuse(n, j, i, "it points from a later tier to an earlier one", why);
    }
    if (position != NULL && position[j] > position[i]) {
        return refuse(n, j, i, "it points backwards in the order that is given", why);
    }
    return LSCM_OK;
}

static lscm_status check_edges(const lscm_run_options *run, naming n, const size_t *position,
                               lscm_error *why)
{
    lscm_status status = LSCM_OK;
    for (size_t j = 0; j < n.d; j++) {
        for (size_t i = 0; i < n.d; i++) {
            if (run->required[j * n.d + i] != 0) {
                TRY(check_edge(run, n, position, j, i, why));
            }
        }
    }
done:
    return status;
}

/* "a->b->c->a" from `left` (d), 1 for nodes that each have a required parent among themselves;
 * `walk` (d) is scratch. Long cycles are cut. */
static lscm_status fail_cycle(const uint8_t *required, naming n, const uint8_t *left, size_t *walk,
                              lscm_error *why)
{
    char text[512] = "";
    char node[NODE_TEXT];
    size_t d = n.d;
    size_t at = 0;
    size_t steps = 0;
    size_t begin = 0;
    while (left[at] == 0) {
        at++;
    }
    for (bool again = false; !again;) { /* from effect to cause until a node comes back */
        walk[steps++] = at;
        size_t cause = 0;
        while (left[cause] == 0 || required[cause * d + at] == 0) {
            cause++;
        }
        at = cause;
        for (begin = 0; begin < steps && walk[begin] != at; begin++) {
        }
        again = begin < steps;
    }
    size_t used = (size_t)snprintf(text, sizeof text, "%s", node_text(n, at, node));
    for (size_t k = steps; k > begin && used < sizeof text - NODE_TEXT - 8; k--) {
        used += (size_t)snprintf(text + used, sizeof text - used, "->%s",
                                 node_text(n, walk[k - 1], node));
        if (k - 1 > begin && used >= sizeof text - NODE_TEXT - 8) {
            (void)snprintf(text + used, sizeof text - used, "->...");
        }
    }
    return fail(why, LSCM_USAGE, "the required edges make a cycle: %s; leave one of them out",
                text);
}

/* Takes away nodes without a required parent among those left until none is. */
static lscm_status check_cycle(const uint8_t *required, naming n, size_t *scratch, lscm_error *why)
{
    size_t d = n.d;
    size_t *parents = scratch;   /* (d) */
    size_t *queue = scratch + d; /* (d) */
    size_t queued = 0;
    lscm_status status = LSCM_OK;
    uint8_t *left = malloc(d + 1);
    if (left == NULL) {
        return fail_memory(why, d);
    }
    memset(left, 1, d);
    memset(parents, 0, d * sizeof *parents);
    for (size_t j = 0; j < d; j++) {
        for (size_t i = 0; i < d; i++) {
            parents[i] += required[j * d + i] != 0 ? 1 : 0;
        }
    }
    for (size_t i = 0; i < d; i++) {
        if (parents[i] == 0) {
            queue[queued++] = i;
        }
    }
    for (size_t k = 0; k < queued; k++) {
        size_t j = queue[k];
        left[j] = 0;
        for (size_t i = 0; i < d; i++) {
            if (required[j * d + i] != 0 && --parents[i] == 0) {
                queue[queued++] = i;
            }
        }
    }
    if (queued < d) {
        status = fail_cycle(required, n, left, queue, why);
    }
    free(left);
    return status;
}

static void merge(knowledge *k, const lscm_run_options *run)
{
    size_t d = k->d;
    for (size_t j = 0; j < d; j++) {
        for (size_t i = 0; i < d; i++) {
            size_t at = j * d + i;
            bool said = run->forbidden != NULL && run->forbidden[at] != 0;
            k->forbidden[at] = i == j || said || climbs(run->tiers, j, i) ? 1 : 0;
            k->required[at] = run->required != NULL && run->required[at] != 0 ? 1 : 0;
        }
    }
}

lscm_status knowledge_open(knowledge *out, const lscm_run_options *run, size_t d,
                           char *const *names, const size_t *order, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    const naming n = {d, names};
    size_t *scratch = NULL;
    knowledge k = {.d = d};
    *out = k;
    if (run->forbidden == NULL && run->required == NULL && run->tiers == NULL) {
        return LSCM_OK;
    }
    scratch = malloc(2 * d * sizeof *scratch);
    k.forbidden = calloc(d, d);
    k.required = calloc(d, d);
    if (scratch == NULL || k.forbidden == NULL || k.required == NULL) {
        status = fail_memory(why, 2 * d * (d + sizeof *scratch));
        goto done;
    }
    if (run->required != NULL) {
        for (size_t at = 0; order != NULL && at < d; at++) {
            scratch[order[at]] = at;
        }
        TRY(check_edges(run, n, order != NULL ? scratch : NULL, why));
        TRY(check_cycle(run->required, n, scratch, why));
    }
    merge(&k, run);
    *out = k;
    k = (knowledge){0};
done:
    knowledge_close(&k);
    free(scratch);
    return status;
}

void knowledge_close(knowledge *k)
{
    free(k->forbidden);
    free(k->required);
    *k = (knowledge){0};
}

/* ---- Into config.json ---- */

static json_t *edge_list(const uint8_t *edges, naming n)
{
    json_t *list = json_array();
    for (size_t k = 0; k < n.d * n.d; k++) {
        if (edges[k] == 0 || k / n.d == k % n.d) {
            continue;
        }
        json_t *edge = n.names != NULL ? json_sprintf("%s->%s", n.names[k / n.d], n.names[k % n.d])
                                       : json_sprintf("%zu->%zu", k / n.d, k % n.d);
        (void)json_array_append_new(list, edge);
    }
    return list;
}

/* Tiers that have a node, the earliest first. */
static json_t *tier_list(const size_t *tiers, naming n)
{
    json_t *list = json_array();
    for (size_t now = 0, next = 0; next != SIZE_MAX; now = next + 1) {
        next = SIZE_MAX;
        for (size_t i = 0; i < n.d; i++) {
            next = tiers[i] >= now && tiers[i] < next ? tiers[i] : next;
        }
        json_t *nodes = json_array();
        for (size_t i = 0; next != SIZE_MAX && i < n.d; i++) {
            if (tiers[i] == next) {
                (void)json_array_append_new(nodes, n.names != NULL ? json_string(n.names[i])
                                                                   : json_integer((json_int_t)i));
            }
        }
        if (next != SIZE_MAX) {
            (void)json_array_append(list, nodes);
        }
        json_decref(nodes);
    }
    return list;
}

void knowledge_store(const lscm_run_options *run, size_t d, char *const *names, json_t *config)
{
    const naming n = {d, names};
    if (run->forbidden != NULL) {
        (void)json_object_set_new(config, "forbid", edge_list(run->forbidden, n));
    }
    if (run->required != NULL) {
        (void)json_object_set_new(config, "require", edge_list(run->required, n));
    }
    if (run->tiers != NULL) {
        (void)json_object_set_new(config, "tiers", tier_list(run->tiers, n));
    }
}
