/* Opening files: netCDF that others wrote is read, and what is unusable, damaged or no file at all
 * is refused with a sentence. */
#include "made.h"

#include "testing.h"

#include "home.h"

#include <netcdf.h>
#include <sys/stat.h>

enum { N = 11, NODES = 3 };

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
    f = foreign_file("huge.nc", NC_SHORT, NC_INT); /* no memory for what cannot be right */
    NC_OK(nc_put_var1_int(f.file, f.targets, last, &next_version));
    NC_OK(nc_def_dim(f.file, "huge", (size_t)1 << 50, &id));
    NC_OK(nc_def_var(f.file, "sigma", NC_DOUBLE, 1, &id, &id));
    NC_OK(nc_close(f.file));
    assert_fails(lscm_dataset_open(&data, at("huge.nc"), NULL, &why), LSCM_SHAPE, "'sigma' has");
    f = foreign_file("newer.nc", NC_SHORT, NC_INT);
    NC_OK(nc_put_att_int(f.file, NC_GLOBAL, "format_version", NC_INT, 1, &next_version));
    NC_OK(nc_close(f.file));
    assert_fails(lscm_dataset_open(&data, at("newer.nc"), NULL, &why), LSCM_FORMAT, "newer lscm");
    NC_OK(nc_create(at("classic.nc"), NC_CLOBBER, &id));
    NC_OK(nc_close(id));
    assert_fails(lscm_dataset_open(&data, at("classic.nc"), NULL, &why), LSCM_FORMAT, "classic");
    assert_null(data);
}

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
    lscm_dataset *data = made_new();
    lscm_dataset *again = NULL;
    made_field(data, LSCM_X, DTYPE_FLOAT64, N, 4, 0, 0);
    made_field(data, LSCM_TARGETS, DTYPE_UINT8, N, NODES, 0, 0);
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
    copy_part("/proc/self/exe", at("a.Parquet"), 10);
    copy_part("/proc/self/exe", at("a.png"), 10);
    copy_part("/proc/self/exe", at("a"), 10);
    assert_int_equal(mkfifo(at("pipe.nc"), 0600), 0);
    assert_fails(lscm_dataset_open(&data, at("b.nc"), NULL, &why), LSCM_MISSING, "no such file");
    assert_fails(lscm_dataset_open(&data, at("a/b.nc"), NULL, &why), LSCM_MISSING, "no such file");
    assert_fails(lscm_dataset_open(&data, at("pipe.nc"), NULL, &why), LSCM_READ, "regular file");
    assert_fails(lscm_dataset_open(&data, "/dev/null", NULL, &why), LSCM_READ, "regular file");
    assert_fails(lscm_dataset_open(&data, at("a.npy"), NULL, &why), LSCM_USAGE, "one array");
    assert_fails(lscm_dataset_open(&data, at("a.h5"), NULL, &why), LSCM_USAGE, ".npz, .csv");
    assert_fails(lscm_dataset_open(&data, at("a.Parquet"), NULL, &why), LSCM_USAGE, "pyarrow");
    assert_fails(lscm_dataset_open(&data, at("a.png"), NULL, &why), LSCM_USAGE, "not read");
    assert_fails(lscm_dataset_open(&data, at("a"), NULL, &why), LSCM_USAGE, "no ending");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST_AT_HOME(files_of_others_are_read),
        TEST_AT_HOME(unusable_variables_are_named),
        TEST_AT_HOME(damaged_files_are_refused),
        TEST_AT_HOME(paths_without_data_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
