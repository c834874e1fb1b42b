/* Reading .h5ad: the same small matrix dense, by rows and by columns, columns of obs in every
 * encoding, what is observed and what latent, and files that lie about themselves. */
#include "h5ad_testing.h"

static lscm_error why;

static const uint8_t TARGETS[CELLS][GENES] = {{0, 0, 0, 0}, {1, 0, 0, 0}, {1, 0, 0, 0},
                                              {1, 1, 0, 0}, {0, 0, 1, 0}, {0, 0, 0, 1}};

static void assert_x(const lscm_dataset *data, double times)
{
    double x[CELLS * GENES];
    assert_int_equal(lscm_dataset_rows(data), CELLS);
    assert_int_equal(lscm_dataset_features(data), GENES);
    for (size_t step = 1; step <= CELLS; step++) { /* in blocks of any size */
        for (size_t first = 0; first < CELLS; first += step) {
            size_t count = CELLS - first < step ? CELLS - first : step;
            assert_ok(lscm_dataset_read(data, LSCM_X, first, count, x, &why));
            for (size_t i = 0; i < count * GENES; i++) {
                assert_near(x[i], times * X[first + i / GENES][i % GENES], 0);
            }
        }
    }
}

static void assert_targets(const lscm_dataset *data)
{
    double targets[CELLS * GENES];
    assert_int_equal(lscm_dataset_nodes(data), GENES);
    assert_ok(lscm_dataset_read(data, LSCM_TARGETS, 0, CELLS, targets, &why));
    for (size_t i = 0; i < (size_t)CELLS * GENES; i++) {
        assert_near(targets[i], TARGETS[i / GENES][i % GENES], 0);
    }
    for (size_t i = 0; i < GENES; i++) {
        assert_string_equal(lscm_dataset_node_name(data, i), GENE_NAMES[i]);
        assert_string_equal(lscm_dataset_feature_name(data, i), GENE_NAMES[i]);
    }
    assert_false(lscm_dataset_shape(data, LSCM_VALUES).present);
}

static void put_dense(hid_t file, const char *name, hid_t type)
{
    put_numbers(file, name, type, H5T_NATIVE_DOUBLE, X, CELLS, GENES);
}

/* Opens, compares with X and TARGETS, closes. */
static void assert_read(const char *path, const char *dtype)
{
    lscm_dataset *data = NULL;
    assert_ok(lscm_dataset_open(&data, path, NULL, &why));
    assert_string_equal(lscm_dataset_shape(data, LSCM_X).dtype, dtype);
    assert_string_equal(lscm_dataset_format(data), "AnnData");
    assert_x(data, 1);
    assert_targets(data);
    assert_non_null(strstr(lscm_dataset_recipe(data), "perturbation"));
    lscm_dataset_free(data);
}

static void dense_numbers_of_any_type_are_read(void **state)
{
    (void)state;
    const hid_t types[] = {H5T_IEEE_F32LE, H5T_IEEE_F64BE, H5T_STD_I16LE, H5T_STD_I64LE};
    const char *const dtypes[] = {"float32", "float64", "float32", "float64"};
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        hid_t file = begin_file(at("dense.h5ad"), "perturbation");
        put_dense(file, "X", types[i]);
        assert_true(H5Fclose(file) >= 0);
        assert_read(at("dense.h5ad"), dtypes[i]);
    }
}

static void sparse_matrices_are_the_dense_one(void **state)
{
    (void)state;
    const sparse *const kinds[] = {&BY_ROWS, &BY_COLUMNS};
    for (size_t i = 0; i < 2; i++) {
        hid_t file = begin_file(at("sparse.h5ad"), "Perturbation");
        put_sparse(file, "X", kinds[i]);
        assert_true(H5Fclose(file) >= 0);
        lscm_dataset *data = NULL;
        assert_ok(lscm_dataset_open(&data, at("sparse.h5ad"), NULL, &why));
        assert_x(data, 1);
        assert_targets(data);
        lscm_dataset_free(data);
    }
}

