/* Nodes that have names are called by them: in sentences from deep inside, and under pictures. */
#include "made.h"
#include "made_posterior.h"

#include "design_testing.h"
#include "infer/graph/graph.h"
#include "infer/sample/sample.h"
#include "infer/screen/screen.h"
#include "testing.h"

#include "data/picture/picture.h"

#include <math.h>

static lscm_error why;
static char *NAMES[] = {"raf", "mek", "erk"};

enum { D = 3, ROWS = 4 };

static void named_design(design *s)
{
    const uint8_t mask[ROWS * D] = {0};
    design_again(s, ROWS, D, mask, NULL);
    s->names = NAMES;
}

static void sentences(void **state)
{
    design s = {0};
    censored c;
    const double z[ROWS * D] = {0};
    const double tolerance[D] = {0.1, 2, 0.1};
    uint8_t edges[D * D] = {[0 * D + 1] = 1};
    size_t count[D] = {0};
    size_t candidate[D * D] = {0};
    candidate_lists lists = {D - 1, count, candidate, edges};
    latent_rows rows = {&s, z, NULL, false};
    families f = {0};
    (void)state;
    named_design(&s);
    assert_fails(censor_find(&c, &s, z, 1, tolerance, NULL, &why), LSCM_VALUE, "node mek: its");
    assert_fails(screen_candidates(&rows, edges, &lists, NULL, NULL, &why), LSCM_VALUE,
                 "raf -> mek is both required and forbidden");
    assert_fails(linear_gaussian.gather(&f, &rows, &lists, &why), LSCM_VALUE,
                 "node mek: a required parent");
    s.names = NULL;
    assert_fails(linear_gaussian.gather(&f, &rows, &lists, &why), LSCM_VALUE,
                 "node 1: a required parent");
    design_close(&s);
}

static void moments_and_orders(void **state)
{
    double scatter[D] = {NAN, 1, 1};
    const double mean[D] = {0};
    const size_t of[1] = {1};
    const size_t order[2] = {0, 1};
    dag_result out = {0};
    dag_draws none = {.d = 2};
    double one[4] = {1, 0, 0, 1};
    family list[2] = {{.node = 0, .levels = 1, .scatter = scatter, .mean = mean, .names = NAMES},
                      {.node = 1, .levels = 1, .scatter = one, .mean = mean, .names = NAMES}};
    mechanisms all = {&linear_gaussian, 2, list, {.dof = 1, .ridge = 1, .unit = one}};
    (void)state;
    assert_fails(mechanisms_check(&all, &why), LSCM_VALUE, "moments of node raf");
    list[0] = (family){.node = 0,
                       .count = 1,
                       .candidate = of,
                       .required = 1,
                       .levels = 1,
                       .scatter = one,
                       .mean = mean,
                       .names = NAMES};
    assert_fails(dag_exact(&(dag_problem){&all, order, (rng){1, 1}, NULL, NULL}, &none, &out, &why),
                 LSCM_VALUE, "mek -> raf is required, but the given order has mek after raf");
}

static void decoded_rows(void **state)
{
    static const size_t none[] = {0};
    const decoder g = made_decoder(DECODER_LINEAR, D, none, 4);
    lscm_posterior *p = made_posterior(2, 1, &g);
    const double z[D] = {0, 0, NAN};
    double x[4];
    (void)state;
    p->node_names = NAMES;
    assert_fails(lscm_posterior_decode(p, 1, z, x, &why), LSCM_VALUE, "z of node erk in row 0");
    p->node_names = NULL;
    assert_fails(lscm_posterior_decode(p, 1, z, x, &why), LSCM_VALUE, "z of node 2 in row 0");
    lscm_posterior_free(p);
}

static void captions(void **state)
{
    char *names[] = {"raf", "a_name_that_is_long", "\xc3\xa9rk"};
    lscm_dataset *data = made_new();
    float *targets = made_field(data, LSCM_TARGETS, DTYPE_FLOAT32, 1, D, 0, 0);
    float *values = made_field(data, LSCM_VALUES, DTYPE_FLOAT32, 1, D, 0, 0);
    caption c;
    (void)state;
    data->nodes = D;
    data->rows = 1;
    for (size_t i = 0; i < D; i++) {
        targets[i] = 1;
        values[i] = (float)i + 0.5F;
    }
    data->node_names = names;
    assert_ok(caption_of(data, 0, 14, &c, &why));
    assert_int_equal(c.lines, 4);
    assert_string_equal(c.line[0], "row 0");
    assert_string_equal(c.line[1], "do(raf=0.5,");
    assert_string_equal(c.line[2], "a_name_t.=1.5,"); /* as much as there is room for */
    assert_string_equal(c.line[3], "2=2.5)");         /* letters that there are not */
    data->node_names = NULL;
    assert_ok(caption_of(data, 0, 14, &c, &why));
    assert_string_equal(c.line[1], "do(0=0.5,");
    lscm_dataset_free(data);
}

/* Every letter of a name has ink, and no two look alike. */
static void letters_differ(void **state)
{
    enum { FIRST = '!', LAST = '~', WIDTH = CAPTION_LETTER, HEIGHT = CAPTION_LINE };
    bool ink[LAST - FIRST + 1][WIDTH * HEIGHT];
    (void)state;
    for (int letter = FIRST; letter <= LAST; letter++) {
        caption c = {.line = {{(char)letter}}, .lines = 1};
        size_t dots = 0;
        for (size_t k = 0; k < WIDTH * HEIGHT; k++) {
            ink[letter - FIRST][k] = caption_ink(&c, k % WIDTH, k / WIDTH);
            dots += ink[letter - FIRST][k] ? 1 : 0;
        }
        assert_true(dots > 0);
        for (int other = FIRST; other < letter; other++) {
            assert_memory_not_equal(ink[letter - FIRST], ink[other - FIRST], sizeof ink[0]);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sentences),      cmocka_unit_test(moments_and_orders),
        cmocka_unit_test(decoded_rows),   cmocka_unit_test(captions),
        cmocka_unit_test(letters_differ),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
