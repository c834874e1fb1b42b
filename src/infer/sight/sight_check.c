/* Labels held out of a network: which parameters told them best, and when it has learned enough. */
#include "base/tuned.h"
#include "infer/sight/sight_net_parts.h"

#include <math.h>
#include <string.h>

enum { CHECKS = 32 }; /* how often in all */

uint64_t sight_check_every(const sight_net *n)
{
    return n->settings.steps / CHECKS > 0 ? n->settings.steps / CHECKS : 1;
}

/* One part of the pictures that are asked for labels held out. */
static void ask_slot(void *self, size_t slot, size_t worker)
{
    const sight_net *n = self;
    const sight_desk *at = &n->desk[worker];
    n->losses[2 * slot] = n->losses[2 * slot + 1] = 0;
    for (size_t k = slot * n->asks / SIGHT_SLOTS; k < (slot + 1) * n->asks / SIGHT_SLOTS; k++) {
        size_t row = n->x->row[n->asked[k]];
        pictures_kept(n->x, n->asked[k], at->x);
        picture_f32_show(&n->eye, &at->eye, at->x);
        picture_f32_forward(&n->eye, n->settings.device, n->parameters, &at->eye);
        for (size_t j = 0; j < n->by->d; j++) {
            if (n->held[row * n->by->d + j] != 0) {
                double v = sight_label(n, row, j);
                double off = (double)at->eye.z[j] - v;
                n->losses[2 * slot] += off * off;
                n->losses[2 * slot + 1] += v * v;
            }
        }
    }
}

static void ask_here(sight_net *n, double sums[2])
{
    const device *on = n->settings.device;
    on->each(on, n->workers, n->asks > 0 ? SIGHT_SLOTS : 0, ask_slot, n);
    for (size_t slot = 0; slot < SIGHT_SLOTS && n->asks > 0; slot++) {
        sums[0] += n->losses[2 * slot];
        sums[1] += n->losses[2 * slot + 1];
    }
}

lscm_status sight_not_finite(const sight_net *n, lscm_error *why)
{
    return fail(why, LSCM_VALUE,
                "the network of pictures is no longer finite after %llu steps; try a smaller "
                "--rate",
                (unsigned long long)n->now.steps);
}

/* Whether labels held out may be asked to end it: early on, while the rate still rises, they are
 * told better and worse by chance. */
static bool may_fall(const sight_net *n)
{
    const sight_counts *c = &n->now;
    return c->steps < c->fall && c->steps >= tuned_sight_warm() &&
           8 * c->steps >= n->settings.steps;
}

/* Labels held out: the best parameters so far are kept; where nothing came of a third of all steps
 * before, the rate begins to fall. */
lscm_status sight_check(sight_net *n, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    const device *on = n->settings.device;
    sight_counts *c = &n->now;
    double sums[2] = {0, 0};
    if (n->pupil != NULL) {
        TRY(sight_pupil_ask(n, sums, why));
    } else {
        ask_here(n, sums);
    }
    /* no step comes after the last to find out */
    if (!isfinite(sums[0] + on->backend_f32->sum_squares(on, n->count, n->parameters))) {
        return sight_not_finite(n, why);
    }
    c->missed = sums[0] / sums[1];
    if (!(c->missed >= c->best)) {
        c->best = c->missed;
        c->best_at = c->steps;
        memcpy(n->best, n->parameters, n->count * sizeof(float));
    }
    if (may_fall(n) && 3 * (c->steps - c->best_at) >= c->steps && n->asks > 0) {
        c->fall = c->steps;
        c->end = 2 * c->steps;
    }
    if (c->steps == c->end && n->asks > 0) {
        memcpy(n->parameters, n->best, n->count * sizeof(float));
    }
done:
    return status;
}