static void chunks_that_are_packed_are_read(void **state)
{
    (void)state;
    hsize_t dims[2] = {CELLS, GENES};
    hsize_t chunk[2] = {2, 3};
    hid_t file = begin_file(at("packed.h5ad"), "perturbation");
    hid_t list = H5Pcreate(H5P_DATASET_CREATE);
    hid_t space = H5Screate_simple(2, dims, NULL);
    assert_true(H5Pset_chunk(list, 2, chunk) >= 0 && H5Pset_deflate(list, 4) >= 0);
    hid_t id = H5Dcreate2(file, "X", H5T_IEEE_F32LE, space, H5P_DEFAULT, list, H5P_DEFAULT);
    assert_true(H5Dwrite(id, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, X) >= 0);
    assert_true(H5Dclose(id) >= 0 && H5Sclose(space) >= 0 && H5Pclose(list) >= 0);
    assert_true(H5Fclose(file) >= 0);
    assert_read(at("packed.h5ad"), "float32");
}

static void a_layer_is_read_by_its_name(void **state)
{
    (void)state;
    double twice[CELLS][GENES];
    lscm_dataset *data = NULL;
    lscm_open_options options = {.layer = "twice"};
    for (size_t i = 0; i < (size_t)CELLS * GENES; i++) {
        twice[i / GENES][i % GENES] = 2 * X[i / GENES][i % GENES];
    }
    hid_t file = begin_file(at("layers.h5ad"), "guide");
    hid_t layers = made_group(file, "layers");
    put_numbers(layers, "twice", H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, twice, CELLS, GENES);
    assert_true(H5Gclose(layers) >= 0 && H5Fclose(file) >= 0);
    assert_ok(lscm_dataset_open(&data, at("layers.h5ad"), &options, &why));
    assert_x(data, 2);
    lscm_dataset_free(data);
    assert_fails(lscm_dataset_open(&data, at("layers.h5ad"), NULL, &why), LSCM_MISSING, "--layer");
    assert_non_null(strstr(why.text, "twice"));
    options.layer = "thrice";
    assert_fails(lscm_dataset_open(&data, at("layers.h5ad"), &options, &why), LSCM_USAGE,
                 "no layer 'thrice'; its layers are: twice");
    options.layer = "";
    assert_fails(lscm_dataset_open(&data, at("layers.h5ad"), &options, &why), LSCM_USAGE, "twice");
}

/* ---- Columns of obs */

static const char *const CATEGORIES[] = {"A+B",        "CEBPE",      "CEBPE+ctrl",
                                         "GATA1_ctrl", "KLF1;CEBPE", "never used"};
static const int64_t CODES[CELLS] = {-1, 1, 2, 4, 0, 3}; /* WORDS, with nothing for control */

static void put_categories(hid_t in, const char *codes, const char *categories, hid_t of)
{
    put_numbers(in, codes, H5T_STD_I8LE, H5T_NATIVE_INT64, CODES, CELLS, 0);
    put_texts(of, categories, CATEGORIES, 6);
}

static void categories_are_words(void **state)
{
    (void)state;
    for (int old = 0; old < 2; old++) {
        hid_t file = begin_file(at("categories.h5ad"), NULL);
        hid_t obs = into(file, "obs");
        hid_t group = made_group(obs, old ? "__categories" : "perturbation");
        put_dense(file, "X", H5T_IEEE_F32LE);
        put_categories(old ? obs : group, old ? "perturbation" : "codes",
                       old ? "perturbation" : "categories", group);
        assert_true(H5Gclose(group) >= 0 && H5Gclose(obs) >= 0 && H5Fclose(file) >= 0);
        assert_read(at("categories.h5ad"), "float32");
    }
}

