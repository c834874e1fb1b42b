/* See optimiser.h: the corrections for the start, and the groups; the device does the rest. */
#include <math.h>

void NAMED(optimiser, lay_out)(OPTIMISER *o, arena *a, size_t n, const optimiser_settings *settings,
                               const device *on)
{
    *o = (OPTIMISER){.settings = *settings, .device = on, .n = n};
    o->state = arena_take(a, 2 * n, sizeof(REAL));
}

void NAMED(optimiser, step)(OPTIMISER *o, const optimiser_group *groups, size_t count,
                            REAL *parameters, const REAL *gradient)
{
    const optimiser_settings *s = &o->settings;
    o->steps++;
    double t = (double)o->steps;
    size_t at = 0;
    for (size_t k = 0; k < count; k++) {
        backend_adam step = {
            .belief = s->belief,
            .b1 = s->b1,
            .b2 = s->b2,
            .inside = s->inside,
            .outside = s->outside,
            .rate = groups[k].rate / (1 - pow(s->b1, t)),
            .correct = 1 / (1 - pow(s->b2, t)),
        };
        o->device->BACKEND->adam(o->device, groups[k].count, &step, parameters + at, gradient + at,
                                 o->state + at, o->state + o->n + at);
        at += groups[k].count;
    }
}
