/* Layouts of small graphs, by programs called dot that are not what they should be, and on a
 * circle. */
#include "result/report/report.h"

#include "testing.h"

#include "home.h"

#include <sys/stat.h>

static lscm_error why;

static layout two_boxes(layout_node *node, layout_edge *edge)
{
    node[0] = (layout_node){.width = 40, .height = 20};
    node[1] = (layout_node){.width = 60, .height = 20};
    edge[0] = (layout_edge){.from = 0, .to = 1, .label = "+1.25"};
    return (layout){.nodes = 2, .edges = 1, .node = node, .edge = edge};
}

/* The edge goes from border to border, everything inside the drawing. */
static void assert_laid_out(const layout *l)
{
    const layout_edge *e = &l->edge[0];
    assert_true(e->points >= 4 && e->points % 3 == 1);
    const layout_point ends[] = {l->points[e->first], l->points[e->first + e->points - 1]};
    for (size_t k = 0; k < 2; k++) {
        double x = fabs(ends[k].x - l->node[k].centre.x);
        double y = fabs(ends[k].y - l->node[k].centre.y);
        assert_true(x <= l->node[k].width / 2 + 1 && y <= l->node[k].height / 2 + 1);
        assert_true(x >= l->node[k].width / 2 - 1 || y >= l->node[k].height / 2 - 1);
        assert_true(l->node[k].centre.x >= l->node[k].width / 2 - 1);
        assert_true(l->node[k].centre.x <= l->width - l->node[k].width / 2 + 1);
    }
    assert_true(e->label_at.x > 0 && e->label_at.x < l->width + 60);
    assert_true(e->label_at.y > 0 && e->label_at.y < l->height);
}

static void a_circle_is_a_layout(void **state)
{
    (void)state;
    layout_node node[2];
    layout_edge edge[1];
    layout l = two_boxes(node, edge);
    assert_ok(layout_on_circle(&l, &why));
    assert_laid_out(&l);
    layout_free(&l);
}

static char *path_now(void)
{
    const char *path = getenv("PATH");
    return strdup(path != NULL ? path : "/usr/bin:/bin");
}

/* `script` stands for the program dot; NULL: there is none. */
static bool lay_out_with(const char *script)
{
    char *before = path_now();
    layout_node node[2];
    layout_edge edge[1];
    layout l = two_boxes(node, edge);
    if (script != NULL) {
        FILE *file = fopen(at("dot"), "w");
        assert_non_null(file);
        (void)fputs(script, file);
        (void)fclose(file);
        assert_int_equal(chmod(at("dot"), 0700), 0);
    }
    (void)setenv("PATH", home, 1);
    bool good = layout_by_dot(&l);
    (void)setenv("PATH", before, 1);
    if (good) {
        assert_laid_out(&l);
    }
    layout_free(&l);
    free(before);
    return good;
}

static void any_dot_is_survived(void **state)
{
    (void)state;
#define HEAD "#!/bin/sh\necho graph 1 2 2\n"
#define NODES "echo 'node 0 1 1.8 0.5556 0.2778 \"\"'\necho 'node 1 1 0.2 0.8333 0.2778 \"\"'\n"
#define EDGE "echo 'edge 0 1 4 1 1.661 1 1.2 1 .8 1 0.339 M+1.25 1.3 1 solid black'\n"
    assert_false(lay_out_with(NULL));
    assert_true(lay_out_with(HEAD NODES EDGE "echo stop"));
    assert_false(lay_out_with(HEAD NODES EDGE "echo stop\nexit 1"));
    assert_false(lay_out_with(HEAD NODES EDGE));
    assert_false(lay_out_with(HEAD NODES "echo stop"));
    assert_false(lay_out_with(HEAD EDGE "echo stop"));
    assert_false(lay_out_with(HEAD NODES "echo 'edge 0 1 4 1 1'\necho stop"));
    assert_false(lay_out_with(HEAD NODES "echo 'edge 0 7 4 1 1 1 1 1 1 1 1 s b'\necho stop"));
    assert_false(lay_out_with(HEAD NODES "echo 'edge 0 1 1e9 1 1'\necho stop"));
    assert_false(lay_out_with(HEAD "echo 'node -1 nan 1'\necho stop"));
    assert_false(lay_out_with("#!/bin/sh\nkill -9 $$"));
    assert_false(lay_out_with("not a program"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_circle_is_a_layout),
        TEST_AT_HOME(any_dot_is_survived),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
