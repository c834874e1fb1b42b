/* What several sections need: moments of w over the draws, the order, the pairs worth naming, the
 * truth and the scores against it. */
#include "result/report/report_state.h"

#include "base/quantile.h"
#include "result/store/store.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void lay_out(report *r, arena *a)
{
    size_t square = r->d * r->d;
    bool sigma = r->data != NULL && r->data->shape[LSCM_SIGMA].present;
    r->mean = arena_take(a, square, sizeof *r->mean);
    r->sd = arena_take(a, square, sizeof *r->sd);
    r->before = arena_take(a, square, sizeof *r->before);
    r->place = arena_take(a, r->d, sizeof *r->place);
    r->order = arena_take(a, r->d, sizeof *r->order);
    r->values = arena_take(a, r->p->draws, sizeof *r->values);
    r->edges = arena_take(a, square, sizeof *r->edges);
    r->true_w = r->data != NULL ? arena_take(a, square, sizeof *r->true_w) : NULL;
    r->true_sigma = sigma ? arena_take(a, r->d, sizeof *r->true_sigma) : NULL;
}

static void take_moments(report *r)
{
    size_t square = r->d * r->d;
    double n = (double)r->p->draws;
    for (size_t s = 0; s < r->p->draws; s++) {
        for (size_t k = 0; k < square; k++) {
            r->mean[k] += r->p->w[s * square + k] / n;
        }
    }
    for (size_t s = 0; s < r->p->draws; s++) {
        for (size_t k = 0; k < square; k++) {
            double gap = r->p->w[s * square + k] - r->mean[k];
            r->sd[k] += gap * gap / n;
        }
    }
    r->one_answer = true;
    for (size_t k = 0; k < square; k++) {
        double sd = sqrt(r->sd[k]);
        r->sd[k] = sd > 1e-12 * fabs(r->mean[k]) ? sd : 0; /* not what rounding leaves */
        r->one_answer = r->one_answer && r->sd[k] == 0;
    }
}

static int by_rank(const void *left, const void *right)
{
    const ranked_node *a = left;
    const ranked_node *b = right;
    if (a->by != b->by) {
        return a->by < b->by ? -1 : 1;
    }
    return a->node < b->node ? -1 : a->node > b->node ? 1 : 0;
}

void sort_nodes(ranked_node *nodes, size_t count)
{
    qsort(nodes, count, sizeof *nodes, by_rank);
}

static lscm_status take_order(report *r, lscm_error *why)
{
    size_t d = r->d;
    double n = (double)r->p->draws;
    ranked_node *nodes = malloc(d * sizeof *nodes);
    if (nodes == NULL) {
        return fail_memory(why, d * sizeof *nodes);
    }
    for (size_t s = 0; s < r->p->draws; s++) {
        const size_t *order = r->p->order + s * d;
        for (size_t k = 0; k < d; k++) {
            r->place[order[k]] += (double)k / n;
            for (size_t later = k + 1; later < d; later++) {
                r->before[order[k] * d + order[later]] += 1;
            }
        }
    }
    for (size_t k = 0; k < d * d; k++) {
        r->before[k] /= n;
    }
    for (size_t i = 0; i < d; i++) {
        nodes[i] = (ranked_node){r->place[i], i};
    }
    sort_nodes(nodes, d);
    for (size_t i = 0; i < d; i++) {
        r->order[i] = nodes[i].node;
    }
    free(nodes);
    return LSCM_OK;
}

/* The likeliest first, then the strongest, then by number. */
static int by_probability(const void *left, const void *right)
{
    const report_edge *a = left;
    const report_edge *b = right;
    if (a->probability != b->probability) {
        return a->probability > b->probability ? -1 : 1;
    }
    if (fabs(a->mean) != fabs(b->mean)) {
        return fabs(a->mean) > fabs(b->mean) ? -1 : 1;
    }
    if (a->from != b->from) {
        return a->from < b->from ? -1 : 1;
    }
    return a->to < b->to ? -1 : a->to > b->to ? 1 : 0;
}

