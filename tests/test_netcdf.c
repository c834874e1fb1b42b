/* The native format: everything comes back as it went in, what others write is read, and what is
 * damaged is refused. Files are looked at through the netCDF library itself as well. */
#include "made.h"

#include "data/formats.h"

#include "testing.h"

#include <dirent.h>
#include <netcdf.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

enum { N = 11, NODES = 3 };

static char home[] = "/tmp/lscm-netcdf-XXXXXX";

static const char *at(const char *name)
{
    static char paths[4][512];
    static int next;
    next = (next + 1) % 4;
    (void)snprintf(paths[next], sizeof paths[next], "%s/%s", home, name);
    return paths[next];
}

static int make_home(void **state)
{
    (void)state;
    memcpy(home + strlen(home) - 6, "XXXXXX", 6);
    return mkdtemp(home) != NULL ? 0 : -1;
}

static int remove_home(void **state)
{
    char command[64];
    (void)state;
    (void)snprintf(command, sizeof command, "rm -rf '%s'", home);
    return system(command); /* NOLINT(cert-env33-c): a fixed path of our own */
}

static int entries(void)
{
    int count = -2;
    DIR *dir = opendir(home);
    assert_non_null(dir);
    while (readdir(dir) != NULL) {
        count++;
    }
    (void)closedir(dir);
    return count;
}

/* Bytes that differ everywhere, yet are finite numbers and 0/1 where they must be. */
static void scatter(dtype type, void *raw, size_t n, unsigned salt)
{
    unsigned char *bytes = raw;
    size_t size = dtype_size(type);
    for (size_t i = 0; i < n * size; i++) {
        bool top = i % size == size - 1;
        bytes[i] = (unsigned char)(i * 37 + i / 251 + salt);
        if (type == DTYPE_BOOL) {
            bytes[i] &= 1U;
        } else if (top && type >= DTYPE_FLOAT16) {
            bytes[i] &= 0xbfU; /* an exponent that is not all ones */
        }
    }
}

static lscm_dataset *full(dtype type)
{
    lscm_dataset *data = made_new();
    scatter(type, made_field(data, LSCM_X, type, N, 4, 0, 0), (size_t)N * 4, 1);
    uint8_t *targets = made_field(data, LSCM_TARGETS, DTYPE_BOOL, N, NODES, 0, 0);
    targets[4] = targets[8] = 1;
    scatter(type, made_field(data, LSCM_VALUES, type, N, NODES, 0, 0), (size_t)N * NODES, 2);
    scatter(type, made_field(data, LSCM_Z, type, N, NODES, 0, 0), (size_t)N * NODES, 3);
    float *w = made_field(data, LSCM_W, DTYPE_FLOAT32, NODES, NODES, 0, 0);
    w[2 * NODES + 0] = 0.1F;
    uint16_t *sigma = made_field(data, LSCM_SIGMA, DTYPE_FLOAT16, NODES, 0, 0, 0);
    sigma[0] = sigma[1] = sigma[2] = 0x3c01;
    int8_t *order = made_field(data, LSCM_ORDER, DTYPE_INT8, NODES, 0, 0, 0);
    order[0] = 2;
    order[1] = 0;
    order[2] = 1;
    return data;
}

static void assert_same_field(const lscm_dataset *a, const lscm_dataset *b, lscm_field field)
{
    lscm_error why;
    const array_shape *left = &a->shape[field];
    const array_shape *right = &b->shape[field];
    assert_int_equal(left->present, right->present);
    if (!left->present) {
        return;
    }
    assert_string_equal(dtype_name(left->type), dtype_name(right->type));
    assert_int_equal(left->ndim, right->ndim);
    assert_memory_equal(left->dims, right->dims, sizeof left->dims);
    size_t bytes = shape_bytes(left);
    void *raw = malloc(2 * bytes);
    assert_non_null(raw);
    assert_ok(dataset_read_raw(a, field, 0, left->dims[0], raw, &why));
    assert_ok(dataset_read_raw(b, field, 0, left->dims[0], (char *)raw + bytes, &why));
    assert_memory_equal(raw, (char *)raw + bytes, bytes);
    /* and one row in the middle */
    size_t row = shape_row_bytes(left);
    assert_ok(dataset_read_raw(b, field, left->dims[0] / 2, 1, (char *)raw + bytes, &why));
    assert_memory_equal((char *)raw + left->dims[0] / 2 * row, (char *)raw + bytes, row);
    free(raw);
}

