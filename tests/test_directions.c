/* Edges that no set directs, of fits that nothing checks: a chain 0 -> 1 -> 2 in every draw, under
 * sets that tell its ends apart or do not. */
#include "made.h"
#include "made_posterior.h"

#include "infer/run/run.h"

#include "testing.h"

enum { D = 3, ROWS = 300, DRAWS = 4 };

static lscm_error why;

typedef struct asked {
    lscm_dataset *data;
    lscm_posterior *p;
    float *targets;
    fit f;
} asked;

static void ask(asked *a)
{
    static const size_t none[] = {0};
    const decoder g = made_decoder(DECODER_LINEAR, D, none, 4);
    *a = (asked){.data = made_new(), .p = made_posterior(DRAWS, 1, &g)};
    a->targets = made_field(a->data, LSCM_TARGETS, DTYPE_FLOAT32, ROWS, D, 0, 0);
    a->data->nodes = D;
    a->data->rows = ROWS;
    for (size_t s = 0; s < DRAWS; s++) {
        for (size_t k = 0; k < (size_t)D * D; k++) {
            bool edge = k == 0 * D + 1 || k == 1 * D + 2;
            a->p->w[s * D * D + k] = edge ? 1 : 0.1;
            a->p->edge_prob[k] = edge ? 1 : 0;
        }
    }
    a->p->threshold = 0.3;
    a->f.data = a->data;
    a->f.settings.noise = LSCM_NOISE_UNEQUAL;
    a->f.warnings = json_array();
}

static void forget(asked *a)
{
    json_decref(a->f.warnings);
    json_decref(a->f.pairs);
    lscm_posterior_free(a->p);
    lscm_dataset_free(a->data);
}

static size_t found(const asked *a)
{
    return json_array_size(json_object_get(a->f.pairs, "undirected"));
}

static const char *warning(const asked *a)
{
    return json_string_value(json_array_get(a->f.warnings, 0));
}

static void without_interventions_nothing_is_directed(void **state)
{
    (void)state;
    asked a;
    ask(&a);
    assert_ok(directions_find(&a.f, a.p, &why));
    assert_int_equal(found(&a), 2);
    assert_non_null(strstr(warning(&a), "there are no interventions in these data: of 2 likely"));
    assert_non_null(strstr(warning(&a), "(0 -- 1, 1 -- 2)"));
    forget(&a);
}

/* do(2) in the last row: 1 -> 2 is told; 0 and 1 are never told apart. */
static void a_set_directs_what_it_tells_apart(void **state)
{
    (void)state;
    asked a;
    char *names[] = {"raf", "mek", "erk"};
    ask(&a);
    a.targets[(ROWS - 1) * D + 2] = 1;
    a.data->node_names = names;
    assert_ok(directions_find(&a.f, a.p, &why));
    assert_int_equal(found(&a), 1);
    assert_non_null(strstr(warning(&a),
                           "no intervention set tells some directions: of 2 likely "
                           "edges 1 has no direction that the data know (raf -- mek)"));
    a.data->node_names = NULL;
    forget(&a);
}

/* do(0): 0 -> 1 is told, and so 1 -> 2: else 1 would have two causes that are apart. */
static void what_follows_is_directed_too(void **state)
{
    (void)state;
    asked a;
    ask(&a);
    a.targets[0] = 1;
    assert_ok(directions_find(&a.f, a.p, &why));
    assert_int_equal(found(&a), 0);
    assert_int_equal(json_array_size(a.f.warnings), 0);
    forget(&a);
}

static void assumptions_direct(void **state)
{
    (void)state;
    asked a;
    const size_t order[D] = {0, 1, 2};
    ask(&a);
    a.f.settings.noise = LSCM_NOISE_EQUAL;
    assert_ok(directions_find(&a.f, a.p, &why));
    assert_null(a.f.pairs);
    a.f.settings.noise = LSCM_NOISE_UNEQUAL;
    a.f.order = order;
    assert_ok(directions_find(&a.f, a.p, &why));
    assert_null(a.f.pairs);
    forget(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_interventions_nothing_is_directed),
        cmocka_unit_test(a_set_directs_what_it_tells_apart),
        cmocka_unit_test(what_follows_is_directed_too),
        cmocka_unit_test(assumptions_direct),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
