/* Status, suggestions, settings, arena, views, orders and spreads. */
#include "base/arena.h"
#include "base/order.h"
#include "base/view.h"
#include "lcg.h"
#include "testing.h"

#include <strings.h>

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

/* A row of a table whose field is an enum. */
typedef struct choice {
    const lscm_settings_table *(*table)(void);
    const char *type, *setting; /* "lscm_graph", "graph" */
} choice;

#define SIMULATION_CHOICE(type, name, ...) {lscm_simulation_table, #type, #name},
#define FIT_CHOICE(type, name, ...) {lscm_fit_table, #type, #name},
static const choice CHOICES[] = {LSCM_SIMULATION_TABLE(SIMULATION_CHOICE)
                                     LSCM_FIT_TABLE(FIT_CHOICE)};

/* Where the enumerators of a type begin in the text of lscm.h. */
static const char *enumerators_of(const char *header, const char *type)
{
    char begin[64];
    (void)snprintf(begin, sizeof begin, "typedef enum %s {", type);
    const char *at = strstr(header, begin);
    assert_non_null(at);
    return at + strlen(begin);
}

/* Takes the next enumerator, "LSCM_GRAPH_ER"; false when there is none. None has a number. */
static bool next_enumerator(const char **at, char out[64])
{
    *at += strspn(*at, ", \n");
    size_t length = strcspn(*at, ", \n=}");
    (void)snprintf(out, 64, "%.*s", (int)length, *at);
    *at += length;
    assert_true(**at != '=');
    return length > 0;
}

/* "LSCM_GRAPH_ER" is "er", "LSCM_DEVICE_CUDA_1" is "cuda:1" */
static bool is_word(const char *enumerator, char *word)
{
    for (char *colon = word; (colon = strchr(colon, ':')) != NULL;) {
        *colon = '_';
    }
    size_t before = strlen(enumerator) - strlen(word);
    return strlen(enumerator) > strlen(word) && enumerator[before - 1] == '_' &&
           strcasecmp(enumerator + before, word) == 0;
}

static void check_choice(const char *header, const choice *c)
{
    const lscm_setting *row = lscm_settings_find(c->table(), c->setting);
    const char *at = enumerators_of(header, c->type);
    const char *words = row->choices;
    char enumerator[64];
    int number = 0;
    for (; next_enumerator(&at, enumerator); number++) {
        union {
            lscm_simulation simulation;
            lscm_fit_settings fit;
        } s;
        char word[64];
        size_t length = strcspn(words, "|");
        (void)snprintf(word, sizeof word, "%.*s", (int)length, words);
        words += length + (words[length] == '|' ? 1 : 0);
        assert_ok(lscm_settings_set(c->table(), &s, row->name, word, &why));
        assert_true(is_word(enumerator, word));
        assert_int_equal(*(const unsigned *)(const void *)((const char *)&s + row->offset), number);
    }
    assert_true(*words == '\0');
    assert_int_equal(row->most, number - 1);
}

/* The words of the tables and the enums of lscm.h are the same choices in the same order. */
static void choices_are_enums(void **state)
{
    static char header[1 << 17];
    size_t seen = 0;
    (void)state;
    FILE *file = fopen(LSCM_HEADER, "r");
    assert_non_null(file);
    assert_true(fread(header, 1, sizeof header - 1, file) < sizeof header - 1);
    assert_int_equal(fclose(file), 0);
    for (size_t k = 0; k < sizeof CHOICES / sizeof CHOICES[0]; k++) {
        const choice *c = &CHOICES[k];
        if (lscm_settings_find(c->table(), c->setting)->kind == LSCM_CHOICE) {
            check_choice(header, c);
            seen++;
        }
    }
    assert_true(seen >= 17);
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