static void assert_same(const lscm_dataset *a, const lscm_dataset *b)
{
    for (int field = 0; field < LSCM_FIELDS; field++) {
        assert_same_field(a, b, (lscm_field)field);
    }
    assert_int_equal(lscm_dataset_rows(a), lscm_dataset_rows(b));
    assert_int_equal(lscm_dataset_nodes(a), lscm_dataset_nodes(b));
}

static void every_type_comes_back(void **state)
{
    (void)state;
    lscm_error why;
    for (int type = 0; type < DTYPE_COUNT; type++) {
        lscm_dataset *data = full((dtype)type);
        lscm_dataset *again = NULL;
        assert_ok(lscm_dataset_save(data, at("a.nc"), true, NULL, &why));
        assert_ok(lscm_dataset_open(&again, at("a.nc"), NULL, &why));
        assert_string_equal(lscm_dataset_format(again), "netCDF-4");
        assert_same(data, again);
        assert_null(lscm_dataset_recipe(again));
        assert_null(lscm_dataset_node_name(again, 0));
        lscm_dataset_free(data);
        lscm_dataset_free(again);
    }
    assert_int_equal(entries(), 1);
}

static void pictures_come_back(void **state)
{
    (void)state;
    lscm_error why;
    for (size_t channels = 0; channels <= 3; channels += 3) {
        lscm_dataset *data = made_new();
        lscm_dataset *again = NULL;
        size_t count = (size_t)N * 5 * 6 * (channels > 0 ? channels : 1);
        uint8_t *x = made_field(data, LSCM_X, DTYPE_UINT8, N, 5, 6, channels);
        scatter(DTYPE_UINT8, x, count, 9);
        made_field(data, LSCM_TARGETS, DTYPE_UINT8, N, NODES, 0, 0);
        assert_ok(lscm_dataset_save(data, at("p.nc4"), true, NULL, &why));
        assert_ok(lscm_dataset_open(&again, at("p.nc4"), NULL, &why));
        assert_same(data, again);
        lscm_dataset_free(data);
        lscm_dataset_free(again);
    }
}

/* More than one block, in halves, and NaN where no intervention acted. */
static void long_arrays_stream(void **state)
{
    (void)state;
    lscm_error why;
    enum { ROWS = 100000, COLS = 7 };
    lscm_dataset *data = made_new();
    lscm_dataset *again = NULL;
    lscm_dataset *third = NULL;
    uint16_t *x = made_field(data, LSCM_X, DTYPE_FLOAT16, ROWS, COLS, 0, 0);
    scatter(DTYPE_FLOAT16, x, (size_t)ROWS * COLS, 4);
    made_field(data, LSCM_TARGETS, DTYPE_UINT8, ROWS, NODES, 0, 0);
    float *values = made_field(data, LSCM_VALUES, DTYPE_FLOAT32, ROWS, NODES, 0, 0);
    for (size_t i = 0; i < (size_t)ROWS * NODES; i++) {
        values[i] = NAN;
    }
    assert_ok(lscm_dataset_save(data, at("a.nc"), false, NULL, &why));
    assert_ok(lscm_dataset_open(&again, at("a.nc"), NULL, &why));
    assert_same(data, again);
    assert_ok(lscm_dataset_save(again, at("b.nc"), false, NULL, &why)); /* from file to file */
    assert_ok(lscm_dataset_open(&third, at("b.nc"), NULL, &why));
    assert_same(data, third);
    lscm_dataset_free(data);
    lscm_dataset_free(again);
    lscm_dataset_free(third);
}

