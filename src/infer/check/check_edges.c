#include "infer/check/check_edges.h"

#include "base/tuned.h"
#include "infer/check/node_list.h"
#include "scm/graph/graph.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct scratch {
    uint8_t *told, *dag, *essential; /* (d, d) each */
    double *reversible;              /* (d, d): share of graphs */
    cpdag_work work;
    arena memory;
} scratch;

typedef enum verdict { DECIDED, ASSUMED, UNDECIDED, UNDECIDABLE, VERDICTS } verdict;
static const char *const VERDICT[] = {"decided", "assumed", "undecided", "undecidable"};

static void lay_out(scratch *q, size_t d)
{
    q->told = arena_take(&q->memory, d * d, 1);
    q->dag = arena_take(&q->memory, d * d, 1);
    q->essential = arena_take(&q->memory, d * d, 1);
    q->reversible = arena_take(&q->memory, d * d, sizeof(double));
    cpdag_lay_out(&q->work, &q->memory, d);
}

/* Pairs that a set of targets, or the user, tells apart. */
static void tell_apart(const check_rows *t, const scratch *q)
{
    const check_input *in = t->in;
    size_t d = t->d;
    for (size_t k = 0; k < d * d; k++) {
        size_t a = k / d;
        size_t b = k % d;
        size_t back = b * d + a;
        bool told = in->equal_noise || in->order != NULL;
        told =
            told || (in->forbidden != NULL && (in->forbidden[k] != 0 || in->forbidden[back] != 0));
        told = told || (in->required != NULL && (in->required[k] != 0 || in->required[back] != 0));
        for (size_t set = 0; set < t->sets && !told; set++) {
            told = check_is_set(t, set, a) != check_is_set(t, set, b);
        }
        q->told[k] = told ? 1 : 0;
    }
}

static void find_reversible(const check_rows *t, const scratch *q)
{
    size_t d = t->d;
    for (size_t g = 0; g < t->graphs.count; g++) {
        for (size_t k = 0; k < d * d; k++) {
            q->dag[k] = check_has(t, g, k / d, k % d) ? 1 : 0;
        }
        if (essential_of_dag(q->dag, d, q->told, q->essential, &q->work)) {
            essential_add_reversible(q->essential, d, t->graphs.share[g], q->reversible);
        }
    }
}

/* What nothing in the design could tell of a node; NULL: nothing of the kind. */
static const char *mute(const check_rows *t, size_t i)
{
    const anchored *a = t->in->a;
    if (!(t->unit[i] > 0)) {
        return "never varies";
    }
    if (a->anchor.samples[i] == a->rows) {
        return "is set by do() in every row";
    }
    if (t->in->view->kind != VIEW_OBSERVED && a->anchor.samples[i] == 0) {
        return "is never set by do(), and nothing else names or scales it";
    }
    return NULL;
}

typedef struct pair {
    size_t a, b;
    double ab, ba;
    verdict verdict;
    char why[400], remedy[400];
} pair;

static void say(pair *e, const check_rows *t, const char *why, const char *remedy)
{
    char rooms[2][32];
    const char *a = name_of(t->in->names, e->a, rooms[0], sizeof rooms[0]);
    const char *b = name_of(t->in->names, e->b, rooms[1], sizeof rooms[1]);
    const char *texts[] = {why, remedy};
    char *out[] = {e->why, e->remedy};
    for (size_t k = 0; k < 2; k++) { /* $a and $b are the names */
        size_t at = 0;
        for (const char *c = texts[k]; *c != '\0'; c++) {
            bool name = c[0] == '$' && (c[1] == 'a' || c[1] == 'b');
            const char *part = name ? (c[1] == 'a' ? a : b) : c;
            size_t length = name ? strlen(part) : 1;
            if (at + length >= sizeof e->why) {
                break; /* names whole: a half one may not be UTF-8 */
            }
            memcpy(out[k] + at, part, length);
            at += length;
            c += name ? 1 : 0;
        }
        out[k][at] = '\0';
    }
}

/* An edge that the draws are sure of: by rows in which do() set its cause, or if nothing is hidden.
 */
static void weigh_edge(pair *e, const check_rows *t, const check_tests *c)
{
    const double sure = tuned_check_decided();
    if (!(e->ab > sure)) { /* $a is the cause */
        *e = (pair){.a = e->b, .b = e->a, .ab = e->ba, .ba = e->ab};
    }
    size_t at = e->a * t->d + e->b;
    bool spared = !(c->hidden.spare[at] < log((1 - sure) / sure));
    bool backed = c->support[at] < tuned_check_support();
    e->verdict = backed && !spared ? DECIDED : ASSUMED;
    if (e->verdict == DECIDED) {
        say(e, t, "where do() set $a, $b follows", "");
    } else {
        say(e, t,
            t->in->a->anchor.samples[e->a] == 0
                ? "$a is never set by do(): a hidden cause of both would look the same"
            : backed
                ? "with a hidden cause of $b and another node the rows are explained nearly as "
                  "well without this edge"
                : "rows in which do() set $a are too few, or its values too alike, to tell "
                  "this from a hidden cause of both",
            backed ? "more sets with do() on $a and on other causes of $b, at values far apart"
                   : "more sets with do() on $a, at values far apart");
    }
}