static void texts_of_one_length_are_words(void **state)
{
    (void)state;
    char texts[CELLS][12] = {{0}};
    hid_t type = H5Tcopy(H5T_C_S1);
    hid_t file = begin_file(at("fixed.h5ad"), NULL);
    hid_t obs = into(file, "obs");
    for (size_t i = 0; i < CELLS; i++) {
        memcpy(texts[i], WORDS[i], strlen(WORDS[i]));
    }
    assert_true(H5Tset_size(type, 12) >= 0 && H5Tset_strpad(type, H5T_STR_NULLPAD) >= 0);
    put_numbers(obs, "perturbation", type, type, texts, CELLS, 0);
    put_dense(file, "X", H5T_IEEE_F32LE);
    assert_true(H5Tclose(type) >= 0 && H5Gclose(obs) >= 0 && H5Fclose(file) >= 0);
    assert_read(at("fixed.h5ad"), "float32");
}

static void the_column_is_chosen_or_asked_for(void **state)
{
    (void)state;
    lscm_dataset *data = NULL;
    lscm_open_options options = {.target_column = "what"};
    hid_t file = begin_file(at("what.h5ad"), "what");
    put_dense(file, "X", H5T_IEEE_F32LE);
    assert_true(H5Fclose(file) >= 0);
    assert_fails(lscm_dataset_open(&data, at("what.h5ad"), NULL, &why), LSCM_USAGE,
                 "is it this? --target-column what; its columns are: what");
    assert_ok(lscm_dataset_open(&data, at("what.h5ad"), &options, &why));
    assert_targets(data);
    lscm_dataset_free(data);
    options.target_column = "waht";
    assert_fails(lscm_dataset_open(&data, at("what.h5ad"), &options, &why), LSCM_USAGE,
                 "no column 'waht'");
    options = (lscm_open_options){.x_only = true};
    assert_ok(lscm_dataset_open(&data, at("what.h5ad"), &options, &why));
    assert_x(data, 1);
    lscm_dataset_free(data);
    file = begin_file(at("two.h5ad"), "guide");
    hid_t obs = into(file, "obs");
    put_texts(obs, "condition", WORDS, CELLS);
    put_dense(file, "X", H5T_IEEE_F32LE);
    assert_true(H5Gclose(obs) >= 0 && H5Fclose(file) >= 0);
    assert_fails(lscm_dataset_open(&data, at("two.h5ad"), NULL, &why), LSCM_USAGE,
                 "more than one column of obs");
}

/* ---- Latent variables */

static const char *const DRUGS[CELLS] = {"DMSO", "b", "(+)-a", "b+(+)-a", "NT_3", "b"};
static const char *const DOSES[CELLS] = {"", "0.5", "1e+01", "2+3", "nan", "-4"};
static const double VALUES[CELLS][2] = {{0, 0}, {0.5, 0}, {0, 10}, {2, 3}, {0, 0}, {-4, 0}};

static void make_latent(const char *const *doses)
{
    hid_t file = begin_file(at("latent.h5ad"), NULL);
    hid_t obs = into(file, "obs");
    put_texts(obs, "drug", DRUGS, CELLS);
    put_texts(obs, "dose", doses, CELLS);
    put_sparse(file, "X", &BY_ROWS);
    assert_true(H5Gclose(obs) >= 0 && H5Fclose(file) >= 0);
}

/* Genes and columns that are ignored might as well not be there. */
static void what_is_ignored_is_left_out(void **state)
{
    (void)state;
    enum { LEFT = GENES - 1 };
    double x[CELLS * LEFT];
    lscm_dataset *data = NULL;
    lscm_open_options options = {.ignore = "guide"};
    assert_ok(lscm_dataset_open(&data, at("two.h5ad"), &options, &why)); /* condition is left */
    assert_targets(data);
    lscm_dataset_free(data);
    options.ignore = "guide,KLF1";
    assert_fails(lscm_dataset_open(&data, at("two.h5ad"), &options, &why), LSCM_USAGE,
                 "'KLF1' is to be ignored, but is a target");
    options.ignore = "guide,Q";
    assert_fails(lscm_dataset_open(&data, at("two.h5ad"), &options, &why), LSCM_USAGE,
                 "is named 'Q', to be ignored; the columns are: ");
    make_latent(DOSES);
    options.ignore = "KLF1";
    assert_ok(lscm_dataset_open(&data, at("latent.h5ad"), &options, &why));
    assert_int_equal(lscm_dataset_features(data), LEFT);
    assert_ok(lscm_dataset_read(data, LSCM_X, 0, CELLS, x, &why));
    for (size_t i = 0; i < (size_t)CELLS * LEFT; i++) {
        size_t gene = i % LEFT + (i % LEFT > 0 ? 1 : 0);
        assert_near(x[i], X[i / LEFT][gene], 0);
        assert_string_equal(lscm_dataset_feature_name(data, i % LEFT), GENE_NAMES[gene]);
    }
    lscm_dataset_free(data);
    options.ignore = "KLF1,CEBPE,A+B,GATA1";
    assert_fails(lscm_dataset_open(&data, at("latent.h5ad"), &options, &why), LSCM_USAGE,
                 "no gene is left");
}