static void names_and_recipe_come_back(void **state)
{
    (void)state;
    lscm_error why;
    static const char recipe[] =
        "{\"preset\":\"paper-linear\",\"seed\":9007199254740991,"
        "\"degree\":1.0,\"noise\":0.10000000000000001,\"paired\":false,\"big\":true,"
        "\"empty\":\"\",\"text\":\"12\",\"umlaut\":\"\xc3\xbc\","
        "\"list\":[1,2.5],\"none\":null,\"a\":-1}";
    lscm_dataset *data = full(DTYPE_FLOAT64);
    lscm_dataset *again = NULL;
    data->node_names = made_names("raf,mek \xce\xb2,erk", NODES);
    data->feature_names = made_names("p,q,r,s", 4);
    data->recipe = strdup(recipe);
    assert_ok(lscm_dataset_save(data, at("a.nc"), false, NULL, &why));
    assert_ok(lscm_dataset_open(&again, at("a.nc"), NULL, &why));
    assert_string_equal(lscm_dataset_node_name(again, 1), "mek \xce\xb2");
    assert_string_equal(lscm_dataset_feature_name(again, 3), "s");
    assert_string_equal(lscm_dataset_recipe(again), recipe);
    lscm_dataset_free(again);
    lscm_open_options options = {.names = " a,b ,c"};
    assert_ok(lscm_dataset_open(&again, at("a.nc"), &options, &why));
    assert_string_equal(lscm_dataset_node_name(again, 1), "b");
    lscm_dataset_free(again);
    options.names = "a,b";
    assert_fails(lscm_dataset_open(&again, at("a.nc"), &options, &why), LSCM_USAGE,
                 "2 names are given for 3 nodes");
    options.names = "a,b,a";
    assert_fails(lscm_dataset_open(&again, at("a.nc"), &options, &why), LSCM_VALUE,
                 "two nodes are named 'a'");
    free(data->recipe);
    data->recipe = strdup("[1]");
    assert_fails(lscm_dataset_save(data, at("b.nc"), false, NULL, &why), LSCM_FORMAT,
                 "not a JSON object");
    free(data->recipe);
    data->recipe = strdup("{\"a/b\":1}");
    assert_fails(lscm_dataset_save(data, at("b.nc"), false, NULL, &why), LSCM_WRITE, "recipe");
    assert_int_equal(entries(), 1);
    lscm_dataset_free(data);
}

/* As ncdump and xarray see it: dimensions, groups, attributes. */
static void the_layout_is_as_documented(void **state)
{
    (void)state;
    lscm_error why;
    int file = 0;
    int truth = 0;
    int id = 0;
    int dims[2];
    int version = 0;
    char name[NC_MAX_NAME + 1] = "";
    char text[64] = "";
    nc_type type = NC_NAT;
    lscm_dataset *data = full(DTYPE_FLOAT32);
    assert_ok(lscm_dataset_save(data, at("a.nc"), false, NULL, &why));
    assert_int_equal(nc_open(at("a.nc"), NC_NOWRITE, &file), NC_NOERR);
    assert_int_equal(nc_get_att_int(file, NC_GLOBAL, "format_version", &version), NC_NOERR);
    assert_int_equal(version, 1);
    assert_int_equal(nc_inq_varid(file, "x", &id), NC_NOERR);
    assert_int_equal(nc_inq_vardimid(file, id, dims), NC_NOERR);
    assert_int_equal(nc_inq_dimname(file, dims[0], name), NC_NOERR);
    assert_string_equal(name, "sample");
    assert_int_equal(nc_inq_dimname(file, dims[1], name), NC_NOERR);
    assert_string_equal(name, "feature");
    assert_int_equal(nc_inq_varid(file, "targets", &id), NC_NOERR);
    assert_int_equal(nc_inq_vartype(file, id, &type), NC_NOERR);
    assert_int_equal(type, NC_UBYTE);
    assert_int_equal(nc_get_att_text(file, id, "dtype", text), NC_NOERR);
    assert_string_equal(text, "bool");
    assert_int_equal(nc_inq_varid(file, "w", &id), NC_ENOTVAR);
    assert_int_equal(nc_inq_grp_ncid(file, "truth", &truth), NC_NOERR);
    assert_int_equal(nc_inq_varid(truth, "w", &id), NC_NOERR);
    assert_int_equal(nc_inq_vardimid(truth, id, dims), NC_NOERR);
    assert_int_equal(nc_inq_dimname(truth, dims[0], name), NC_NOERR);
    assert_string_equal(name, "parent");
    assert_int_not_equal(dims[0], dims[1]); /* xarray refuses a dimension twice */
    assert_int_equal(nc_close(file), NC_NOERR);
    lscm_dataset_free(data);
}

