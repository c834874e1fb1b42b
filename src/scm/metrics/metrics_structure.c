/* Scores of graphs, each computed on one draw and averaged over draws.
 *
 * A draw has the edge j -> i where |w[j][i]| > threshold, the truth where w[j][i] is not 0; counts
 * run over the d(d-1) off-diagonal entries. Where a rate is 0/0: recall is 1 (nothing to find),
 * fpr 0 (nothing to get wrong), f1 1 (both graphs empty), precision 1 if there is no true edge and
 * 0 otherwise (nothing was found of what there is).
 */
#include "scm/metrics/metrics_parts.h"

void structure_lay_out(structure_work *work, arena *a, size_t d)
{
    work->truth = arena_take(a, d * d, 1);
    work->truth_class = arena_take(a, d * d, 1);
    work->draw = arena_take(a, d * d, 1);
    work->draw_class = arena_take(a, d * d, 1);
    cpdag_lay_out(&work->cpdag, a, d);
}

typedef struct counts {
    size_t tp, fp, tn, fn;
} counts;

/* Neither graph has an edge on the diagonal: both are DAGs. */
static counts count_entries(const uint8_t *truth, const uint8_t *draw, size_t d)
{
    size_t both = 0;
    size_t drawn = 0;
    size_t real = 0;
    for (size_t k = 0; k < d * d; k++) {
        both += truth[k] & draw[k];
        drawn += draw[k];
        real += truth[k];
    }
    return (counts){both, drawn - both, d * (d - 1) - drawn - real + both, real - both};
}

static double ratio(size_t part, size_t whole, double otherwise)
{
    return whole == 0 ? otherwise : (double)part / (double)whole;
}

static void add_rates(lscm_scores *sum, counts c)
{
    sum->tp += (double)c.tp;
    sum->fp += (double)c.fp;
    sum->tn += (double)c.tn;
    sum->fn += (double)c.fn;
    sum->recall += ratio(c.tp, c.tp + c.fn, 1);
    sum->fpr += ratio(c.fp, c.fp + c.tn, 0);
    sum->precision += ratio(c.tp, c.tp + c.fp, c.fn == 0 ? 1 : 0);
    sum->f1 += ratio(2 * c.tp, 2 * c.tp + c.fp + c.fn, 1);
}

static void store_means(lscm_scores *out, const lscm_scores *sum, size_t draws)
{
    double n = (double)draws;
    out->e_shd = sum->e_shd / n;
    out->e_shd_entries = sum->e_shd_entries / n;
    out->e_shd_cpdag = sum->e_shd_cpdag / n;
    out->tp = sum->tp / n;
    out->fp = sum->fp / n;
    out->tn = sum->tn / n;
    out->fn = sum->fn / n;
    out->recall = sum->recall / n;
    out->tpr = out->recall;
    out->fpr = sum->fpr / n;
    out->precision = sum->precision / n;
    out->f1 = sum->f1 / n;
}

lscm_status structure_scores(lscm_scores *out, const lscm_estimate *estimate,
                             const lscm_truth *truth, const char *estimate_name,
                             const char *truth_name, const structure_work *work, lscm_error *why)
{
    size_t d = estimate->nodes;
    lscm_scores sum = {0};
    (void)graph_from_weights(truth->w, d, 0, work->truth);
    if (!cpdag_of_dag(work->truth, d, work->truth_class, &work->cpdag)) {
        return fail(why, LSCM_CYCLE,
                    "%s: the graph of 'w' has a cycle; the true graph must be acyclic", truth_name);
    }
    for (size_t s = 0; s < estimate->draws; s++) {
        (void)graph_from_weights(estimate->w + s * d * d, d, estimate->threshold, work->draw);
        if (!cpdag_of_dag(work->draw, d, work->draw_class, &work->cpdag)) {
            return fail(
                why, LSCM_CYCLE,
                "%s: the graph of 'w' in draw %zu (0-based; |w| > %g) has a cycle; every draw must "
                "be acyclic",
                estimate_name, s, estimate->threshold);
        }
        sum.e_shd += (double)graph_shd(work->truth, work->draw, d);
        sum.e_shd_entries += (double)graph_shd_entries(work->truth, work->draw, d);
        sum.e_shd_cpdag += (double)graph_shd(work->truth_class, work->draw_class, d);
        add_rates(&sum, count_entries(work->truth, work->draw, d));
    }
    store_means(out, &sum, estimate->draws);
    return LSCM_OK;
}
