/* Reading CSV: good and bad files word by word, the forms of a target, rows in odd blocks against
 * the whole. */
#include "csv_testing.h"

#include <math.h>

static char path[300]; /* the file under test */

static int set_up(void **state)
{
    int made = scratch_make(state);
    (void)scratch_path(path, "data.csv");
    return made;
}

typedef struct good_file {
    const char *text, *ignore, *names;
    size_t rows, nodes;
    double x[8];
    uint8_t targets[8];
} good_file;

static const good_file GOOD[] = {
    {"a,b\n1,2\n3,4\n", NULL, "a b", 2, 2, {1, 2, 3, 4}, {0}},
    {"a,b\r\n1,2\r\n3,4", NULL, "a b", 2, 2, {1, 2, 3, 4}, {0}},
    {"\xEF\xBB\xBF"
     "a,b\n1,2\n3,4\n\n\r\n  \n",
     NULL,
     "a b",
     2,
     2,
     {1, 2, 3, 4},
     {0}},
    {"a , \"b\"\n 1 ,\t2\n\"3\",4e0\n", NULL, "a b", 2, 2, {1, 2, 3, 4}, {0}},
    {"\"x,\"\"1\"\"\",\"two\nlines\"\n1,2\n3,4\n",
     NULL,
     "x,\"1\" two\nlines",
     2,
     2,
     {1, 2, 3, 4},
     {0}},
    {"1,b\n1,2\n3,4\n", NULL, "1 b", 2, 2, {1, 2, 3, 4}, {0}},
    /* targets by name, by number, several, none */
    {"a,b,target\n1,2,a\n3,4,b;a\n5,6,-1\n7,8,\n",
     NULL,
     "a b",
     4,
     2,
     {1, 2, 3, 4, 5, 6, 7, 8},
     {1, 0, 1, 1, 0, 0, 0, 0}},
    {"target,a,b\n0,1,2\n1 ; 0,3,4\n-1.0,5,6\n1.0,7,8\n",
     NULL,
     "a b",
     4,
     2,
     {1, 2, 3, 4, 5, 6, 7, 8},
     {1, 0, 1, 1, 0, 0, 0, 1}},
    {"a,target,b\n1,1,2\n3,0,4\n", NULL, "a b", 2, 2, {1, 2, 3, 4}, {0, 1, 1, 0}},
    /* a number counts ignored columns too, and a name goes before a number */
    {"e,a,target,b\nhi,1,2,2\n?,3,1,4\n", " e ,", "a b", 2, 2, {1, 2, 3, 4}, {0, 1, 1, 0}},
    {"1,0,target\n1,2,0\n3,4,1\n", NULL, "1 0", 2, 2, {1, 2, 3, 4}, {0, 1, 1, 0}},
    {"a;b,c,target\n1,2,a;b\n3,4,c\n", NULL, "a;b c", 2, 2, {1, 2, 3, 4}, {1, 0, 0, 1}},
    {"a,b,target\n1,2,nonsense\n3,4,-1\n", "target", "a b", 2, 2, {1, 2, 3, 4}, {0}},
};

static void check_good(const good_file *file)
{
    lscm_dataset *data = NULL;
    double x[8];
    uint8_t targets[8];
    char names[64];
    scratch_write_text(path, file->text);
    assert_ok(open_csv(path, file->ignore, &data));
    assert_int_equal(lscm_dataset_rows(data), file->rows);
    assert_int_equal(lscm_dataset_nodes(data), file->nodes);
    assert_int_equal(lscm_dataset_features(data), file->nodes);
    assert_false(data->shape[LSCM_VALUES].present || data->shape[LSCM_Z].present);
    (void)snprintf(names, sizeof names, "%s %s", lscm_dataset_node_name(data, 0),
                   lscm_dataset_feature_name(data, 1));
    assert_string_equal(names, file->names);
    assert_ok(dataset_read_raw(data, LSCM_X, 0, file->rows, x, &why));
    assert_ok(dataset_read_raw(data, LSCM_TARGETS, 0, file->rows, targets, &why));
    for (size_t k = 0; k < file->rows * file->nodes; k++) {
        assert_near(x[k], file->x[k], 0);
        assert_int_equal(targets[k], file->targets[k]);
    }
    lscm_dataset_free(data);
}

