/* Status, suggestions, settings, arena, views, orders and spreads. */
#include "base/arena.h"
#include "base/order.h"
#include "base/view.h"
#include "lcg.h"
#include "testing.h"

#include <ctype.h>

static lscm_error why;

static void every_status_has_its_sentence(void **state)
{
    (void)state;
    for (int s = LSCM_OK; s <= LSCM_TOOL; s++) {
        assert_true(strlen(lscm_status_text((lscm_status)s)) > 3);
    }
    assert_string_equal(lscm_status_text((lscm_status)999), "unknown status");
}

static void suggestions(void **state)
{
    (void)state;
    const char *names[] = {"simulate", "info", "convert", "evaluate"};
    assert_string_equal(lscm_suggest("simluate", names, 4), "simulate");
    assert_string_equal(lscm_suggest("evalute", names, 4), "evaluate");
    assert_string_equal(lscm_suggest("sim", names, 4), "simulate");
    assert_string_equal(lscm_suggest("inof", names, 4), "info");
    assert_null(lscm_suggest("xyz", names, 4));
    assert_null(lscm_suggest("", names, 4));
}

static void settings_read_back(void **state)
{
    (void)state;
    const lscm_settings_table *table = lscm_simulation_table();
    const lscm_setting *row = NULL;
    lscm_simulation *s = lscm_simulation_new();
    lscm_simulation *read = lscm_simulation_new();
    assert_true(s != NULL && read != NULL);
    assert_ok(lscm_settings_set(table, s, "noise-scale", "0.1234567890123", &why));
    assert_ok(lscm_settings_set(table, s, "per_set", "12", &why));
    assert_ok(lscm_settings_set(table, s, "graph", "ba", &why));
    assert_ok(lscm_settings_set(table, s, "paired", "true", &why));
    assert_ok(lscm_settings_set(table, s, "seed", "9007199254740991", &why));
    for (size_t i = 0; (row = lscm_settings_row(table, i)) != NULL; i++) {
        char text[64];
        lscm_settings_get(row, s, text, sizeof text);
        assert_ok(lscm_settings_set(table, read, row->name, text, &why));
    }
    assert_true(read->noise_scale == 0.1234567890123 && read->per_set == 12);
    assert_true(read->graph == LSCM_GRAPH_BA && read->paired && read->seed == 9007199254740991);
    assert_ok(lscm_settings_check(table, read, &why));
    lscm_simulation_free(s);
    lscm_simulation_free(read);
}

/* Made by the library: defaults that are also told as texts, and copies of one's own. */
static void settings_are_made(void **state)
{
    (void)state;
    const lscm_settings_table *table = lscm_fit_table();
    const lscm_setting *row = NULL;
    lscm_fit_settings *s = lscm_fit_settings_new();
    assert_non_null(s);
    for (size_t i = 0; (row = lscm_settings_row(table, i)) != NULL; i++) {
        char text[64];
        char usual[64];
        lscm_settings_get(row, s, text, sizeof text);
        lscm_settings_get(row, NULL, usual, sizeof usual);
        assert_string_equal(text, usual);
        assert_ptr_equal(lscm_settings_find(table, row->name), row);
    }
    assert_true(s->method == LSCM_METHOD_AUTO && s->draws == 1000 && s->holdout == 0.2);
    s->seed = 7;
    s->decoder = LSCM_DECODER_MLP;
    lscm_fit_settings *copy = lscm_fit_settings_copy(s);
    assert_non_null(copy);
    s->seed = 8;
    assert_true(copy->seed == 7 && copy->decoder == LSCM_DECODER_MLP && copy->draws == 1000);
    lscm_settings_defaults(table, copy);
    assert_true(copy->seed == 0 && copy->decoder == LSCM_DECODER_AUTO);
    lscm_fit_settings_free(s);
    lscm_fit_settings_free(copy);
    lscm_fit_settings_free(NULL);
}

typedef struct named {
    const lscm_settings_table *(*table)(void);
    const char *setting, *word; /* "ER" */
    int number;
} named;

#define NAMED(group, setting, choice, word)                                                        \
    {                                                                                              \
        lscm_##group##_table, #setting, #word, LSCM_##choice##_##word                              \
    }