static void the_truth_alone_is_kept(void **state)
{
    (void)state;
    lscm_error why;
    lscm_dataset *data = made_new();
    lscm_dataset *again = NULL;
    lscm_open_options options = {.truth_only = true};
    double *w = made_field(data, LSCM_W, DTYPE_FLOAT64, NODES, NODES, 0, 0);
    w[1] = 0.3;
    assert_ok(lscm_dataset_save(data, at("w.nc"), false, NULL, &why));
    assert_fails(lscm_dataset_open(&again, at("w.nc"), NULL, &why), LSCM_MISSING, "'x' is missing");
    assert_null(again);
    assert_ok(lscm_dataset_open(&again, at("w.nc"), &options, &why));
    assert_same(data, again);
    lscm_dataset_free(data);
    lscm_dataset_free(again);
}

/* ---- Files of others ---- */

typedef struct foreign {
    int file, sample, gene, tf;
    int x, targets;
} foreign;

#define NC_OK(call) assert_int_equal((call), NC_NOERR)

/* Other dimension names, an unlimited one, small chunks, the truth in the root. */
static foreign foreign_file(const char *name, nc_type x_type, nc_type targets_type)
{
    foreign f = {0};
    const size_t chunk[2] = {3, 2};
    NC_OK(nc_create(at(name), NC_NETCDF4, &f.file));
    NC_OK(nc_def_dim(f.file, "obs", NC_UNLIMITED, &f.sample));
    NC_OK(nc_def_dim(f.file, "gene", 4, &f.gene));
    NC_OK(nc_def_dim(f.file, "tf", NODES, &f.tf));
    NC_OK(nc_def_var(f.file, "x", x_type, 2, (int[2]){f.sample, f.gene}, &f.x));
    NC_OK(nc_def_var_chunking(f.file, f.x, NC_CHUNKED, chunk));
    NC_OK(nc_def_var(f.file, "targets", targets_type, 2, (int[2]){f.sample, f.tf}, &f.targets));
    return f;
}

static void files_of_others_are_read(void **state)
{
    (void)state;
    lscm_error why;
    lscm_dataset *data = NULL;
    const size_t start[2] = {0};
    const size_t size[2] = {N, 4};
    const size_t masks[2] = {N, NODES};
    float x[N * 4];
    int64_t targets[N * NODES] = {1, 0, 0, 0, 1, 1};
    double out[N * 4];
    const double w[NODES * NODES] = {0, 1, 0, 0, 0, 1};
    const char *names[NODES] = {"raf", "mek", "erk"};
    int id = 0;
    foreign f = foreign_file("f.nc", NC_FLOAT, NC_INT64);
    int square[2] = {0};
    for (int i = 0; i < N * 4; i++) {
        x[i] = (float)i / 3;
    }
    NC_OK(nc_def_var_endian(f.file, f.x, NC_ENDIAN_BIG));
    NC_OK(nc_put_vara_float(f.file, f.x, start, size, x));
    NC_OK(nc_put_vara(f.file, f.targets, start, masks, targets));
    NC_OK(nc_def_dim(f.file, "from", NODES, &square[0]));
    NC_OK(nc_def_dim(f.file, "to", NODES, &square[1]));
    NC_OK(nc_def_var(f.file, "w", NC_DOUBLE, 2, square, &id));
    NC_OK(nc_put_var_double(f.file, id, w));
    NC_OK(nc_def_var(f.file, "tf", NC_STRING, 1, &f.tf, &id));
    NC_OK(nc_put_var_string(f.file, id, names));
    NC_OK(nc_def_var(f.file, "gene", NC_INT, 1, &f.gene, &id)); /* numbers are no names */
    NC_OK(nc_close(f.file));
    assert_ok(lscm_dataset_open(&data, at("f.nc"), NULL, &why));
    assert_string_equal(lscm_dataset_shape(data, LSCM_X).dtype, "float32");
    assert_string_equal(lscm_dataset_shape(data, LSCM_TARGETS).dtype, "int64");
    assert_string_equal(lscm_dataset_node_name(data, 2), "erk");
    assert_null(lscm_dataset_feature_name(data, 0));
    assert_ok(lscm_dataset_read(data, LSCM_X, 4, 5, out, &why));
    for (size_t i = 0; i < (size_t)5 * 4; i++) {
        assert_near(out[i], (double)x[4 * 4 + i], 0);
    }
    assert_ok(lscm_dataset_read(data, LSCM_W, 0, NODES, out, &why));
    assert_memory_equal(out, w, sizeof w);
    lscm_dataset_free(data);
}