static void good_files_are_read(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof GOOD / sizeof GOOD[0]; i++) {
        check_good(&GOOD[i]);
    }
}

static const struct {
    const char *text, *ignore;
    lscm_status status;
    const char *part;
} BAD[] = {
    {"", NULL, LSCM_FORMAT, "is empty"},
    {"\n\n", NULL, LSCM_FORMAT, "is empty"},
    {"a,b\n", NULL, LSCM_SHAPE, "no rows"},
    {"a,b\n1,2\n", NULL, LSCM_SHAPE, "one sample"},
    {"1,2\n3,4\n5,6\n", NULL, LSCM_FORMAT, "line 1 should name the columns"},
    {"a,\n1,2\n3,4\n", NULL, LSCM_FORMAT, "column 2 has no name"},
    {"a,b,a\n1,2,3\n3,4,5\n", NULL, LSCM_FORMAT, "two columns are named 'a'"},
    {"a,\xE4\n1,2\n3,4\n", NULL, LSCM_FORMAT, "column 2 is not UTF-8"},
    {"a,b\n1,2\n3\n", NULL, LSCM_SHAPE, "line 3 has 1 cell but line 1 names 2 columns"},
    {"a,b,c\n1,2,3\n1,2", NULL, LSCM_SHAPE,
     "line 3 has 2 cells but line 1 names 3 columns; the "
     "file ends in this line: was it cut short?"},
    {"a,b,target\n1,2,\n1,2,", NULL, LSCM_FORMAT, "line 3, the last, has nothing in its last"},
    {"a,b\n1,2\n3,4,5\n", NULL, LSCM_SHAPE, "line 3 has 3 cells"},
    {"a,b\n1,2\n\n3,4\n", NULL, LSCM_FORMAT, "line 3 is empty"},
    {"a,env\n1,2\n3,reference\n", NULL, LSCM_VALUE,
     "line 3, column 'env' holds 'reference', not a number; leave the column out with --ignore "
     "env"},
    {"a,b\n1,inf\n3,4\n", NULL, LSCM_VALUE, "line 2, column 'b' holds 'inf'"},
    {"a,do:p,z:p\n1,2,2\n3,,NA\n", NULL, LSCM_VALUE, "line 3, column 'z:p' has no number ('NA')"},
    /* what is missing is no number of a column, or of a row */
    {"a,b,env\n1.5,2,NA\n3,4.5,0\n5,6,1\n", NULL, LSCM_VALUE, "if it is neither: --ignore env"},
    {"a,b,what\n1.5,2,\n3,4.5,-1\n5,6,2\n", NULL, LSCM_VALUE, "is 'what' the intervention"},
    {"id,a,target\nNA,1.5,\n5,2,a\n9,0,\n1,3,\n", NULL, LSCM_VALUE,
     "leave it out with --ignore id"},
    {"a,b\n1,-inf\n3,4\n", NULL, LSCM_VALUE, "must be finite"},
    {"a,b\n1,1e999\n3,4\n", NULL, LSCM_VALUE, "must be finite"},
    {"a,b\n1,0x10\n3,4\n", NULL, LSCM_VALUE, "not a number"},
    {"\"a\nz\",b\n1,2\n3,?\n", NULL, LSCM_VALUE, "line 4, column 'b'"},
    {"a,b\n1,2\n\"3,4\n", NULL, LSCM_FORMAT, "line 3 opens a quote that is never closed"},
    {"a,b\n1,2\n3\"\",4\n", NULL, LSCM_FORMAT, "line 3, cell 1 has a quote"},
    {"a,b\n1,2\n\"3\"x,4\n", NULL, LSCM_FORMAT, "line 3, cell 1 has a quote"},
    {"a,b\r1,2\r3,4\r", NULL, LSCM_FORMAT, "carriage return"},
    {"soft,env\n1,2\n3,4\n", "sof", LSCM_USAGE, "'sof' to ignore; did you mean 'soft'?"},
    {"a,b\n1,2\n3,4\n", "a,b", LSCM_SHAPE, "no column is left"},
    {"target\n-1\n-1\n", NULL, LSCM_SHAPE, "no column is left"},
    {"red,b,target\n1,2,rd\n3,4,\n", NULL, LSCM_VALUE,
     "line 2: target 'rd' is neither the name of a column nor a number from 0 to 1; did you "
     "mean 'red'?"},
    {"a,b,target\n1,2,a\n3,4,2\n", NULL, LSCM_VALUE, "line 3: target '2' is neither"},
    {"a,b,target\n1,2,0.5\n3,4,2\n", NULL, LSCM_VALUE, "target '0.5' is neither"},
    {"a,b,target\n1,2,target\n3,4,2\n", NULL, LSCM_VALUE, "target 'target' is neither"},
    {"a,b,target\n1,2,-1;0\n3,4,\n", NULL, LSCM_VALUE, "target '-1' is neither"},
    {"a,b,target\n1,2,a\n3,4,b;0\n", "a", LSCM_VALUE, "column 'a', which is ignored"},
    {"red,green,target\n1,2,pten\n3,4,\n", NULL, LSCM_VALUE,
     "line 2: target 'pten' is neither the name of a column nor a number from 0 to 1; if it "
     "says that nothing was set: --control 'pten'; if it is a variable behind the columns, "
     "name the column of values that do() set: --value-column NAME"},
    /* what may be the intervention column is asked for, not thrown away */
    {"a,condition\n1,x\n3,y\n", NULL, LSCM_VALUE,
     "line 2, column 'condition' holds 'x', not a number; is 'condition' the intervention "
     "column? --target-column condition"},
    {"a,what\n1,a\n3,y\n", NULL, LSCM_VALUE, "--target-column what"},
    {"cell,a,sgRNA,batch\nc1,1,g1,b1\nc2,3,g2,b2\n", NULL, LSCM_VALUE,
     "is 'sgRNA' the intervention column? --target-column sgRNA; if not, leave the columns "
     "of text out: --ignore cell,sgRNA,batch"},
    {"a,env,batch\n1,u,v\n3,u,v\n", NULL, LSCM_VALUE,
     "--target-column env; if not, leave the columns of text out: --ignore env,batch"},
    {"a,cell,batch\n1,u,v\n3,w,v\n", NULL, LSCM_VALUE, "--target-column batch; if not, "},
    {"a,cell,well\n1,u,v\n3,w,x\n", NULL, LSCM_VALUE,
     "leave the columns of text out with --ignore cell,well; if one says what do() acted on: "
     "--target-column cell"},
    {"a,cell type\n1,u\n3,u\n", NULL, LSCM_VALUE,
     "--target-column 'cell type'; if not, leave it out: --ignore 'cell type'"},
    /* .. by all of its cells, be the first a control, missing or a number */
    {"a,gene\n1,NT\n3,a\n", NULL, LSCM_VALUE, "--target-column gene; if not"},
    {"raf,gene\n1,NA\n3,raf\n", NULL, LSCM_VALUE,
     "line 3, column 'gene' holds 'raf', not a number; is 'gene' the intervention column?"},
    {"a,label,b\n1,,2\n3,b,4\n", NULL, LSCM_VALUE, "--target-column label; if not"},
    {"a,label,b\n1,0,2\n3,a+b,4\n", NULL, LSCM_VALUE, "--target-column label; if not"},
    {"batch,a,arm\nx,1,placebo\nx,3,p\n", NULL, LSCM_VALUE, "--target-column arm; if not"},
    /* numbers, too: of nodes, and of rows */
    {"a,b,Perturbation\n1.5,2,-1\n3,4.5,0\n5,6,1\n", NULL, LSCM_VALUE,
     "is 'Perturbation' the intervention column? --target-column Perturbation; if it is a "
     "variable like the others: --target-column none"},
    {"cell_id,a\n7,1.5\n8,2\n9,0\n10,3\n", NULL, LSCM_VALUE,
     "column 'cell_id' seems to name the rows; leave it out with --ignore cell_id; give it "
     "another name"},
    {"id,a,target\n7,1.5,\n5,2,a\n9,0,\n1,3,\n", NULL, LSCM_VALUE, "leave it out with --ignore id"},
    {"a,b,env\n1.5,2,0\n3,4.5,0\n5,6,1\n", NULL, LSCM_VALUE, "if it is neither: --ignore env"},
    {"a,b,what\n1.5,2,-1\n3,4.5,0\n5,6,2\n", NULL, LSCM_VALUE, "is 'what' the intervention"},
    {"a,b,target,Intervention\n1.5,2,a,-1\n3,4.5,b,0\n5,6,,1\n", NULL, LSCM_VALUE,
     "columns 'target' and 'Intervention' could both say what do() acted on; leave the second "
     "out: --ignore Intervention; if it is a variable like the others: --target-column target"},
    {"a,b,target,guide\n1,2,a,b\n3,4,,NT\n", NULL, LSCM_VALUE,
     "columns 'target' and 'guide' both name variables ('b'); join them in one column ('a;b'), "
     "or leave the second out: --ignore guide"},
    {"a,b,do(raf)\n1,2,0\n3,4,1\n", NULL, LSCM_VALUE, "Then call it 'do:raf'; if it is"},
    {"a,b,Do_raf\n1,2,\n3,4,1\n", NULL, LSCM_VALUE, "Then call it 'do:raf'; if it is"},
    {"a,b,value\n1,2,0\n3,4,1\n", NULL, LSCM_VALUE, "does column 'value' hold what do() set?"},
    {"red,b,target\n1,2,RED\n3,4,\n", NULL, LSCM_VALUE, "did you mean 'red'?"},
    {"a,Target\n1,0\n3,-1\n", NULL, LSCM_VALUE,
     "is 'Target' the intervention column? --target-column Target; if it is a variable like "
     "the others: --target-column none"},
    {"a,Intervention\n1,x\n3,-1\n", NULL, LSCM_VALUE, "--target-column Intervention"},
    {"a,b\n1,2,3\n", NULL, LSCM_SHAPE, "if the first cell is the name of the row"},
};

