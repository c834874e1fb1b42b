/* Background knowledge: merged as defined, every contradiction named, cycles against a search by
 * powers of the matrix, and what was said comes back from config.json. */
#include "infer/run/run.h"

#include "lcg.h"

#include "testing.h"

enum { D = 4 };

static lscm_error why;
static char name_a[] = "raf";
static char name_b[] = "mek";
static char name_c[] = "erk";
static char name_d[] = "akt";
static char *const names[D] = {name_a, name_b, name_c, name_d};

static void nothing_is_known(void **state)
{
    const lscm_run_options run = {0};
    knowledge k;
    (void)state;
    assert_ok(knowledge_open(&k, &run, D, names, NULL, &why));
    assert_false(knowledge_any(&k));
    for (size_t j = 0; j < D; j++) {
        for (size_t i = 0; i < D; i++) {
            assert_int_equal(knowledge_allows(&k, j, i), i != j);
            assert_false(knowledge_requires(&k, j, i));
        }
    }
    knowledge_close(&k);
}

/* Random matrices and tiers that do not contradict each other, entry by entry. */
static void everything_is_merged(void **state)
{
    lcg random = {4};
    (void)state;
    for (int round = 0; round < 200; round++) {
        uint8_t forbidden[D * D];
        uint8_t required[D * D] = {0};
        size_t tiers[D];
        for (size_t i = 0; i < D; i++) {
            double u = lcg_uniform(&random);
            tiers[i] = u < 0.3 ? SIZE_MAX : (size_t)(u * 10);
        }
        for (size_t at = 0; at < (size_t)D * D; at++) {
            size_t j = at / D;
            size_t i = at % D;
            bool back = tiers[j] != SIZE_MAX && tiers[i] != SIZE_MAX && tiers[j] > tiers[i];
            forbidden[at] = lcg_uniform(&random) < 0.3 ? 7 : 0;
            required[at] = j < i && forbidden[at] == 0 && !back && lcg_uniform(&random) < 0.5;
        }
        const lscm_run_options run = {.forbidden = round % 3 > 0 ? forbidden : NULL,
                                      .required = round % 5 > 0 ? required : NULL,
                                      .tiers = round % 2 > 0 ? tiers : NULL};
        const size_t order[D] = {0, 1, 2, 3};
        knowledge k;
        assert_ok(knowledge_open(&k, &run, D, NULL, round % 7 > 0 ? order : NULL, &why));
        for (size_t at = 0; at < (size_t)D * D && knowledge_any(&k); at++) {
            size_t j = at / D;
            size_t i = at % D;
            bool out = i == j || (run.forbidden != NULL && forbidden[at] != 0);
            if (run.tiers != NULL && tiers[j] != SIZE_MAX && tiers[i] != SIZE_MAX) {
                out = out || tiers[j] > tiers[i];
            }
            assert_int_equal(knowledge_allows(&k, j, i), !out);
            assert_int_equal(knowledge_requires(&k, j, i), run.required != NULL && required[at]);
        }
        knowledge_close(&k);
    }
}

static void contradictions_are_named(void **state)
{
    const uint8_t itself[D * D] = {[1 * D + 1] = 1};
    const uint8_t edge[D * D] = {[1 * D + 0] = 1};
    const uint8_t cycle[D * D] = {
        [2 * D + 1] = 1, [1 * D + 3] = 1, [3 * D + 2] = 1, [0 * D + 1] = 1};
    const size_t tiers[D] = {3, 5, SIZE_MAX, SIZE_MAX};
    const size_t order[D] = {3, 0, 2, 1};
    const struct {
        lscm_run_options run;
        const size_t *order;
        char *const *names;
        const char *part;
    } cases[] = {
        {{.required = itself}, NULL, names, "mek->mek is required, but no node causes itself"},
        {{.required = edge, .forbidden = edge},
         NULL,
         names,
         "mek->raf is required, but it is also"},
        {{.required = edge, .tiers = tiers}, NULL, names, "from a later tier to an earlier one"},
        {{.required = edge}, order, names, "mek->raf is required, but it points backwards"},
        {{.required = cycle}, NULL, names, "cycle: mek->akt->erk->mek;"},
        {{.required = cycle}, NULL, NULL, "cycle: 1->3->2->1;"},
    };
    (void)state;
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        knowledge out;
        assert_fails(knowledge_open(&out, &cases[k].run, D, cases[k].names, cases[k].order, &why),
                     LSCM_USAGE, cases[k].part);
        assert_false(knowledge_any(&out));
    }
    /* a loop that is only forbidden says nothing new */
    knowledge fine;
    assert_ok(
        knowledge_open(&fine, &(lscm_run_options){.forbidden = itself}, D, names, NULL, &why));
    knowledge_close(&fine);
}

