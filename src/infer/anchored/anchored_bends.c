#include "infer/anchored/anchored_bends.h"

#include "infer/check/check.h"

#include <stdio.h>
#include <string.h>

lscm_status bends_store(const anchored *a, lscm_posterior *p, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    const bent_mechanisms *from = &a->bent;
    if (from->terms == 0) {
        return LSCM_OK;
    }
    TRY(posterior_add_bent(p, from->terms, why));
    memcpy(p->bent->basis, from->basis, from->d * sizeof *from->basis);
    memcpy(p->bent->first, from->first, (from->draws * from->d + 1) * sizeof *from->first);
    memcpy(p->bent->parent, from->parent, 2 * from->terms * sizeof *from->parent);
    memcpy(p->bent->coef, from->coef, from->terms * CURVE_WIDTH * sizeof *from->coef);
done:
    return status;
}

void bends_unused(const fit *f, const anchored *a, const char *why_not)
{
    static const char *const names[] = {"mechanism", NULL};
    if (f->settings.mechanism > LSCM_MECHANISM_LINEAR && !a->bends) {
        belonging_unused(f, names, why_not);
    }
}

lscm_mechanism bends_found(const anchored *a, const anchored_input *in)
{
    return !a->bends                              ? LSCM_MECHANISM_LINEAR
           : in->mechanism == LSCM_MECHANISM_AUTO ? LSCM_MECHANISM_JOINT
                                                  : in->mechanism;
}

static double share_of(const anchored *a, size_t i)
{
    double bends = 0;
    for (size_t k = 0; k < a->draws; k++) {
        bends += bent_bends(&a->bent, k, i) ? 1 : 0;
    }
    return bends / (double)a->draws;
}

/* "..; mechanisms: 2 of 5 nodes bend: a, b" */
static void add_reason(json_t *summary, const node_list *bend, size_t d)
{
    char text[1024];
    const char *reason = json_string_value(json_object_get(summary, "reason"));
    (void)snprintf(text, sizeof text, "%s; mechanisms: %zu of %zu nodes %s%s%s",
                   reason != NULL ? reason : "", bend->count, d,
                   bend->count == 1 ? "bends" : "bend", bend->count > 0 ? ": " : "", bend->text);
    (void)json_object_set_new(summary, "reason", json_string(text));
}

void bends_tell(json_t *summary, const anchored_input *in, const anchored *a, char *const *names)
{
    bool additive = in->mechanism == LSCM_MECHANISM_ADDITIVE;
    node_list bend = {.count = 0};
    json_t *shares = json_object();
    (void)json_object_set_new(summary, "mechanism",
                              json_string(!a->bends  ? "linear"
                                          : additive ? "additive"
                                                     : "joint"));
    for (size_t i = 0; i < a->d && a->bends; i++) {
        char room[32];
        double share = share_of(a, i);
        (void)json_object_set_new(shares, name_of(names, i, room, sizeof room), json_real(share));
        if (share > 0.5) {
            list_add(&bend, names, i);
        }
    }
    if (a->bends) {
        (void)json_object_set(summary, "bends", shares);
        add_reason(summary, &bend, a->d);
    }
    json_decref(shares);
}