static void doses_make_latent_variables(void **state)
{
    (void)state;
    double values[CELLS * 2];
    double targets[CELLS * 2];
    lscm_dataset *data = NULL;
    make_latent(DOSES);
    assert_ok(lscm_dataset_open(&data, at("latent.h5ad"), NULL, &why));
    assert_int_equal(lscm_dataset_nodes(data), 2);
    assert_string_equal(lscm_dataset_node_name(data, 0), "b");
    assert_string_equal(lscm_dataset_node_name(data, 1), "(+)-a");
    assert_string_equal(lscm_dataset_feature_name(data, 2), "A+B");
    assert_x(data, 1);
    assert_ok(lscm_dataset_read(data, LSCM_VALUES, 0, CELLS, values, &why));
    assert_ok(lscm_dataset_read(data, LSCM_TARGETS, 0, CELLS, targets, &why));
    for (size_t i = 0; i < (size_t)CELLS * 2; i++) {
        assert_near(values[i], VALUES[i / 2][i % 2], 0);
        assert_near(targets[i], VALUES[i / 2][i % 2] != 0 ? 1 : 0, 0);
    }
    lscm_dataset_free(data);
}

static void doses_that_are_no_numbers_name_the_row(void **state)
{
    (void)state;
    lscm_dataset *data = NULL;
    const char *const missing[CELLS] = {"", "0.5", "", "2+3", "", "-4"};
    const char *const many[CELLS] = {"", "0.5", "1", "2+3+4", "", "-4"};
    make_latent(missing);
    assert_fails(lscm_dataset_open(&data, at("latent.h5ad"), NULL, &why), LSCM_VALUE, "row 2");
    make_latent(many);
    assert_fails(lscm_dataset_open(&data, at("latent.h5ad"), NULL, &why), LSCM_VALUE, "'2+3+4'");
}

/* A column of obs alone, and one of doses unless that is NULL. */
static void make_obs(const char *name, const char *const *words, const char *doses)
{
    const char *const ones[CELLS] = {"1", "1", "1", "1", "1", "1"};
    hid_t file = begin_file(at("obs.h5ad"), NULL);
    hid_t obs = into(file, "obs");
    put_texts(obs, name, words, CELLS);
    if (doses != NULL) {
        put_texts(obs, doses, ones, CELLS);
    }
    put_dense(file, "X", H5T_IEEE_F32LE);
    assert_true(H5Gclose(obs) >= 0 && H5Fclose(file) >= 0);
}