static void bad_files_get_a_sentence(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof BAD / sizeof BAD[0]; i++) {
        lscm_dataset *data = NULL;
        scratch_write_text(path, BAD[i].text);
        assert_fails(open_csv(path, BAD[i].ignore, &data), BAD[i].status, BAD[i].part);
        lscm_dataset_free(data);
        assert_non_null(strstr(why.text, path));
    }
}

static void what_is_no_text_file_is_refused(void **state)
{
    (void)state;
    lscm_dataset *data = NULL;
    static const char zeros[] = "a,b\n1,\0002\n3,4\n";
    scratch_write(path, zeros, sizeof zeros - 1);
    assert_fails(open_csv(path, NULL, &data), LSCM_FORMAT, "line 2 holds a zero byte");
    lscm_dataset_free(data);
    assert_fails(open_csv(scratch_folder, NULL, &data), LSCM_READ, "not a regular file");
    lscm_dataset_free(data);
    assert_fails(open_csv("/nowhere/data.csv", NULL, &data), LSCM_MISSING, "/nowhere/data.csv");
    lscm_dataset_free(data);
}

/* Rows longer than the first buffer, so that it moves and grows; x[i][k] = 10 i + k / 8. */
static void long_lines_are_read(void **state)
{
    (void)state;
    enum { ROWS = 5, COLUMNS = 60000 };
    lscm_dataset *data = NULL;
    double *x = calloc(COLUMNS, sizeof *x);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_non_null(x);
    for (int row = -1; row < ROWS; row++) {
        for (int k = 0; k < COLUMNS; k++) {
            (void)fprintf(file, row < 0 ? "c%.0f%s" : "%.3f%s", row < 0 ? k : 10 * row + k / 8.0,
                          k + 1 < COLUMNS ? "," : "\n");
        }
    }
    assert_int_equal(fclose(file), 0);
    assert_ok(open_csv(path, NULL, &data));
    for (size_t row = ROWS; row-- > 0;) {
        assert_ok(dataset_read_raw(data, LSCM_X, row, 1, x, &why));
        for (size_t k = 0; k < COLUMNS; k++) {
            assert_near(x[k], 10 * (double)row + (double)k / 8, 0);
        }
    }
    lscm_dataset_free(data);
    free(x);
}

