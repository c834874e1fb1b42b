#include "infer/anchored/knowledge_advice.h"

#include "base/tuned.h"
#include "infer/anchored/anchored_judged.h"
#include "infer/check/check.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MOST_TOLD = 6 };

/* Pieces in a sentence: names whole, for a half one may not be UTF-8. */
typedef struct pieces {
    char text[1536];
    size_t used, count;
    char *const *names;
} pieces;

static void add(pieces *p, size_t a, size_t b, const char *between, const char *said,
                double probability)
{
    char rooms[2][32];
    char own[1200];
    (void)snprintf(own, sizeof own, "%s%s%s %s, and has %.3f", name_of(p->names, a, rooms[0], 32),
                   between, name_of(p->names, b, rooms[1], 32), said, probability);
    size_t length = strlen(own);
    if (p->count < MOST_TOLD && p->used + length + 3 < sizeof p->text) {
        p->used += (size_t)snprintf(p->text + p->used, sizeof p->text - p->used, "%s%s",
                                    p->used > 0 ? "; " : "", own);
    }
    p->count++;
}

/* What the fit that was told nothing says of each. */
static void find_pieces(pieces *out, const knowledge *k, const double *free)
{
    const double e = tuned_warn_knowledge();
    for (size_t at = 0; at < k->d * k->d; at++) {
        size_t a = at / k->d;
        size_t b = at % k->d;
        size_t back = b * k->d + a;
        bool both = k->forbidden[at] != 0 && k->forbidden[back] != 0;
        double either = free[at] + free[back];
        if (a == b) {
            continue;
        }
        if (both && a < b && either > 1 - e) {
            add(out, a, b, " -- ", "is forbidden both ways", fmin(either, 1));
        } else if (!both && k->forbidden[at] != 0 && free[at] > 1 - e) {
            add(out, a, b, "->", "is forbidden", free[at]);
        } else if (k->required[at] != 0 && free[at] < e) {
            add(out, a, b, "->", "is required", free[at]);
        }
    }
}

/* -log of the least that such knowledge may have had before any data. */
static double surprise(const knowledge *k)
{
    double d = (double)k->d;
    double sum = lgamma(d + 1) - log(tuned_warn_knowledge());
    for (size_t at = 0; at < k->d * k->d; at++) {
        bool self = at / k->d == at % k->d;
        sum += !self && k->forbidden[at] != 0 ? log(2) : 0;
        sum += k->required[at] != 0 ? 2 * log(d + 1) : 0;
    }
    return sum;
}

static bool is_exact(const anchored *a)
{
    return a->sampler == SAMPLER_EXACT && isfinite(a->log_evidence);
}

/* All of it together, by what rows held out say: log likelihood a row that is lost. */
static lscm_status find_lost(double *lost, const anchored_input *untold, const judgement *held,
                             lscm_error *why)
{
    lscm_status status = LSCM_OK;
    judgement j = {0};
    judged again = anchored_judged(untold);
    *lost = 0;
    if (held->rows > 0) {
        TRY(judge(&j, &again, untold->settings->holdout, why));
        *lost = j.rows == held->rows ? j.log_likelihood - held->log_likelihood : 0;
    }
done:
    judgement_close(&j);
    return status;
}

static void warn_of_pieces(const pieces *found, json_t *warnings)
{
    (void)json_array_append_new(
        warnings,
        json_sprintf("what was told contradicts the data. With nothing told, the probability of an "
                     "edge says otherwise: %s%s. Leave it out unless you know better, and then do "
                     "not believe the rest of the graph",
                     found->text, found->count > MOST_TOLD ? "; and more" : ""));
}

static void warn_of_all(const char *how, json_t *warnings)
{
    (void)json_array_append_new(
        warnings,
        json_sprintf("what was told contradicts the data as a whole, though no piece of it alone: "
                     "with nothing told, %s. Leave some of it out, or do not believe the graph",
                     how));
}

lscm_status advise_on_knowledge(const knowledge *k, const anchored_input *in, const anchored *a,
                                const judgement *held, char *const *names, json_t *warnings,
                                lscm_error *why)
{
    lscm_status status = LSCM_OK;
    anchored free = {0};
    anchored_input untold = *in;
    pieces found = {.names = names};
    char how[128];
    double lost = 0;
    if (!knowledge_any(k)) {
        return LSCM_OK;
    }
    untold.forbidden = untold.required = NULL;
    TRY(anchored_infer(&free, &untold, why));
    find_pieces(&found, k, free.edge_prob);
    if (found.count > 0) {
        warn_of_pieces(&found, warnings);
    } else if (held != NULL && is_exact(&free) && is_exact(a)) {
        lost = free.log_evidence - a->log_evidence;
        (void)snprintf(how, sizeof how, "the rows are e^%.0f times as probable", lost);
        if (lost > surprise(k)) {
            warn_of_all(how, warnings);
        }
    } else if (held != NULL) {
        TRY(find_lost(&lost, &untold, held, why));
        (void)snprintf(how, sizeof how, "held-out rows have a log likelihood of %.2f a row more",
                       lost);
        if (lost > tuned_warn_knowledge_row()) {
            warn_of_all(how, warnings);
        }
    }
done:
    anchored_close(&free);
    return status;
}