static void unusable_variables_are_named(void **state)
{
    (void)state;
    lscm_error why;
    lscm_dataset *data = NULL;
    const size_t last[2] = {N - 1, 0};
    const double factor = 0.1;
    const int next_version = 2;
    int id = 0;
    foreign f = foreign_file("char.nc", NC_CHAR, NC_INT);
    NC_OK(nc_close(f.file));
    assert_fails(lscm_dataset_open(&data, at("char.nc"), NULL, &why), LSCM_FORMAT,
                 "'x' does not hold numbers");
    f = foreign_file("empty.nc", NC_FLOAT, NC_INT);
    NC_OK(nc_close(f.file));
    assert_fails(lscm_dataset_open(&data, at("empty.nc"), NULL, &why), LSCM_SHAPE, "length 0");
    f = foreign_file("packed.nc", NC_SHORT, NC_INT);
    NC_OK(nc_put_att_double(f.file, f.x, "scale_factor", NC_DOUBLE, 1, &factor));
    NC_OK(nc_close(f.file));
    assert_fails(lscm_dataset_open(&data, at("packed.nc"), NULL, &why), LSCM_FORMAT,
                 "'x' is packed (attribute scale_factor)");
    f = foreign_file("scalar.nc", NC_SHORT, NC_INT);
    NC_OK(nc_put_var1_int(f.file, f.targets, last, &next_version));
    NC_OK(nc_def_var(f.file, "values", NC_DOUBLE, 0, NULL, &id));
    NC_OK(nc_close(f.file));
    assert_fails(lscm_dataset_open(&data, at("scalar.nc"), NULL, &why), LSCM_SHAPE,
                 "'values' has 0 dimensions");
    f = foreign_file("newer.nc", NC_SHORT, NC_INT);
    NC_OK(nc_put_att_int(f.file, NC_GLOBAL, "format_version", NC_INT, 1, &next_version));
    NC_OK(nc_close(f.file));
    assert_fails(lscm_dataset_open(&data, at("newer.nc"), NULL, &why), LSCM_FORMAT, "newer lscm");
    NC_OK(nc_create(at("classic.nc"), NC_CLOBBER, &id));
    NC_OK(nc_close(id));
    assert_fails(lscm_dataset_open(&data, at("classic.nc"), NULL, &why), LSCM_FORMAT, "classic");
    assert_null(data);
}

/* ---- Damage and trouble ---- */

static void copy_part(const char *from, const char *to, long bytes)
{
    FILE *in = fopen(from, "rb");
    FILE *out = fopen(to, "wb");
    assert_true(in != NULL && out != NULL);
    for (long i = 0; i < bytes; i++) {
        int byte = fgetc(in);
        assert_true(byte != EOF);
        assert_true(fputc(byte, out) != EOF);
    }
    (void)fclose(in);
    (void)fclose(out);
}

static void damaged_files_are_refused(void **state)
{
    (void)state;
    lscm_error why;
    struct stat info;
    lscm_dataset *data = full(DTYPE_FLOAT64);
    lscm_dataset *again = NULL;
    assert_ok(lscm_dataset_save(data, at("a.nc"), false, NULL, &why));
    assert_int_equal(stat(at("a.nc"), &info), 0);
    const long parts[] = {8, 100, info.st_size / 2, info.st_size - 1};
    for (int i = 0; i < 4; i++) {
        copy_part(at("a.nc"), at("cut.nc"), parts[i]);
        assert_fails(lscm_dataset_open(&again, at("cut.nc"), NULL, &why), LSCM_READ,
                     "cut short or damaged");
    }
    copy_part(at("a.nc"), at("cut.nc"), 5);
    assert_fails(lscm_dataset_open(&again, at("cut.nc"), NULL, &why), LSCM_FORMAT,
                 "not a netCDF-4 file");
    copy_part(at("a.nc"), at("cut.nc"), 0);
    assert_fails(lscm_dataset_open(&again, at("cut.nc"), NULL, &why), LSCM_FORMAT, "is empty");
    lscm_dataset_free(data);
}

