/* Rows over their seeds: quartiles (interpolated linearly), and how a median compares with the
 * published. */
#include "experiments/grid.h"

#include <math.h>
#include <stdlib.h>

/* In the order of LSCM_SCORES_TABLE. Medians are compared to two decimals of an SHD and to three of
 * a share, as far as the published ones go. */
const grid_metric METRICS[METRIC_COUNT] = {
    {"e_shd", "E-SHD (a reversal counts 1)", SCALE_COUNT, -1, 0.005},
    {"e_shd_entries", "E-SHD", SCALE_COUNT, -1, 0.005},
    {"e_shd_cpdag", "E-SHD of CPDAGs", SCALE_COUNT, -1, 0.005},
    {"auroc", "AUROC", SCALE_LINEAR, 1, 0.0005},
    {"auprc_graph", "AUPRC, graph", SCALE_LINEAR, 1, 0.0005},
    {"auprc_weights", "AUPRC, weights", SCALE_LINEAR, 1, 0.0005},
    {"tp", "true positives", SCALE_LINEAR, 1, 0.005},
    {"fp", "false positives", SCALE_COUNT, -1, 0.005},
    {"tn", "true negatives", SCALE_LINEAR, 1, 0.005},
    {"fn", "false negatives", SCALE_COUNT, -1, 0.005},
    {"tpr", "true positive rate", SCALE_LINEAR, 1, 0.0005},
    {"fpr", "false positive rate", SCALE_LINEAR, -1, 0.0005},
    {"precision", "precision", SCALE_LINEAR, 1, 0.0005},
    {"recall", "recall", SCALE_LINEAR, 1, 0.0005},
    {"f1", "F1", SCALE_LINEAR, 1, 0.0005},
    {"mcc", "MCC", SCALE_LINEAR, 1, 0.0005},
    {"mcc_named", "MCC, named", SCALE_LINEAR, 1, 0.0005},
    {"mcc_free", "MCC, not intervened on", SCALE_LINEAR, 1, 0.0005},
    {"mcc_drawn", "MCC of drawn z", SCALE_LINEAR, 1, 0.0005},
    {"w_mse", "MSE of W", SCALE_LOG, -1, 0},
    {"x_mse", "MSE of x", SCALE_LOG, -1, 0},
    {"kl_z", "KL of z", SCALE_LOG, -1, 0},
    {"coverage_90", "coverage of 90% intervals", SCALE_LINEAR, 0, 0.005},
    {"coverage_90_edges", "coverage, edges", SCALE_LINEAR, 0, 0.005},
    {"edge_ece", "calibration error", SCALE_LINEAR, -1, 0.0005},
    {"do_mean_error", "error of E[z | do]", SCALE_LOG, -1, 0},
    {"do_energy", "energy distance of z | do", SCALE_LINEAR, -1, 0.0005},
    {"seconds", "seconds", SCALE_LOG, -1, 0},
};

const int SHOWN[SHOWN_ALL] = {
    METRIC_e_shd_entries,
    METRIC_auroc,
    METRIC_mcc_drawn,
    METRIC_w_mse,
    METRIC_e_shd_cpdag,
    METRIC_auprc_graph,
    METRIC_auprc_weights,
    METRIC_f1,
    METRIC_precision,
    METRIC_recall,
    METRIC_tpr,
    METRIC_fpr,
    METRIC_tp,
    METRIC_fp,
    METRIC_tn,
    METRIC_fn,
    METRIC_kl_z,
    METRIC_x_mse,
};

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a;
    double y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static double quantile(const double *sorted, size_t count, double share)
{
    double place = share * (double)(count - 1);
    size_t below = (size_t)place;
    size_t above = below + 1 < count ? below + 1 : below;
    return sorted[below] + (place - (double)below) * (sorted[above] - sorted[below]);
}

bool row_spread(const grid *g, size_t row, int metric, spread *out)
{
    size_t seeds = g->sections[g->rows[row].section].seeds;
    double *values = malloc(seeds * sizeof *values);
    *out = (spread){0};
    if (values == NULL) {
        return false;
    }
    for (size_t k = 0; k < seeds; k++) {
        const cell *c = grid_cell(g, row, k);
        if (c->state == CELL_DONE && isfinite(c->value[metric])) {
            values[out->count++] = c->value[metric];
        }
    }
    if (out->count > 0) {
        qsort(values, out->count, sizeof *values, by_size);
        out->q1 = quantile(values, out->count, 0.25);
        out->median = quantile(values, out->count, 0.5);
        out->q3 = quantile(values, out->count, 0.75);
        double reach = 1.5 * (out->q3 - out->q1);
        out->low = out->q1;
        out->high = out->q3;
        for (size_t k = 0; k < out->count; k++) {
            out->low = values[k] >= out->q1 - reach && values[k] < out->low ? values[k] : out->low;
            out->high =
                values[k] <= out->q3 + reach && values[k] > out->high ? values[k] : out->high;
        }
    }
    free(values);
    return out->count > 0;
}

size_t row_count(const grid *g, size_t row, cell_state state)
{
    size_t count = 0;
    for (size_t k = 0; k < g->sections[g->rows[row].section].seeds; k++) {
        count += grid_cell(g, row, k)->state == state ? 1 : 0;
    }
    return count;
}

size_t section_count(const grid *g, size_t section, cell_state state, bool selected)
{
    const grid_section *s = &g->sections[section];
    size_t count = 0;
    for (size_t r = s->first_row; r < s->first_row + s->rows; r++) {
        count += g->rows[r].selected || !selected ? row_count(g, r, state) : 0;
    }
    return count;
}

size_t row_of_method(const grid *g, size_t row, int method)
{
    const grid_row *own = &g->rows[row];
    const grid_section *s = &g->sections[own->section];
    for (size_t r = s->first_row; r < s->first_row + s->rows; r++) {
        const grid_row *other = &g->rows[r];
        bool same = other->of == own->of && other->degree == own->degree &&
                    (other->point == own->point || other->point == 0 || own->point == 0);
        if (same && other->method == method) {
            return r;
        }
    }
    return SIZE_MAX;
}

verdict row_verdict(const grid *g, size_t row, int metric, int method)
{
    const grid_metric *m = &METRICS[metric];
    spread s;
    double other = 0;
    bool cut_short = g->options->quick && g->rows[row].method != METHOD_OURS;
    if (cut_short || m->better == 0 || !row_spread(g, row, metric, &s) ||
        !published_median(g, row, method, metric, &other)) {
        return VERDICT_NONE;
    }
    double ahead = m->better * (s.median - other);
    if (!(ahead >= -m->tolerance)) {
        return VERDICT_WORSE;
    }
    return ahead > m->tolerance ? VERDICT_BETTER : VERDICT_EQUAL;
}

verdict row_worst_verdict(const grid *g, size_t row, int metric)
{
    verdict worst = VERDICT_NONE;
    for (int m = 0; m < METHOD_COUNT; m++) {
        verdict v = row_verdict(g, row, metric, m);
        worst = v > worst ? v : worst;
    }
    return worst;
}

size_t section_misses(const grid *g, size_t section)
{
    const grid_section *s = &g->sections[section];
    size_t count = 0;
    for (size_t r = s->first_row; r < s->first_row + s->rows; r++) {
        for (int m = 0; m < METRIC_COUNT && g->rows[r].method == METHOD_OURS; m++) {
            for (int by = 0; by < METHOD_COUNT; by++) {
                count += row_verdict(g, r, m, by) == VERDICT_WORSE ? 1 : 0;
            }
        }
    }
    return count;
}
