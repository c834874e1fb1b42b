#include "infer/anchored/anchored_time.h"

#include "base/tuned.h"
#include "infer/graph/graph.h"

#include <math.h>

enum { SEARCHES = 2 }; /* of all graphs: for the prior, then by it */

size_t judged_targets(size_t d, bool observed)
{
    return d <= tuned_judge_nodes() ? tuned_judge_parts() : observed ? 1 : 0;
}

/* A number that is read takes about as long as the score of a parent set. Where targets are left
 * out the prior is known. */
void time_all(fit *f)
{
    stages *s = &f->stages;
    size_t d = f->data->nodes;
    size_t others = d <= DAG_EXACT_MOST ? d - 1 : tuned_candidates_more();
    double numbers = (double)f->data->rows * (double)lscm_dataset_features(f->data);
    double scores = SEARCHES * (double)d * ldexp(1, (int)others);
    bool observed = f->settings.decoder == LSCM_DECODER_IDENTITY;
    double times = f->settings.holdout > 0 ? 1 : 0;
    double fits = observed ? (double)judged_targets(d, observed) : 0;
    stages_expect_like(s, FIT_INFER, FIT_READ, scores / fmax(numbers, 1));
    stages_expect_like(s, FIT_SETS, FIT_INFER, times);
    stages_expect_like(s, FIT_TARGETS, FIT_INFER, times * fits / SEARCHES);
    stages_expect_like(s, FIT_COMPARE, FIT_INFER, knowledge_any(&f->known) ? 1 : 0);
}

void time_rounds(fit *f, size_t rounds)
{
    stages *s = &f->stages;
    for (size_t k = FIT_SETS; k < FIT_STAGES; k++) {
        stages_expect_like(s, k, FIT_INFER, s->times[k] / (double)rounds);
    }
}

void time_judgement(fit *f, const linear_view *s, const anchored *a, bool asked)
{
    double fits = (double)judged_targets(s->d, s->kind != VIEW_LINEAR);
    stages_expect(&f->stages, FIT_SETS, asked ? a->seconds_brief : 0);
    stages_expect(&f->stages, FIT_TARGETS, asked ? fits * a->seconds_search / SEARCHES : 0);
    stages_expect(&f->stages, FIT_COMPARE,
                  knowledge_any(&f->known) ? a->seconds_anchor + a->seconds_graph : 0);
}