static void weigh(pair *e, const check_rows *t, const check_tests *c, const scratch *q)
{
    size_t d = t->d;
    const double sure = tuned_check_decided();
    double none = 1 - e->ab - e->ba;
    const char *mute_a = mute(t, e->a);
    const char *mute_b = mute(t, e->b);
    if (mute_b != NULL && mute_a == NULL) { /* $a is who is mute */
        size_t a = e->a;
        double ab = e->ab;
        *e = (pair){.a = e->b, .b = a, .ab = e->ba, .ba = ab};
        mute_a = mute_b;
    }
    size_t at = e->a * d + e->b;
    if (mute_a != NULL) {
        char text[200];
        (void)snprintf(text, sizeof text, "$a %s", mute_a);
        e->verdict = UNDECIDABLE;
        say(e, t, text, t->unit[e->a] > 0 ? "sets with and without do() on $a" : "leave $a out");
    } else if (none > sure) {
        e->verdict = DECIDED;
        say(e, t, "no edge between $a and $b", "");
    } else if (q->reversible[at] > (1 - sure) * (e->ab + e->ba)) { /* else more rows would tell */
        e->verdict = UNDECIDABLE;
        say(e, t, "no set tells $a -> $b from $b -> $a: both explain all of them alike",
            "sets with do() on $a or on $b, not on both");
    } else if (e->ab > sure || e->ba > sure) {
        weigh_edge(e, t, c);
    } else {
        e->verdict = UNDECIDED;
        say(e, t, "the rows do not tell", "more rows, best with do() on $a or on $b");
    }
}

static json_t *json_of_pair(const pair *e, char *const *names)
{
    char rooms[2][32];
    char edge[1100];
    const char *a = name_of(names, e->a, rooms[0], sizeof rooms[0]);
    const char *b = name_of(names, e->b, rooms[1], sizeof rooms[1]);
    bool known = e->verdict == DECIDED || e->verdict == ASSUMED;
    (void)snprintf(edge, sizeof edge, "%s -> %s", e->ab > e->ba ? a : b, e->ab > e->ba ? b : a);
    return json_pack("{s:[s, s], s:s, s:s?, s:[f, f], s:s, s:s}", "nodes", a, b, "verdict",
                     VERDICT[e->verdict], "edge", known ? edge : NULL, "p", e->ab, e->ba, "why",
                     e->why, "remedy", e->remedy);
}

/* Whether most graphs that have an edge between the two could have it the other way round. */
static bool is_undirected(const pair *e, size_t d, const scratch *q)
{
    double either = e->ab + e->ba;
    return either > 1 - tuned_check_decided() && q->reversible[e->a * d + e->b] > either / 2;
}

lscm_status check_edges(json_t **out, const check_rows *t, const check_tests *c,
                        const uint8_t *doubted, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    size_t d = t->d;
    size_t count[VERDICTS] = {0};
    json_t *pairs = json_array();
    json_t *undirected = json_array();
    scratch q = {.told = NULL};
    lay_out(&q, d);
    TRY(arena_open(&q.memory, why));
    lay_out(&q, d);
    tell_apart(t, &q);
    find_reversible(t, &q);
    for (size_t k = 0; k < d * d; k++) {
        const double *p = t->in->a->edge_prob;
        size_t a = k / d;
        size_t b = k % d;
        pair e = {.a = a, .b = b, .ab = p[k], .ba = p[b * d + a]};
        if (a >= b) {
            continue;
        }
        if (is_undirected(&e, d, &q)) {
            (void)json_array_append_new(undirected,
                                        json_pack("[I, I]", (json_int_t)a, (json_int_t)b));
        }
        weigh(&e, t, c, &q);
        if (e.verdict == DECIDED && (doubted[a] != 0 || doubted[b] != 0)) {
            e.verdict = ASSUMED;
            say(&e, t, "a check found something about $a or $b", "what that check says");
        }
        count[e.verdict]++;
        if (e.verdict != DECIDED || e.ab + e.ba > 0.5) {
            (void)json_array_append_new(pairs, json_of_pair(&e, t->in->names));
        }
    }
    *out = json_pack("{s:I, s:I, s:I, s:I, s:O, s:O}", "decided", (json_int_t)count[DECIDED],
                     "assumed", (json_int_t)count[ASSUMED], "undecided",
                     (json_int_t)count[UNDECIDED], "undecidable", (json_int_t)count[UNDECIDABLE],
                     "list", pairs, "undirected", undirected);
done:
    json_decref(pairs);
    json_decref(undirected);
    arena_close(&q.memory);
    return status;
}