static void what_could_be_meant_is_asked(void **state)
{
    (void)state;
    static const struct {
        const char *column, *doses, *words[CELLS], *part;
        lscm_status status;
    } cases[] = {
        {"sgRNA",
         NULL,
         {"p", "q", "r", "p", "q", "r"},
         "is it this? --target-column sgRNA; its",
         LSCM_USAGE},
        {"product",
         NULL,
         {"Vehicle", "q", "r", "p", "q", "r"},
         "is it this? --target-column product; its",
         LSCM_USAGE},
        {"drug",
         "dose_uM",
         {"p", "q", "r", "p", "q", "r"},
         "(doses): --value-column dose_uM;",
         LSCM_USAGE},
        /* latent by their case alone, or two of what is one */
        {"drug",
         "dose",
         {"klf1", "q", "r", "p", "q", "r"},
         "'klf1' in obs column 'drug' is written 'KLF1' in var",
         LSCM_VALUE},
        {"drug",
         "dose",
         {"JQ1", "q", "r", "jq1", "q", "r"},
         "'JQ1' in obs column 'drug' is written 'jq1' in other rows",
         LSCM_VALUE},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        lscm_dataset *data = NULL;
        make_obs(cases[i].column, cases[i].words, cases[i].doses);
        assert_fails(lscm_dataset_open(&data, at("obs.h5ad"), NULL, &why), cases[i].status,
                     cases[i].part);
    }
    const char *const numbered[CELLS] = {"NegCtrl0", "CEBPE", "control_2", "KLF1", "DMSO1", "NT"};
    lscm_dataset *data = NULL;
    make_obs("gene", numbered, NULL);
    assert_ok(lscm_dataset_open(&data, at("obs.h5ad"), NULL, &why));
    double targets[CELLS * GENES];
    assert_ok(lscm_dataset_read(data, LSCM_TARGETS, 0, CELLS, targets, &why));
    double sum = 0;
    for (size_t i = 0; i < (size_t)CELLS * GENES; i++) {
        sum += targets[i];
    }
    assert_near(sum, 2, 0);
    lscm_dataset_free(data);
}

static void targets_that_are_no_genes_are_not_guessed(void **state)
{
    (void)state;
    lscm_dataset *data = NULL;
    const char *const mixed[CELLS] = {"saline", "CEBPE", "CEBPE", "KLF1", "A+B", "GATA1"};
    lscm_open_options options = {.control = "none,SALINE"};
    hid_t file = begin_file(at("mixed.h5ad"), NULL);
    hid_t obs = into(file, "obs");
    put_texts(obs, "target", mixed, CELLS);
    put_dense(file, "X", H5T_IEEE_F32LE);
    assert_true(H5Gclose(obs) >= 0 && H5Fclose(file) >= 0);
    assert_fails(lscm_dataset_open(&data, at("mixed.h5ad"), NULL, &why), LSCM_USAGE,
                 "if it says that nothing was set: --control 'saline'");
    assert_ok(lscm_dataset_open(&data, at("mixed.h5ad"), &options, &why));
    lscm_dataset_free(data);
    file = begin_file(at("drugs.h5ad"), NULL);
    obs = into(file, "obs");
    put_texts(obs, "drug", DRUGS, CELLS);
    put_dense(file, "X", H5T_IEEE_F32LE);
    assert_true(H5Gclose(obs) >= 0 && H5Fclose(file) >= 0);
    assert_fails(lscm_dataset_open(&data, at("drugs.h5ad"), NULL, &why), LSCM_USAGE,
                 "--value-column NAME");
}