static const named NAMES[] = {
    NAMED(simulation, graph, GRAPH, ER),
    NAMED(simulation, graph, GRAPH, BA),
    NAMED(simulation, graph, GRAPH, FULL),
    NAMED(simulation, weights, WEIGHTS, UNIFORM),
    NAMED(simulation, weights, WEIGHTS, GAUSSIAN),
    NAMED(simulation, weights, WEIGHTS, PRIOR),
    NAMED(simulation, noise, NOISE_LAW, EQUAL),
    NAMED(simulation, noise, NOISE_LAW, UNEQUAL),
    NAMED(simulation, noise, NOISE_LAW, PRIOR),
    NAMED(simulation, targets, TARGETS, MULTI),
    NAMED(simulation, targets, TARGETS, SINGLE),
    NAMED(simulation, targets, TARGETS, CYCLE),
    NAMED(simulation, values, VALUES, UNIFORM),
    NAMED(simulation, values, VALUES, GAUSSIAN),
    NAMED(simulation, values, VALUES, ZERO),
    NAMED(simulation, values, VALUES, THREE),
    NAMED(simulation, projection, PROJECTION, LINEAR),
    NAMED(simulation, projection, PROJECTION, MLP),
    NAMED(simulation, projection, PROJECTION, IMAGE),
    NAMED(simulation, projection, PROJECTION, SON),
    NAMED(simulation, projection, PROJECTION, IDENTITY),
    NAMED(simulation, projection, PROJECTION, BLOBS),
    NAMED(simulation, activation, ACTIVATION, RELU),
    NAMED(simulation, activation, ACTIVATION, LEAKY),
    NAMED(simulation, activation, ACTIVATION, TANH),
    NAMED(simulation, activation, ACTIVATION, SILU),
    NAMED(simulation, activation, ACTIVATION, POLYNOMIAL),
    NAMED(fit, method, METHOD, AUTO),
    NAMED(fit, method, METHOD, ANCHORED),
    NAMED(fit, method, METHOD, BIOLS),
    NAMED(fit, method, METHOD, VAE),
    NAMED(fit, method, METHOD, GRAPHVAE),
    NAMED(fit, order, ORDER, LEARNED),
    NAMED(fit, order, ORDER, GIVEN),
    NAMED(fit, decoder, DECODER, AUTO),
    NAMED(fit, decoder, DECODER, LINEAR),
    NAMED(fit, decoder, DECODER, MLP),
    NAMED(fit, decoder, DECODER, IMAGE),
    NAMED(fit, decoder, DECODER, IDENTITY),
    NAMED(fit, noise, NOISE, AUTO),
    NAMED(fit, noise, NOISE, EQUAL),
    NAMED(fit, noise, NOISE, UNEQUAL),
    NAMED(fit, graph_prior, GRAPH_PRIOR, ORDER),
    NAMED(fit, graph_prior, GRAPH_PRIOR, UNIFORM),
    NAMED(fit, encoder, ENCODER, AUTO),
    NAMED(fit, encoder, ENCODER, KERNEL),
    NAMED(fit, encoder, ENCODER, NETWORK),
    NAMED(fit, optimiser, OPTIMISER, ADABELIEF),
    NAMED(fit, optimiser, OPTIMISER, ADAM),
    NAMED(fit, expectation, EXPECTATION, CLOSED),
    NAMED(fit, expectation, EXPECTATION, SAMPLED),
    NAMED(fit, objective, OBJECTIVE, ELBO),
    NAMED(fit, objective, OBJECTIVE, MSE),
    NAMED(fit, permanent, PERMANENT, BETHE),
    NAMED(fit, permanent, PERMANENT, EXACT),
};

/* "ER" as "er" */
static void lower(const char *word, char *out, size_t size)
{
    (void)snprintf(out, size, "%s", word);
    for (char *c = out; *c != '\0'; c++) {
        *c = (char)tolower((unsigned char)*c);
    }
}

/* The words of the tables and the enums of lscm.h are the same choices in the same order. */
static void choices_are_enums(void **state)
{
    size_t choices = 0;
    (void)state;
    for (size_t k = 0; k < sizeof NAMES / sizeof NAMES[0]; k++) {
        const lscm_setting *row = lscm_settings_find(NAMES[k].table(), NAMES[k].setting);
        union {
            lscm_simulation simulation;
            lscm_fit_settings fit;
        } s;
        char word[32];
        assert_non_null(row);
        assert_int_equal(row->kind, LSCM_CHOICE);
        lower(NAMES[k].word, word, sizeof word);
        assert_ok(lscm_settings_set(NAMES[k].table(), &s, row->name, word, &why));
        assert_int_equal(*(const unsigned *)(const void *)((const char *)&s + row->offset),
                         NAMES[k].number);
        assert_in_range(NAMES[k].number, 0, (int)row->most);
        bool first = k == 0 || strcmp(NAMES[k - 1].setting, NAMES[k].setting) != 0;
        assert_int_equal(NAMES[k].number, first ? 0 : NAMES[k - 1].number + 1);
    }
    for (size_t t = 0; t < 2; t++) {
        const lscm_settings_table *table = t == 0 ? lscm_fit_table() : lscm_simulation_table();
        const lscm_setting *row = NULL;
        for (size_t i = 0; (row = lscm_settings_row(table, i)) != NULL; i++) {
            choices += row->kind == LSCM_CHOICE ? (size_t)row->most + 1 : 0;
        }
    }
    assert_int_equal(choices, sizeof NAMES / sizeof NAMES[0]);
}

