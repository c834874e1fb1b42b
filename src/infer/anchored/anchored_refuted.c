#include "infer/anchored/anchored_refuted.h"

#include "base/node_name.h"
#include "infer/anchored/anchored_infer.h"
#include "infer/evidence/evidence.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static void lay_out(refutations *r, arena *scratch, double **found)
{
    size_t pairs = r->d * r->d;
    r->forbidden = arena_take(&r->memory, pairs, 1);
    r->share = arena_take(&r->memory, pairs, sizeof(double));
    *found = arena_take(scratch, pairs, sizeof(double));
}

/* Errors that all rows share, and z beyond a clip, are not what do() is to be asked about. */
static bool may_ask(const anchored_input *in, const anchored *a)
{
    return in->view->kind != VIEW_READ_OFF && !(a->clip > 0);
}

lscm_status anchored_infer_refuting(anchored *out, refutations *r, const anchored_input *in,
                                    lscm_error *why)
{
    lscm_status status = LSCM_OK;
    anchored a = {0};
    anchored_input now = *in;
    arena scratch = {0};
    double *found = NULL;
    size_t more = 1;
    *r = (refutations){.d = in->view->d};
    lay_out(r, &scratch, &found);
    TRY(arena_open(&r->memory, why));
    TRY(arena_open(&scratch, why));
    lay_out(r, &scratch, &found);
    for (size_t k = 0; k < r->d * r->d; k++) {
        r->share[k] = (double)NAN;
    }
    if (in->forbidden != NULL) {
        memcpy(r->forbidden, in->forbidden, r->d * r->d);
    }
    while (more > 0) { /* there are only so many edges */
        more = 0;
        anchored_close(&a);
        a = (anchored){0};
        TRY(anchored_infer(&a, &now, why));
        if (may_ask(in, &a)) {
            TRY(refuted_edges(found, &more, &now, &a, why));
        }
        for (size_t k = 0; k < r->d * r->d && more > 0; k++) {
            if (!isnan(found[k])) {
                r->forbidden[k] = 1;
                r->share[k] = found[k];
                r->count++;
            }
        }
        now.forbidden = r->count > 0 ? r->forbidden : in->forbidden;
    }
    *out = a;
    a = (anchored){0};
done:
    arena_close(&scratch);
    anchored_close(&a);
    return status;
}

void refutations_close(refutations *r)
{
    arena_close(&r->memory);
}

/* The first few in a sentence, names whole. */
static void warn(const refutations *r, char *const *names, json_t *warnings)
{
    enum { MOST_NAMED = 8 };
    char text[1024] = "";
    size_t used = 0;
    size_t named = 0;
    for (size_t k = 0; k < r->d * r->d; k++) {
        char rooms[2][NODE_NAME_ROOM];
        char own[600];
        if (isnan(r->share[k])) {
            continue;
        }
        int length = snprintf(own, sizeof own, "%s%s->%s (%.0f%%)", named > 0 ? ", " : "",
                              name_of(names, k / r->d, rooms[0], NODE_NAME_ROOM),
                              name_of(names, k % r->d, rooms[1], NODE_NAME_ROOM),
                              100 * fmax(r->share[k], 0));
        if (named == MOST_NAMED || length < 0 || used + (size_t)length >= sizeof text) {
            break;
        }
        memcpy(text + used, own, (size_t)length + 1);
        used += (size_t)length;
        named++;
    }
    (void)json_array_append_new(
        warnings,
        json_sprintf("do() refutes edges that all other rows ask for; they are left out: %s%s. (In "
                     "brackets: how much of what the edge says is seen where do() set its cause.) "
                     "Something that nobody measured moves both, or a mechanism is of another "
                     "shape; edges about these nodes may be false however certain they look",
                     text, named < r->count ? ", and more" : ""));
}

void refutations_tell(const refutations *r, char *const *names, json_t *summary, json_t *warnings)
{
    json_t *list = json_array();
    for (size_t k = 0; k < r->d * r->d && r->count > 0; k++) {
        char rooms[2][NODE_NAME_ROOM];
        if (!isnan(r->share[k])) {
            (void)json_array_append_new(
                list, json_pack("{s:s, s:s, s:f}", "from",
                                name_of(names, k / r->d, rooms[0], NODE_NAME_ROOM), "to",
                                name_of(names, k % r->d, rooms[1], NODE_NAME_ROOM), "share",
                                r->share[k]));
        }
    }
    if (r->count > 0) {
        (void)json_object_set(summary, "refuted", list);
        warn(r, names, warnings);
    }
    json_decref(list);
}