/* x[i][k] = i + k / 4, target i % 4 (3: none). */
static void odd_blocks_equal_the_whole(void **state)
{
    (void)state;
    enum { ROWS = 997, COLUMNS = 3 };
    static double x[ROWS][COLUMNS];
    static uint8_t targets[ROWS][COLUMNS];
    lscm_dataset *data = NULL;
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    (void)fprintf(file, "a,b,c,target\n");
    for (int i = 0; i < ROWS; i++) {
        (void)fprintf(file, "%d,%d.25,%d.5,%d\n", i, i, i, i % 4 < 3 ? i % 4 : -1);
    }
    assert_int_equal(fclose(file), 0);
    assert_ok(open_csv(path, NULL, &data));
    static const size_t steps[] = {1, 7, 64, 500, ROWS};
    for (size_t s = 0; s < sizeof steps / sizeof steps[0]; s++) {
        memset(x, 0, sizeof x);
        memset(targets, 2, sizeof targets);
        for (size_t first = 0; first < ROWS; first += steps[s]) {
            size_t count = ROWS - first < steps[s] ? ROWS - first : steps[s];
            assert_ok(dataset_read_raw(data, LSCM_X, first, count, x[first], &why));
            assert_ok(dataset_read_raw(data, LSCM_TARGETS, first, count, targets[first], &why));
        }
        for (size_t i = 0; i < ROWS; i++) {
            for (size_t k = 0; k < COLUMNS; k++) {
                assert_near(x[i][k], (double)i + (double)k / 4, 0);
                assert_int_equal(targets[i][k], i % 4 == k);
            }
        }
    }
    assert_ok(dataset_read_raw(data, LSCM_X, 500, 2, x, &why)); /* back, and forward with a gap */
    assert_near(x[0][0], 500, 0);
    assert_ok(dataset_read_raw(data, LSCM_X, 900, 1, x, &why));
    assert_near(x[0][2], 900.5, 0);
    lscm_dataset_free(data);
}