static void settings_refuse(void **state)
{
    (void)state;
    const lscm_settings_table *table = lscm_simulation_table();
    lscm_simulation *s = lscm_simulation_new();
    assert_non_null(s);
    assert_fails(lscm_settings_set(table, s, "noeds", "3", &why), LSCM_USAGE,
                 "did you mean 'nodes'");
    assert_fails(lscm_settings_set(table, s, "nodes", "0", &why), LSCM_USAGE, "between 1 and");
    assert_fails(lscm_settings_set(table, s, "nodes", "2.5", &why), LSCM_USAGE, "whole number");
    assert_fails(lscm_settings_set(table, s, "nodes", "five", &why), LSCM_USAGE, "not 'five'");
    assert_fails(lscm_settings_set(table, s, "nodes", "", &why), LSCM_USAGE, "takes a number");
    assert_fails(lscm_settings_set(table, s, "degree", "nan", &why), LSCM_USAGE, "between");
    assert_fails(lscm_settings_set(table, s, "degree", "inf", &why), LSCM_USAGE, "between");
    assert_fails(lscm_settings_set(table, s, "graph", "err", &why), LSCM_USAGE,
                 "did you mean 'er'");
    assert_fails(lscm_settings_set(table, s, "graph", "tree", &why), LSCM_USAGE, "er|ba|full");
    assert_fails(lscm_settings_set(table, s, "paired", "maybe", &why), LSCM_USAGE, "true or false");
    s->degree = NAN;
    assert_fails(lscm_settings_check(table, s, &why), LSCM_USAGE, "'degree'");
    lscm_settings_defaults(table, s);
    s->graph = (lscm_graph)3;
    assert_fails(lscm_settings_check(table, s, &why), LSCM_USAGE, "'graph'");
    lscm_simulation_free(s);
}

static void arena_measures_then_places(void **state)
{
    (void)state;
    arena a = {0};
    assert_null(arena_take(&a, 3, sizeof(double)));
    assert_null(arena_take(&a, 100, 1));
    assert_ok(arena_open(&a, &why));
    double *first = arena_take(&a, 3, sizeof(double));
    char *second = arena_take(&a, 100, 1);
    assert_non_null(first);
    assert_non_null(second);
    assert_true((uintptr_t)first % ARENA_ALIGN == 0 && (uintptr_t)second % ARENA_ALIGN == 0);
    assert_true((char *)(first + 3) <= second);
    assert_true(first[2] == 0 && second[99] == 0);
    assert_null(arena_take(&a, 1, 1000)); /* more than was measured */
    arena_close(&a);
    assert_null(arena_take(&a, SIZE_MAX, 16));
    assert_int_equal(arena_open(&a, &why), LSCM_MEMORY);
    arena_close(&a);
}

static void views_share_memory(void **state)
{
    (void)state;
    double data[12] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
    view v = view_of(data, 4, 3);
    view tail = view_rows(v, 2, 2);
    assert_true(view_row(v, 1)[2] == 5 && view_row(tail, 1)[0] == 9 && tail.rows == 2);
    view_row(tail, 0)[0] = -1;
    assert_true(data[6] == -1);
}

static void orders(void **state)
{
    (void)state;
    size_t order[3];
    size_t scratch[3];
    const double chain[9] = {0, 0, 0, 2, 0, 0, 0, -1, 0}; /* 2 -> 1 -> 0 */
    const double cycle[9] = {0, 1, 0, 0, 0, 1, 1, 0, 0};
    const double loop[9] = {0, 0, 0, 0, 1, 0, 0, 0, 0};
    assert_true(order_of_graph(chain, 3, order, scratch));
    assert_true(order[0] == 2 && order[1] == 1 && order[2] == 0);
    assert_true(order_fits_graph(chain, 3, order, scratch));
    assert_false(order_of_graph(cycle, 3, order, scratch));
    assert_false(order_of_graph(loop, 3, order, scratch));
    const size_t wrong[3] = {0, 1, 2};
    const size_t twice[3] = {2, 2, 0};
    const size_t outside[3] = {2, 1, 3};
    assert_false(order_fits_graph(chain, 3, wrong, scratch));
    assert_false(order_fits_graph(chain, 3, twice, scratch));
    assert_false(order_fits_graph(chain, 3, outside, scratch));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_status_has_its_sentence),
        cmocka_unit_test(suggestions),
        cmocka_unit_test(settings_read_back),
        cmocka_unit_test(settings_are_made),
        cmocka_unit_test(choices_are_enums),
        cmocka_unit_test(settings_refuse),
        cmocka_unit_test(arena_measures_then_places),
        cmocka_unit_test(views_share_memory),
        cmocka_unit_test(orders),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
