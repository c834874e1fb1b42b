/* Tables as other programs write them: other separators, decimal commas, row names, gzip. */
#include "csv_testing.h"

#include <zlib.h>

static char path[300];

static int set_up(void **state)
{
    int made = scratch_make(state);
    (void)scratch_path(path, "data.csv");
    return made;
}

/* Every one of them says this. */
static void check_content(const lscm_dataset *data, const char *note)
{
    double x[6];
    uint8_t targets[6];
    assert_int_equal(lscm_dataset_rows(data), 3);
    assert_int_equal(lscm_dataset_nodes(data), 2);
    assert_string_equal(lscm_dataset_node_name(data, 0), "a");
    assert_string_equal(lscm_dataset_node_name(data, 1), "b c");
    assert_ok(dataset_read_raw(data, LSCM_X, 0, 3, x, &why));
    assert_ok(dataset_read_raw(data, LSCM_TARGETS, 0, 3, targets, &why));
    assert_memory_equal(x, ((double[]){1.5, 2, -3.25, 4, 1e-3, 6}), sizeof x);
    assert_memory_equal(targets, ((uint8_t[]){0, 0, 1, 0, 1, 1}), sizeof targets);
    if (note == NULL) {
        assert_null(lscm_dataset_note(data));
    } else {
        assert_non_null(strstr(lscm_dataset_note(data), note));
    }
}