/* mean, sd and quantiles of a weight that may stand for both ways. */
static void weigh_edge(const report *r, report_edge *e)
{
    size_t n = r->p->draws;
    double square = 0;
    for (size_t s = 0; s < n; s++) {
        r->values[s] = edge_weight(r, e, r->p->w + s * r->d * r->d);
        square += (r->values[s] - e->mean) * (r->values[s] - e->mean);
    }
    qsort(r->values, n, sizeof *r->values, quantile_compare);
    e->sd = e->undirected ? sqrt(square / (double)n) : e->sd;
    e->low = quantile_of_sorted(r->values, n, 0.05);
    e->high = quantile_of_sorted(r->values, n, 0.95);
}

static void list_edges(report *r)
{
    size_t d = r->d;
    for (size_t k = 0; k < d * d; k++) {
        size_t back = k % d * d + k / d;
        bool undirected = r->p->undirected[k] != 0;
        double gap = r->p->edge_prob[k] - r->p->edge_prob[back];
        report_edge e = {.from = k / d,
                         .to = k % d,
                         .probability = posterior_shown(r->p, k / d, k % d),
                         .mean = r->mean[k] + (undirected ? r->mean[back] : 0),
                         .sd = r->sd[k],
                         .undirected = undirected};
        bool other = undirected && (gap < 0 || (gap == 0 && e.from > e.to)); /* that one stays */
        if (e.from == e.to || !(e.probability > RULED_OUT) || other) {
            continue;
        }
        weigh_edge(r, &e);
        r->edges[r->count++] = e;
        r->undirected += undirected ? 1 : 0;
        *(e.probability >= SURE ? &r->certain : &r->doubtful) += 1;
    }
    qsort(r->edges, r->count, sizeof *r->edges, by_probability);
}

static lscm_status take_truth(report *r, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    if (r->data == NULL) {
        return LSCM_OK;
    }
    TRY(lscm_posterior_evaluate(&r->scores, r->p, r->data, why)); /* its checks, too */
    TRY(lscm_dataset_read(r->data, LSCM_W, 0, r->d, r->true_w, why));
    if (r->true_sigma != NULL) {
        TRY(lscm_dataset_read(r->data, LSCM_SIGMA, 0, r->d, r->true_sigma, why));
    }
    r->plain_truth = true;
    for (size_t k = 0; k < r->d * r->d; k++) {
        r->plain_truth = r->plain_truth && (r->true_w[k] == 0 || r->true_w[k] == 1);
    }
done:
    return status;
}

lscm_status report_gather(report *r, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    r->d = r->p->d;
    r->config = json_loads(lscm_posterior_config(r->p), 0, NULL);
    r->summary = json_loads(lscm_posterior_summary(r->p), 0, NULL);
    if (r->data != NULL && r->data->nodes != r->d) {
        return fail(why, LSCM_SHAPE, "the run has %zu nodes but %s has %zu; they must match", r->d,
                    r->data->path, r->data->nodes);
    }
    lay_out(r, &r->memory);
    TRY(arena_open(&r->memory, why));
    lay_out(r, &r->memory);
    take_moments(r);
    TRY(take_order(r, why));
    list_edges(r);
    TRY(take_truth(r, why));
done:
    return status;
}

void report_close(report *r)
{
    json_decref(r->config);
    json_decref(r->summary);
    arena_close(&r->memory);
}

const char *node_label(const report *r, size_t node, char room[24])
{
    if (r->p->node_names != NULL) {
        return r->p->node_names[node];
    }
    (void)snprintf(room, 24, "%zu", node); /* as the program, --do and exports have it */
    return room;
}

void put_node(const report *r, size_t node)
{
    char room[24];
    put_text(r->out, node_label(r, node, room));
}

void put_edge_name(const report *r, size_t from, size_t to)
{
    put_node(r, from);
    (void)fputs(r->p->undirected[from * r->d + to] != 0 ? " \xe2\x80\x94 " : " \xe2\x86\x92 ",
                r->out);
    put_node(r, to);
}

const json_t *of_node(const report *r, const json_t *by_node, size_t node)
{
    char number_text[24];
    if (r->p->node_names != NULL) {
        return json_object_get(by_node, r->p->node_names[node]);
    }
    (void)snprintf(number_text, sizeof number_text, "%zu", node);
    return json_object_get(by_node, number_text);
}
