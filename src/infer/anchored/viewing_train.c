/* The networks of pictures as something that trains (infer/run/trainee.h): one member after the
 * other, each on a course of its own. */
#include "infer/anchored/viewing.h"

#include <math.h>
#include <stdio.h>

static sight_net *net_at(viewing *v)
{
    return &v->net[v->at < v->members ? v->at : v->members - 1];
}

static void begin(void *self, size_t restart)
{
    viewing *v = self;
    (void)restart;
    v->at = v->fresh = 0;
}

static lscm_status step(void *self, double rate, training_terms *terms, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    viewing *v = self;
    sight_net *n = net_at(v);
    (void)rate;
    (void)terms;
    TRY(sight_net_step(n, why));
    v->fresh = n->now.checked;
    v->at += sight_net_over(n) ? 1 : 0;
done:
    return status;
}

static size_t pieces(void *self, piece out[PIECES])
{
    viewing *v = self;
    size_t count = 0;
    out[count++] = (piece){&v->at, sizeof v->at};
    out[count++] = (piece){&v->fresh, sizeof v->fresh};
    for (size_t m = 0; m < v->members; m++) {
        count += sight_net_pieces(&v->net[m], out + count);
    }
    return count;
}

static bool over(const void *self)
{
    const viewing *v = self;
    return v->at >= v->members;
}

static void place(const void *self, trainee_place *out)
{
    const viewing *v = self;
    const sight_net *n = &v->net[v->at < v->members ? v->at : v->members - 1];
    double told = 1 - n->now.missed;
    int used =
        snprintf(out->what, sizeof out->what, "network %llu of %zu of pictures",
                 (unsigned long long)(v->at < v->members ? v->at + 1 : v->members), v->members);
    if (isfinite(told)) {
        (void)snprintf(out->what + used, sizeof out->what - (size_t)used, ": held-out R2 %.4f",
                       told);
    }
    out->stage = "";
    out->done = out->total = 0;
    for (size_t m = 0; m < v->members; m++) {
        out->done += v->net[m].now.steps;
        out->total += v->net[m].now.end;
    }
}

static size_t row(const void *self, double out[TRAINEE_COLUMNS])
{
    const viewing *v = self;
    size_t member = v->at;
    while (member > 0 && (member >= v->members || v->net[member].now.steps == 0)) {
        member--; /* the one that has just ended */
    }
    const sight_counts *c = &v->net[member].now;
    out[0] = (double)member;
    out[1] = (double)c->steps;
    out[2] = c->label;
    out[3] = c->pixel;
    out[4] = c->missed;
    return v->fresh != 0 ? 5 : 0;
}

static const trainee_course course = {
    .over = over, .place = place, .columns = "member,step,label,pixel,held_out_missed", .row = row};

trainee viewing_trainee(viewing *v)
{
    return (trainee){.self = v, .begin = begin, .step = step, .pieces = pieces, .course = &course};
}