static void others_tables_are_read(void **state)
{
    (void)state;
    static const struct {
        const char *text, *note;
    } cases[] = {
        {"a,b c,target\n1.5,2,\n-3.25,4,a\n1e-3,6,0;1\n", NULL},
        {"a\tb c\ttarget\n1.5\t2\t\n-3.25\t4\ta\n1e-3\t6\t0;1\n", NULL},
        {"\xEF\xBB\xBF"
         "a;b c;target\r\n1.5;2;\r\n-3.25;4;a\r\n1e-3;6;\"a;b c\"\r\n",
         NULL},
        {"a;b c;target\n1,5;2;\n-3,25;4;a\n1e-3;6;\"0;1\"\n", "decimal commas"},
        {"a;b c;target\n1,5;2;\n-3,250;4;a\n0,001;6;\"0;1\"\n", "decimal commas"},
        /* R's write.csv, pandas' to_csv, and what pandas makes of that the second time */
        {"\"\",\"a\",\"b c\",\"target\"\n\"1\",1.5,2,\"none\"\n\"2\",-3.25,4,\"a\"\n\"3\",1e-3,6,"
         "\"a;b c\"\n",
         "names of rows"},
        {",a,b c,target\n0,1.5,2,\n1,-3.25,4,0\n2,0.001,6,0;1\n", "names of rows"},
        {"Unnamed: 0,a,b c,target\n0,1.5,2,\n1,-3.25,4,0\n2,0.001,6,0;1\n", "names of rows"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        lscm_dataset *data = NULL;
        scratch_write_text(path, cases[i].text);
        assert_ok(open_csv(path, NULL, &data));
        check_content(data, cases[i].note);
        lscm_dataset_free(data);
        gzFile packed = gzopen(path, "wb");
        assert_non_null(packed);
        assert_true(gzputs(packed, cases[i].text) > 0);
        assert_int_equal(gzclose(packed), Z_OK);
        assert_ok(open_csv(path, NULL, &data));
        check_content(data, cases[i].note);
        check_content(data, cases[i].note); /* from the top again */
        lscm_dataset_free(data);
    }
}

/* The one that line 1 has most of, outside quotes. */
static void line_1_says_the_separator(void **state)
{
    (void)state;
    static const struct {
        const char *text, *second;
    } cases[] = {
        {"a;b,c,d\n1,2,3\n4,5,6\n", "c"},         {"x,y;b;c\n1;2;3\n4;5;6\n", "b"},
        {"\"p,q,r\";b\n1;2\n4;5\n", "b"},         {"a;b,c\n1,2\n4,5\n", "c"},
        {"a\tb;c\td\n1\t2\t3\n4\t5\t6\n", "b;c"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        lscm_dataset *data = NULL;
        scratch_write_text(path, cases[i].text);
        assert_ok(open_csv(path, NULL, &data));
        assert_string_equal(lscm_dataset_feature_name(data, 1), cases[i].second);
        lscm_dataset_free(data);
    }
}

static void what_is_ambiguous_gets_a_sentence(void **state)
{
    (void)state;
    static const struct {
        const char *text, *part;
    } cases[] = {
        {"a;b\n1,234;2\n3;4\n", "line 2 could be decimals or thousands"},
        {"a;b\n1,5;2\n3;4.5\n", "line 2 writes a number with a comma and line 3 one with a point"},
        {"a;b\n1.234,5;2\n3;4\n", "column 'a' holds '1.234,5', not a number"},
        {"a|b\n1|2\n3|4\n", "line 1 names one column only, 'a|b'; separate cells by commas"},
        {"a\tb\n1,2,3\t2\n3\t4\n", "column 'a' holds '1,2,3', not a number"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        lscm_dataset *data = NULL;
        scratch_write_text(path, cases[i].text);
        lscm_status status = i < 2 || i == 3 ? LSCM_FORMAT : LSCM_VALUE;
        assert_fails(open_csv(path, NULL, &data), status, cases[i].part);
        lscm_dataset_free(data);
    }
}

static void a_damaged_archive_is_named(void **state)
{
    (void)state;
    lscm_dataset *data = NULL;
    char bytes[4096];
    gzFile packed = gzopen(path, "wb");
    assert_non_null(packed);
    assert_true(gzputs(packed, "a,b\n") > 0);
    for (int i = 0; i < 2000; i++) {
        assert_true(gzprintf(packed, "%d,%d\n", i * i % 997, i * 7919 % 1009) > 0);
    }
    assert_int_equal(gzclose(packed), Z_OK);
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    size_t length = fread(bytes, 1, sizeof bytes, file);
    assert_int_equal(fclose(file), 0);
    scratch_write(path, bytes, length / 2);
    assert_fails(open_csv(path, NULL, &data), LSCM_FORMAT, "cut short or damaged");
    lscm_dataset_free(data);
    memset(bytes + length / 4, 0x55, 64);
    scratch_write(path, bytes, length);
    assert_fails(open_csv(path, NULL, &data), LSCM_FORMAT, "cut short or damaged");
    lscm_dataset_free(data);
}

static void words_for_control(void **state)
{
    (void)state;
    static const char *const usual[] = {
        "",     "none",     "Control", "CTRL",    "NT",       "nt_12",     "non-targeting",
        "DMSO", "dmso-3",   "Vehicle", "mock 2",  "WT",       "negctrl_1", "NegCtrl0",
        "NTC",  "scramble", "SCR",     "Placebo", "baseline", "empty"};
    static const char *const others[] = {"raf", "WT1", "NTRK1", "controls", "12", "_12", "NT_"};
    for (size_t i = 0; i < sizeof usual / sizeof usual[0]; i++) {
        assert_true(lscm_is_control(usual[i], NULL));
    }
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        assert_false(lscm_is_control(others[i], NULL));
    }
    assert_true(lscm_is_control("Water", "scramble, water"));
    assert_true(lscm_is_control("scramble-7", "scramble, water"));
    assert_false(lscm_is_control("DMSO", "scramble, water"));
    assert_true(lscm_is_control("", "water"));
}

/* A table that ends early, packed or not: told wherever it is cut, but where a row or its last cell
 * happens to be whole without what is missing. */
static void a_table_cut_short_is_told(void **state)
{
    (void)state;
    static const char text[] = "a,b,target\n1,2,\n3,4,a\n1.5,-2.5,b\n";
    static const char last[] = "1.5,-2.5,b\n";
    size_t length = sizeof text - 1;
    size_t whole = length - (sizeof last - 1);
    char bytes[256];
    lscm_dataset *data = NULL;
    for (size_t cut = whole + 1; cut + 1 < length; cut++) {
        scratch_write(path, text, cut);
        assert_true(open_csv(path, NULL, &data) != LSCM_OK);
        assert_non_null(strstr(why.text, "cut short?"));
        lscm_dataset_free(data);
    }
    gzFile packed = gzopen(path, "wb");
    assert_non_null(packed);
    assert_true(gzputs(packed, text) > 0 && gzclose(packed) == Z_OK);
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    size_t size = fread(bytes, 1, sizeof bytes, file);
    assert_true(size > 0 && size < sizeof bytes && fclose(file) == 0);
    for (size_t cut = 2; cut < size; cut++) { /* its mark is of two bytes */
        scratch_write(path, bytes, cut);
        assert_fails(open_csv(path, NULL, &data), LSCM_FORMAT, "cut short or damaged");
        lscm_dataset_free(data);
    }
    scratch_write(path, bytes, size);
    assert_ok(open_csv(path, NULL, &data));
    assert_int_equal(lscm_dataset_rows(data), 3);
    lscm_dataset_free(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(others_tables_are_read),
        cmocka_unit_test(line_1_says_the_separator),
        cmocka_unit_test(what_is_ambiguous_gets_a_sentence),
        cmocka_unit_test(a_damaged_archive_is_named),
        cmocka_unit_test(words_for_control),
        cmocka_unit_test(a_table_cut_short_is_told),
    };
    return cmocka_run_group_tests(tests, set_up, scratch_remove);
}