static void paths_without_data_are_named(void **state)
{
    (void)state;
    lscm_error why;
    lscm_dataset *data = NULL;
    copy_part("/proc/self/exe", at("a.npy"), 10);
    copy_part("/proc/self/exe", at("a.h5"), 10);
    copy_part("/proc/self/exe", at("a.png"), 10);
    copy_part("/proc/self/exe", at("a"), 10);
    assert_int_equal(mkfifo(at("pipe.nc"), 0600), 0);
    assert_fails(lscm_dataset_open(&data, at("b.nc"), NULL, &why), LSCM_MISSING, "no such file");
    assert_fails(lscm_dataset_open(&data, at("a/b.nc"), NULL, &why), LSCM_MISSING, "no such file");
    assert_fails(lscm_dataset_open(&data, at("pipe.nc"), NULL, &why), LSCM_READ, "regular file");
    assert_fails(lscm_dataset_open(&data, "/dev/null", NULL, &why), LSCM_READ, "regular file");
    assert_fails(lscm_dataset_open(&data, at("a.npy"), NULL, &why), LSCM_USAGE, "one array");
    assert_fails(lscm_dataset_open(&data, at("a.h5"), NULL, &why), LSCM_USAGE, ".npz, .csv");
    assert_fails(lscm_dataset_open(&data, at("a.png"), NULL, &why), LSCM_USAGE, "not read");
    assert_fails(lscm_dataset_open(&data, at("a"), NULL, &why), LSCM_USAGE, "no ending");
}

static void output_is_whole_or_absent(void **state)
{
    (void)state;
    lscm_error why;
    lscm_dataset *data = full(DTYPE_FLOAT64);
    lscm_dataset *again = NULL;
    double *x = ((made_source *)(void *)data->source)->raw[LSCM_X];
    x[9] = NAN;
    assert_fails(lscm_dataset_save(data, at("a.nc"), false, NULL, &why), LSCM_VALUE,
                 "'x' is NaN at row 2, column 1 (0-based)");
    assert_int_equal(entries(), 0);
    x[9] = 1;
    assert_ok(lscm_dataset_save(data, at("a.nc"), false, NULL, &why));
    assert_fails(lscm_dataset_save(data, at("a.nc"), false, NULL, &why), LSCM_EXISTS, "--force");
    assert_fails(lscm_dataset_save(data, at("a.hdf"), false, NULL, &why), LSCM_USAGE, "'.hdf'");
    assert_fails(lscm_dataset_save(data, "", false, NULL, &why), LSCM_USAGE, "empty");
    assert_int_equal(symlink("a.nc", at("link.nc")), 0);
    assert_fails(lscm_dataset_save(data, at("link.nc"), true, NULL, &why), LSCM_EXISTS, "symbolic");
    /* links are followed when reading, and a file may replace the one it is read from */
    assert_ok(lscm_dataset_open(&again, at("link.nc"), NULL, &why));
    assert_ok(lscm_dataset_save(again, at("a.nc"), true, NULL, &why));
    assert_same(data, again);
    lscm_dataset_free(again);
    assert_ok(lscm_dataset_open(&again, at("a.nc"), NULL, &why));
    assert_same(data, again);
    lscm_dataset_free(again);
    lscm_dataset_free(data);
    assert_int_equal(entries(), 2);
}

/* A limit on the size of files stands for a full disk: writing fails at some depth of the library,
 * which must neither keep the file nor be left unusable. */
static void a_full_disk_is_reported(void **state)
{
    (void)state;
    lscm_error why;
    struct rlimit old;
    lscm_dataset *data = made_new();
    made_field(data, LSCM_X, DTYPE_FLOAT64, 20000, 10, 0, 0);
    made_field(data, LSCM_TARGETS, DTYPE_UINT8, 20000, NODES, 0, 0);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
    void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
    for (rlim_t bytes = 100; bytes < 1700000; bytes += 400000) {
        struct rlimit small = {bytes, old.rlim_max};
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
        lscm_status status = lscm_dataset_save(data, at("a.nc"), false, NULL, &why);
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
        assert_int_equal(status, LSCM_WRITE);
        assert_non_null(strstr(why.text, "a.nc"));
        assert_int_equal(entries(), 0);
    }
    (void)signal(SIGXFSZ, handler);
    assert_ok(lscm_dataset_save(data, at("a.nc"), false, NULL, &why));
    lscm_dataset_free(data);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, make_home, remove_home)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(every_type_comes_back),       TEST(pictures_come_back),
        TEST(long_arrays_stream),          TEST(names_and_recipe_come_back),
        TEST(the_layout_is_as_documented), TEST(the_truth_alone_is_kept),
        TEST(files_of_others_are_read),    TEST(unusable_variables_are_named),
        TEST(damaged_files_are_refused),   TEST(paths_without_data_are_named),
        TEST(output_is_whole_or_absent),   TEST(a_full_disk_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