static void a_file_that_shrinks_is_noticed(void **state)
{
    (void)state;
    lscm_dataset *data = NULL;
    double x[4];
    scratch_write_text(path, "a,b\n1,2\n3,4\n");
    assert_ok(open_csv(path, NULL, &data));
    scratch_write_text(path, "a,b\n1,2\n");
    assert_fails(dataset_read_raw(data, LSCM_X, 0, 2, x, &why), LSCM_READ, "changed while open");
    lscm_dataset_free(data);
}

/* Cells of a variable that hold nothing, or a word for it: entries of x that are missing. */
static void missing_cells_are_missing_numbers(void **state)
{
    (void)state;
    static const char text[] =
        "row,a,b,target\n1,NA,2,\n2,1,,a\n3,nan,N/A,\n4,4,null,b\n5,None,5,\n";
    static const double expected[] = {NAN, 2, 1, NAN, NAN, NAN, 4, NAN, NAN, 5};
    lscm_dataset *data = NULL;
    double x[10];
    scratch_write_text(path, text);
    assert_ok(open_csv(path, "row", &data));
    assert_ok(dataset_read_raw(data, LSCM_X, 0, 5, x, &why));
    for (size_t k = 0; k < 10; k++) {
        assert_true(isnan(expected[k]) ? isnan(x[k]) : x[k] == expected[k]);
    }
    lscm_overview overview = {0};
    assert_ok(lscm_dataset_check(data, &overview, NULL, &why));
    assert_int_equal(overview.missing, 6);
    lscm_dataset_free(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(good_files_are_read),
        cmocka_unit_test(bad_files_get_a_sentence),
        cmocka_unit_test(missing_cells_are_missing_numbers),
        cmocka_unit_test(what_is_no_text_file_is_refused),
        cmocka_unit_test(long_lines_are_read),
        cmocka_unit_test(odd_blocks_equal_the_whole),
        cmocka_unit_test(a_file_that_shrinks_is_noticed),
    };
    return cmocka_run_group_tests(tests, set_up, scratch_remove);
}
