/* A report from the inside: report_gather computes what several sections need, then each section,
 * in a file of its own, writes itself. With p(j -> i) the edge probabilities,
 *
 *     certain: p >= 0.95     doubtful: 0.05 < p < 0.95     ruled out: p <= 0.05
 *
 * Nodes stand in the order of their mean position over the draws, causes first, wherever all of
 * them are shown. */
#ifndef LSCM_RESULT_REPORT_REPORT_STATE_H
#define LSCM_RESULT_REPORT_REPORT_STATE_H

#include "base/arena.h"
#include "result/report/report_page.h"
#include "scm/posterior/posterior.h"

#include <jansson.h>

#define SURE 0.95
#define RULED_OUT 0.05

typedef struct report_edge {
    size_t from, to;
    double probability, mean, sd, low, high; /* of the weight, over all draws; 5% and 95% */
    bool undirected; /* nothing tells which way: of both together, `from` the likelier cause */
} report_edge;

typedef struct report {
    const lscm_posterior *p;
    const lscm_dataset *data; /* with the truth, or NULL */
    const char *folder;       /* of the run, or NULL */
    const char *title;
    FILE *out;
    size_t d;
    json_t *config, *summary;
    double *mean, *sd;  /* (d, d): of w */
    double *before;     /* (d, d): share of the draws in which j stands before i */
    double *place;      /* (d): mean position, 0 first */
    size_t *order;      /* (d): nodes by mean position */
    double *values;     /* (draws): scratch */
    report_edge *edges; /* (d (d - 1)): all pairs that are not ruled out, likeliest first */
    bool one_answer;    /* all draws have the same weights */
    size_t certain, doubtful, count; /* count: in edges */
    size_t undirected;               /* of count */
    double *true_w;                  /* (d, d), or NULL */
    double *true_sigma;              /* (d), or NULL */
    bool plain_truth;                /* of zeros and ones: a graph without weights */
    lscm_scores scores;              /* where there is a truth */
    arena memory;
} report;

/* r has p, data, folder; config, summary and memory are r's afterwards: report_close. */
lscm_status report_gather(report *r, lscm_error *why);
void report_close(report *r);

/* Of w (d, d), a draw or the truth: that of the edge, whichever way where nothing tells. */
static inline double edge_weight(const report *r, const report_edge *e, const double *w)
{
    return w[e->from * r->d + e->to] + (e->undirected ? w[e->to * r->d + e->from] : 0);
}

static inline double true_weight(const report *r, size_t from, size_t to)
{
    return r->true_w[from * r->d + to];
}

/* The name of a node, or z and its number in `room`. */
const char *node_label(const report *r, size_t node, char room[24]);
void put_node(const report *r, size_t node);
/* "a → b", or "a — b" where nothing tells which way */
void put_edge_name(const report *r, size_t from, size_t to);
/* Nodes to be sorted: by a number, then as they are numbered. */
typedef struct ranked_node {
    double by;
    size_t node;
} ranked_node;
void sort_nodes(ranked_node *nodes, size_t count);
/* What the summary says of a node: held_out.r2 and the like; NULL where it says nothing. */
const json_t *of_node(const report *r, const json_t *by_node, size_t node);

/* A square of numbers as a picture: rows are causes, columns effects. */
typedef struct heat_map {
    const char *title, *about; /* about: what a screen reader says */
    const double *values;      /* (d, d) */
    double most;               /* |value| of the full colour; 0: the largest */
    bool whole;                /* the numbers are */
} heat_map;
enum { HEAT_NODES = 200 }; /* beyond, tables */
void put_heat_map(const report *r, const heat_map *map);

/* Where weights are shown: that they are average slopes, where mechanisms bend. */
void put_slopes_note(const report *r);

/* The sections, in the order of the page. Those that may have nothing to say tell it by `false`. */
void report_headline(const report *r);
lscm_status report_graph(const report *r, lscm_error *why);
void report_weights(const report *r);
void report_checks(const report *r);
void report_posteriors(const report *r);
lscm_status report_curves(const report *r, lscm_error *why);
void report_order(const report *r);
lscm_status report_nodes(const report *r, lscm_error *why);
lscm_status report_training(const report *r, lscm_error *why);
lscm_status report_latents(const report *r, lscm_error *why);
lscm_status report_pictures(const report *r, lscm_error *why);
void report_scores(const report *r);
lscm_status report_repeat(const report *r, lscm_error *why);

/* Which sections there will be: for the list of contents. */
bool has_checks(const report *r);
bool has_curves(const report *r);
bool has_training(const report *r);
bool has_latents(const report *r);
bool has_pictures(const report *r);

#endif
