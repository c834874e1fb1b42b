/* See optimiser.h: the corrections for the start, and the groups; the device does the rest. */
#include <math.h>

void NAMED(optimiser, lay_out)(OPTIMISER *o, arena *a, size_t n, const optimiser_settings *settings,
                               const device *on)
{
    *o = (OPTIMISER){.settings = *settings, .device = on, .n = n};
    o->state = arena_take(a, 2 * n, sizeof(REAL));
}

backend_dial NAMED(optimiser, dial)(const OPTIMISER *o, double rate)
{
    double t = (double)o->steps;
    return (backend_dial){.rate = rate / (1 - pow(o->settings.b1, t)),
                          .correct = 1 / (1 - pow(o->settings.b2, t)),
                          .scale = 1};
}

void NAMED(optimiser, descend)(const OPTIMISER *o, size_t at, size_t count,
                               const backend_dial *dial, REAL *parameters, const REAL *gradient)
{
    const optimiser_settings *s = &o->settings;
    const backend_adam adam = {.belief = s->belief,
                               .b1 = s->b1,
                               .b2 = s->b2,
                               .inside = s->inside,
                               .outside = s->outside,
                               .dial = dial};
    o->device->BACKEND->adam(o->device, count, &adam, parameters + at, gradient + at, o->state + at,
                             o->state + o->n + at);
}

void NAMED(optimiser, step)(OPTIMISER *o, const optimiser_group *groups, size_t count,
                            REAL *parameters, const REAL *gradient)
{
    size_t at = 0;
    o->steps++;
    for (size_t k = 0; k < count; k++) {
        const backend_dial dial = NAMED(optimiser, dial)(o, groups[k].rate);
        NAMED(optimiser, descend)(o, at, groups[k].count, &dial, parameters, gradient);
        at += groups[k].count;
    }
}