/* Of very many genes those that are targets are the variables, in their order. */
static void of_many_genes_the_targets_are_kept(void **state)
{
    (void)state;
    enum { MANY = 150 };
    static double x[CELLS][MANY];
    static char names[MANY][8];
    const char *list[MANY];
    const char *const words[CELLS] = {"ctrl", "g7", "g140", "g7", "g140", "ctrl"};
    double kept[CELLS * 2];
    lscm_dataset *data = NULL;
    for (size_t i = 0; i < MANY; i++) {
        (void)snprintf(names[i], sizeof names[i], "g%zu", i);
        list[i] = names[i];
        for (size_t row = 0; row < CELLS; row++) {
            x[row][i] = (double)(row * MANY + i);
        }
    }
    hid_t file = H5Fcreate(at("many.h5ad"), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    hid_t obs = made_group(file, "obs");
    hid_t var = made_group(file, "var");
    put_texts(obs, "target", words, CELLS);
    put_texts(var, "_index", list, MANY);
    put_numbers(file, "X", H5T_IEEE_F32LE, H5T_NATIVE_DOUBLE, x, CELLS, MANY);
    assert_true(H5Gclose(obs) >= 0 && H5Gclose(var) >= 0 && H5Fclose(file) >= 0);
    assert_ok(lscm_dataset_open(&data, at("many.h5ad"), NULL, &why));
    assert_int_equal(lscm_dataset_nodes(data), 2);
    assert_int_equal(lscm_dataset_features(data), 2);
    assert_string_equal(lscm_dataset_node_name(data, 1), "g140");
    assert_ok(lscm_dataset_read(data, LSCM_X, 0, CELLS, kept, &why));
    for (size_t row = 0; row < CELLS; row++) {
        assert_near(kept[2 * row], x[row][7], 0);
        assert_near(kept[2 * row + 1], x[row][140], 0);
    }
    lscm_dataset_free(data);
}

/* ---- Files that lie */

/* Opening, or else a pass over the rows, says `part`. */
static void assert_bad(const char *path, const char *part)
{
    lscm_dataset *data = NULL;
    lscm_overview about = {0};
    lscm_status status = lscm_dataset_open(&data, path, NULL, &why);
    if (status == LSCM_OK) {
        status = lscm_dataset_check(data, &about, NULL, &why);
    }
    lscm_dataset_free(data);
    assert_int_not_equal(status, LSCM_OK);
    if (strstr(why.text, part) == NULL || strstr(why.text, path) == NULL) {
        print_error("'%s' is not in '%s'\n", part, why.text);
        fail();
    }
}

static void assert_bad_sparse(sparse s, const char *part)
{
    hid_t file = begin_file(at("bad.h5ad"), "target");
    put_sparse(file, "X", &s);
    assert_true(H5Fclose(file) >= 0);
    assert_bad(at("bad.h5ad"), part);
}

static void sparse_matrices_that_lie_get_a_sentence(void **state)
{
    (void)state;
    const sparse *const kinds[] = {&BY_ROWS, &BY_COLUMNS};
    for (size_t i = 0; i < 2; i++) {
        int64_t indices[ENTRIES];
        int64_t indptr[CELLS + 1];
        sparse s = *kinds[i];
        s.encoding = "coo_matrix";
        assert_bad_sparse(s, "neither csr_matrix nor csc_matrix");
        s = *kinds[i];
        s.lines--;
        assert_bad_sparse(s, "'indptr' needs");
        s = *kinds[i];
        s.entries--;
        assert_bad_sparse(s, "'indptr' of 'X' must begin with 0");
        s = *kinds[i];
        s.rows = -1;
        assert_bad_sparse(s, "does not say its shape");
        s = *kinds[i];
        s.indices = memcpy(indices, s.indices, sizeof indices);
        indices[4] = -1;
        assert_bad_sparse(s, "entry 4 (0-based) of the 'indices' of 'X' is -1");
        indices[4] = 6;
        assert_bad_sparse(s, "is 6; it must be from 0 to");
        s = *kinds[i];
        s.indptr = memcpy(indptr, s.indptr, (size_t)(s.lines + 1) * sizeof *indptr);
        indptr[2] = 1;
        assert_bad_sparse(s, "never fall");
        indptr[2] = INT32_MIN;
        assert_bad_sparse(s, "never fall");
        indptr[2] = INT32_MAX;
        assert_bad_sparse(s, "never fall");
        s = *kinds[i];
        s.rows = i == 1 ? 3 : s.rows;
        s.cols = i == 0 ? 3 : s.cols;
        assert_bad_sparse(s, i == 0 ? "has 4 entries, but there are 3"
                                    : "has 6 entries, but there are 3 rows");
    }
}

static void what_is_missing_is_named(void **state)
{
    (void)state;
    static const struct {
        const char *gone, *part;
    } BAD[] = {{"X", "there is no X"},
               {"obs", "'obs' is missing"},
               {"var", "'var' is missing"},
               {"var/_index", "'var/_index' is neither"},
               {"X/data", "'X/data' is missing"},
               {"X/indices", "'X/indices' is missing"},
               {"X/indptr", "'X/indptr' is missing"}};
    for (size_t i = 0; i < sizeof BAD / sizeof BAD[0]; i++) {
        hid_t file = begin_file(at("gone.h5ad"), "target");
        put_sparse(file, "X", &BY_ROWS);
        assert_true(H5Ldelete(file, BAD[i].gone, H5P_DEFAULT) >= 0);
        assert_true(H5Fclose(file) >= 0);
        assert_bad(at("gone.h5ad"), BAD[i].part);
    }
}

static void columns_that_lie_get_a_sentence(void **state)
{
    (void)state;
    const int64_t beyond[CELLS] = {0, 1, 2, 99, 0, 0};
    const char *const broken[CELLS] = {"ctrl", "\xff\xfe", "ctrl", "ctrl", "ctrl", "ctrl"};
    for (int kind = 0; kind < 4; kind++) {
        hid_t file = begin_file(at("column.h5ad"), NULL);
        hid_t obs = into(file, "obs");
        put_dense(file, "X", H5T_IEEE_F32LE);
        if (kind == 0) {
            hid_t group = made_group(obs, "target");
            put_integers(group, "codes", beyond, CELLS);
            put_texts(group, "categories", CATEGORIES, 6);
            assert_true(H5Gclose(group) >= 0);
        } else if (kind == 1) {
            put_texts(obs, "target", WORDS, CELLS - 1);
        } else if (kind == 2) {
            put_texts(obs, "target", broken, CELLS);
        } else {
            put_dense(obs, "target", H5T_IEEE_F32LE);
        }
        assert_true(H5Gclose(obs) >= 0 && H5Fclose(file) >= 0);
        assert_bad(at("column.h5ad"), kind == 0   ? "is 99, but there are 6 categories"
                                      : kind == 1 ? "has 5 entries, but there are 6 rows"
                                      : kind == 2 ? "is not UTF-8"
                                                  : "neither text nor numbers");
    }
}

/* Cut at any place, a file is refused. */
static void files_cut_short_are_refused(void **state)
{
    (void)state;
    char path[512];
    (void)snprintf(path, sizeof path, "%s", at("cut.h5ad"));
    hid_t id = begin_file(path, "target");
    put_sparse(id, "X", &BY_ROWS);
    assert_true(H5Fclose(id) >= 0);
    FILE *file = fopen(path, "rb");
    static char bytes[1 << 16];
    size_t size = fread(bytes, 1, sizeof bytes, file);
    assert_true(size > 1000 && size < sizeof bytes);
    assert_int_equal(fclose(file), 0);
    for (size_t part = 1; part < 16; part++) {
        file = fopen(path, "wb");
        assert_int_equal(fwrite(bytes, 1, part * size / 16, file), part * size / 16);
        assert_int_equal(fclose(file), 0);
        assert_bad(path, "cut short");
    }
    file = fopen(path, "wb");
    assert_true(fputs("this is a note", file) >= 0);
    assert_int_equal(fclose(file), 0);
    assert_bad(path, "not an HDF5 file");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(dense_numbers_of_any_type_are_read),
        cmocka_unit_test(sparse_matrices_are_the_dense_one),
        cmocka_unit_test(chunks_that_are_packed_are_read),
        cmocka_unit_test(a_layer_is_read_by_its_name),
        cmocka_unit_test(categories_are_words),
        cmocka_unit_test(texts_of_one_length_are_words),
        cmocka_unit_test(the_column_is_chosen_or_asked_for),
        cmocka_unit_test(what_is_ignored_is_left_out),
        cmocka_unit_test(doses_make_latent_variables),
        cmocka_unit_test(doses_that_are_no_numbers_name_the_row),
        cmocka_unit_test(what_could_be_meant_is_asked),
        cmocka_unit_test(targets_that_are_no_genes_are_not_guessed),
        cmocka_unit_test(of_many_genes_the_targets_are_kept),
        cmocka_unit_test(sparse_matrices_that_lie_get_a_sentence),
        cmocka_unit_test(what_is_missing_is_named),
        cmocka_unit_test(columns_that_lie_get_a_sentence),
        cmocka_unit_test(files_cut_short_are_refused),
    };
    return cmocka_run_group_tests(tests, make_home, remove_home);
}
