#include "base/stages.h"

#include "base/clock.h"

#include <math.h>
#include <string.h>

/* What stage k takes, or is expected to. */
static double duration(const stages *s, size_t k, double now);

/* Of the stage at work. */
static double left_of(const stages *s, double now)
{
    double expected = s->like[s->at] == s->at ? s->times[s->at]
                                              : s->times[s->at] * duration(s, s->like[s->at], now);
    double share = isnan(s->share) ? 0 : s->share;
    if (expected > 0) {
        return expected * (1 - share);
    }
    return share > s->first ? (now - s->entered) * (1 - share) / (share - s->first) : (double)NAN;
}

static double duration(const stages *s, size_t k, double now)
{
    if (k < s->at) {
        return s->took[k];
    }
    if (k == s->at) {
        return now - s->entered + left_of(s, now);
    }
    return s->like[k] == k ? s->times[k] : s->times[k] * duration(s, s->like[k], now);
}

/* Of LSCM_WHOLE; NAN: not known. */
static double place(const stages *s)
{
    double now = s->clock();
    double so_far = now - s->begun;
    double left = so_far < s->patience ? (double)NAN : left_of(s, now);
    for (size_t k = s->at + 1; k < s->count; k++) {
        left += s->times[k] > 0 || isnan(s->times[k]) ? duration(s, k, now) : 0;
    }
    return so_far / (so_far + left) * LSCM_WHOLE;
}

static bool tell(stages *s, const char *what)
{
    double at = place(s);
    if (at > (double)s->done) {
        s->done = at < LSCM_WHOLE ? (uint64_t)at : LSCM_WHOLE;
    }
    return s->to == NULL || s->to->report == NULL ||
           s->to->report(s->to->self, what, s->done, LSCM_WHOLE);
}

bool stages_report(stages *s, const char *what, uint64_t done, uint64_t total)
{
    if (total > 0) {
        double share = (double)done / (double)total;
        s->first = isnan(s->share) ? share : s->first;
        s->share = isnan(s->share) ? share : fmax(s->share, share);
    }
    return tell(s, what);
}

static bool report_own(void *self, const char *what, uint64_t done, uint64_t total)
{
    return stages_report(self, what, done, total);
}

static bool report_part(void *self, const char *what, uint64_t done, uint64_t total)
{
    (void)done;
    (void)total;
    return tell(self, what);
}

void stages_begin(stages *out, size_t count, const lscm_progress *to)
{
    *out = (stages){.to = to,
                    .own = {report_own, out},
                    .part = {report_part, out},
                    .clock = clock_seconds,
                    .count = count,
                    .share = (double)NAN};
    for (size_t k = 0; k < count; k++) {
        out->like[k] = k;
    }
    out->begun = out->entered = out->clock();
}

void stages_expect(stages *s, size_t k, double seconds)
{
    s->like[k] = k;
    s->times[k] = seconds;
}

void stages_expect_like(stages *s, size_t k, size_t like, double times)
{
    s->like[k] = like;
    s->times[k] = times;
}

void stages_enter(stages *s, size_t k)
{
    double now = s->clock();
    s->took[s->at] = now - s->entered;
    for (size_t later = k; later <= s->at && k <= s->at; later++) {
        stages_expect(s, later, s->took[later]);
    }
    s->at = k;
    s->entered = now;
    s->first = 0;
    s->share = (double)NAN;
}

double stages_took(const stages *s, size_t k)
{
    return s->took[k];
}
