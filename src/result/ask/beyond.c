/* lscm_posterior_beyond: values of do() that lie beyond all that was seen of their node. Mechanisms
 * go on straight and networks somehow, so everything has an answer; whoever asks is told where no
 * row vouches for it. The summary has what was seen ("seen"); of runs without it, z of the rows.
 */
#include "scm/posterior/posterior.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct range {
    double least, most; /* least > most: nothing of the kind was seen */
} range;

static range range_of(const json_t *pair)
{
    const json_t *least = json_array_get(pair, 0);
    const json_t *most = json_array_get(pair, 1);
    bool known = json_is_number(least) && json_is_number(most);
    return known ? (range){json_number_value(least), json_number_value(most)}
                 : (range){INFINITY, -INFINITY};
}

static range range_of_z(const lscm_posterior *p, size_t node)
{
    range r = {INFINITY, -INFINITY};
    for (size_t row = 0; row < p->rows; row++) {
        r.least = fmin(r.least, p->z[row * p->d + node]);
        r.most = fmax(r.most, p->z[row * p->d + node]);
    }
    return r;
}

static bool any(range r)
{
    return r.least <= r.most;
}

/* The summary has 12 digits: the largest value that was seen must not be beyond itself. */
static bool is_in(range r, double value)
{
    double slack = 1e-9 * (fabs(r.least) + fabs(r.most));
    return value >= r.least - slack && value <= r.most + slack;
}

static void say(FILE *out, const char *name, double value, range set, range free)
{
    (void)fprintf(out, "do() would set %s to %g, beyond all that was seen of it: ", name, value);
    if (any(set)) {
        (void)fprintf(out, "do() set it between %g and %g", set.least, set.most);
    } else {
        (void)fputs("do() never set it", out);
    }
    if (any(free)) {
        (void)fprintf(out, ", and by itself it was between %g and %g", free.least, free.most);
    }
    (void)fputs("; the answer extrapolates, and no row vouches for it\n", out);
}

static void look_at(FILE *out, const lscm_posterior *p, const json_t *seen, size_t node,
                    double value)
{
    char number[32];
    (void)snprintf(number, sizeof number, "%zu", node);
    const char *name = p->node_names != NULL ? p->node_names[node] : number;
    const json_t *own = json_object_get(seen, name);
    range set = range_of(json_object_get(own, "set"));
    range free = own != NULL ? range_of(json_object_get(own, "free")) : range_of_z(p, node);
    range all = {fmin(set.least, free.least), fmax(set.most, free.most)};
    if (!any(all) || is_in(all, value)) {
        return;
    }
    if (own != NULL) {
        say(out, name, value, set, free);
    } else {
        (void)fprintf(out,
                      "do() would set %s to %g, beyond all that was seen of it: it was between %g "
                      "and %g; the answer extrapolates, and no row vouches for it\n",
                      name, value, all.least, all.most);
    }
}

lscm_status lscm_posterior_beyond(char **out, const lscm_posterior *posterior,
                                  const uint8_t *targets, const double *values, lscm_error *why)
{
    const lscm_posterior *p = posterior;
    size_t length = 0;
    *out = NULL;
    FILE *text = open_memstream(out, &length);
    if (text == NULL) {
        return fail_memory(why, BUFSIZ);
    }
    json_t *summary = p->summary != NULL ? json_loads(p->summary, 0, NULL) : NULL;
    for (size_t i = 0; i < p->d; i++) {
        if (targets[i] != 0) {
            look_at(text, p, json_object_get(summary, "seen"), i, values[i]);
        }
    }
    json_decref(summary);
    bool bad = ferror(text) != 0;
    bad = fclose(text) != 0 || bad;
    if (bad) {
        free(*out);
        *out = NULL;
        return fail_memory(why, length);
    }
    return LSCM_OK;
}