/* A graph has a cycle exactly when some power of its matrix has a positive diagonal. */
static bool has_cycle(const uint8_t *edges, size_t d)
{
    uint8_t reach[64] = {0};
    memcpy(reach, edges, d * d);
    for (size_t via = 0; via < d; via++) {
        for (size_t at = 0; at < d * d; at++) {
            reach[at] = reach[at] || (reach[at / d * d + via] && reach[via * d + at % d]);
        }
    }
    for (size_t i = 0; i < d; i++) {
        if (reach[i * d + i]) {
            return true;
        }
    }
    return false;
}

/* The sentence names edges that are there, one behind the other, back to the first. */
static void assert_cycle_named(const uint8_t *edges, size_t d)
{
    const char *at = strstr(why.text, "cycle: ");
    assert_non_null(at);
    char *end = NULL;
    size_t first = strtoul(at + 7, &end, 10);
    size_t last = first;
    size_t steps = 0;
    while (strncmp(end, "->", 2) == 0) {
        size_t next = strtoul(end + 2, &end, 10);
        assert_true(next < d && edges[last * d + next] != 0);
        last = next;
        steps++;
    }
    assert_int_equal(*end, ';');
    assert_int_equal(first, last);
    assert_true(steps >= 2 && steps <= d);
}

static void cycles_are_found(void **state)
{
    lcg random = {9};
    size_t seen[2] = {0, 0};
    (void)state;
    for (int round = 0; round < 2000; round++) {
        size_t d = 2 + (size_t)(lcg_uniform(&random) * 7);
        uint8_t edges[64] = {0};
        double share = 1.5 * lcg_uniform(&random) / (double)d;
        for (size_t at = 0; at < d * d; at++) {
            edges[at] = at / d != at % d && lcg_uniform(&random) < share ? 1 : 0;
        }
        knowledge k = {0};
        const lscm_run_options run = {.required = edges};
        bool cyclic = has_cycle(edges, d);
        lscm_status status = knowledge_open(&k, &run, d, NULL, NULL, &why);
        assert_int_equal(status, cyclic ? LSCM_USAGE : LSCM_OK);
        if (cyclic) {
            assert_cycle_named(edges, d);
        }
        seen[cyclic ? 1 : 0]++;
        knowledge_close(&k);
    }
    assert_true(seen[0] > 100 && seen[1] > 100);
}

/* A cycle too long for a sentence is cut, not written past its end. */
static void long_cycles_are_cut(void **state)
{
    enum { MANY = 300 };
    static uint8_t edges[MANY * MANY];
    knowledge k;
    (void)state;
    for (size_t j = 0; j < MANY; j++) {
        edges[j * MANY + (j + 1) % MANY] = 1;
    }
    assert_fails(knowledge_open(&k, &(lscm_run_options){.required = edges}, MANY, NULL, NULL, &why),
                 LSCM_USAGE, "->...; leave one of them out");
}

static void what_was_said_is_recorded(void **state)
{
    const uint8_t forbidden[D * D] = {[0] = 1, [1] = 1, [3 * D + 2] = 1};
    const uint8_t required[D * D] = {[2 * D + 0] = 1};
    const size_t tiers[D] = {7, SIZE_MAX, 2, 7};
    const lscm_run_options run = {.forbidden = forbidden, .required = required, .tiers = tiers};
    (void)state;
    json_t *config = json_object();
    knowledge_store(&run, D, names, config);
    char *text = json_dumps(config, JSON_COMPACT);
    assert_string_equal(text, "{\"forbid\":[\"raf->mek\",\"akt->erk\"],\"require\":[\"erk->raf\"],"
                              "\"tiers\":[[\"erk\"],[\"raf\",\"akt\"]]}");
    free(text);
    (void)json_object_clear(config);
    knowledge_store(&run, D, NULL, config);
    text = json_dumps(config, JSON_COMPACT);
    assert_string_equal(text, "{\"forbid\":[\"0->1\",\"3->2\"],\"require\":[\"2->0\"],"
                              "\"tiers\":[[2],[0,3]]}");
    free(text);
    (void)json_object_clear(config);
    knowledge_store(&(lscm_run_options){0}, D, names, config);
    assert_int_equal(json_object_size(config), 0);
    json_decref(config);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_known),         cmocka_unit_test(everything_is_merged),
        cmocka_unit_test(contradictions_are_named), cmocka_unit_test(cycles_are_found),
        cmocka_unit_test(long_cycles_are_cut),      cmocka_unit_test(what_was_said_is_recorded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
