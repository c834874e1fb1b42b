#include "infer/check/findings.h"

#include "base/tuned.h"
#include "infer/check/node_list.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct tally {
    double least; /* chance */
    size_t tested;
    bool found; /* though no node is named */
    node_list said;
    json_t *nodes;
} tally;

/* " (by a and b: 12% of what is left of it)" */
static void note_of(char *out, size_t size, const check_by *by, char *const *names)
{
    char rooms[2][32];
    out[0] = '\0';
    if (by != NULL && by->nodes > 0) {
        const char *one = name_of(names, by->node[0], rooms[0], sizeof rooms[0]);
        const char *two = name_of(names, by->node[1], rooms[1], sizeof rooms[1]);
        (void)snprintf(out, size, " (by %s%s%s: %.2g%% of %s)", one, by->nodes > 1 ? " and " : "",
                       by->nodes > 1 ? two : "", 100 * by->share,
                       by->of_size ? "how its size varies" : "what is left of it");
    }
}

static void add_node(tally *t, char *const *names, size_t node, const check_by *by,
                     uint8_t *doubted)
{
    char room[32];
    char note[256];
    note_of(note, sizeof note, by, names);
    list_add_noted(&t->said, names, node, note);
    if (doubted != NULL) {
        doubted[node] = 1;
    }
    (void)json_array_append_new(t->nodes, json_string(name_of(names, node, room, sizeof room)));
}

static json_t *number(double x)
{
    return isfinite(x) ? json_real(x) : json_null();
}

/* Takes the nodes. */
static void append(json_t *checks, const finding *f, const tally *t, double figure, double limit)
{
    static const char untested[] = "there is nothing to test this by";
    char text[1024];
    const char *put = strstr(f->says, "%s");
    bool found = t->said.count > 0 || t->found;
    if (put != NULL) {
        (void)snprintf(text, sizeof text, "%.*s%s%s", (int)(put - f->says), f->says, t->said.text,
                       put + 2);
    } else {
        (void)snprintf(text, sizeof text, "%s", f->says);
    }
    json_t *one =
        json_pack("{s:s, s:s, s:o, s:o, s:o, s:s, s:s, s:b}", "check", f->check, "verdict",
                  found           ? (f->weight != WEIGHT_BREAKS ? "noted" : "found")
                  : t->tested > 0 ? "good"
                                  : "untested",
                  "figure", t->tested > 0 ? number(figure) : json_null(), "limit", number(limit),
                  "nodes", t->nodes, "says",
                  found           ? text
                  : t->tested > 0 ? f->well
                                  : untested,
                  "remedy", found ? f->remedy : "", "warns", found && f->weight != WEIGHT_BORNE);
    (void)json_array_append_new(checks, one);
}

/* A mean of ones is 1 to rounding: nothing was tested. */
static bool is_tested(double chance)
{
    return chance < 1 - 1e-9;
}

void find_nodes(json_t *checks, const finding *f, const double *chance, size_t count,
                char *const *names, const check_by *by, uint8_t *doubted)
{
    tally t = {.least = 1, .nodes = json_array()};
    for (size_t i = 0; i < count; i++) {
        t.tested += is_tested(chance[i]) ? 1U : 0U;
        t.least = fmin(t.least, chance[i]);
    }
    for (size_t i = 0; i < count; i++) {
        if (is_tested(chance[i]) && chance[i] * (double)t.tested < tuned_check_chance()) {
            add_node(&t, names, i, by != NULL ? &by[i] : NULL, doubted);
        }
    }
    append(checks, f, &t, fmin(1, t.least * (double)t.tested), tuned_check_chance());
}

void find_listed(json_t *checks, const finding *f, double figure, double limit,
                 const uint8_t *which, size_t count, char *const *names)
{
    tally t = {.tested = isnan(figure) ? 0U : 1U, .nodes = json_array()};
    for (size_t i = 0; i < count; i++) {
        if (which[i] != 0) {
            add_node(&t, names, i, NULL, NULL);
        }
    }
    append(checks, f, &t, figure, limit);
}

void find_plain(json_t *checks, const finding *f, double figure, double limit, bool found)
{
    tally t = {.tested = isnan(figure) ? 0U : 1U, .found = found, .nodes = json_array()};
    append(checks, f, &t, figure, limit);
}

void find_told(json_t *checks, const json_t *sentences)
{
    for (size_t k = 0; k < json_array_size(sentences); k++) {
        (void)json_array_append_new(
            checks, json_pack("{s:s, s:s, s:n, s:n, s:[], s:O, s:s, s:b}", "check", "fit",
                              "verdict", "noted", "figure", "limit", "nodes", "says",
                              json_array_get(sentences, k), "remedy", "", "warns", true));
    }
}
