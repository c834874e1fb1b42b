/* Rows of NPY arrays of every type, order and endianness, against an oracle that places each
 * element by itself. */
#include "npy_testing.h"

#include "lcg.h"

#include <sys/stat.h>

typedef struct layout {
    dtype type;
    int ndim;
    size_t dims[4];
    bool fortran, swapped;
} layout;

/* Writes `logical` (C order, native) as a file laid out so, one element after the other. */
static void write_laid_out(const char *path, const layout *lay, const unsigned char *logical)
{
    size_t item = dtype_size(lay->type);
    size_t count = 1;
    char shape[100] = "";
    char dictionary[200];
    for (int k = 0; k < lay->ndim; k++) {
        count *= lay->dims[k];
        (void)snprintf(shape + strlen(shape), sizeof shape - strlen(shape), "%zu, ", lay->dims[k]);
    }
    (void)snprintf(dictionary, sizeof dictionary,
                   "{'descr': '%c%s', 'fortran_order': %s, 'shape': (%s)}",
                   lay->swapped == little() ? '>' : '<', dtype_code(lay->type),
                   lay->fortran ? "True" : "False", shape);
    unsigned char *file = calloc(count * item + 300, 1);
    size_t start = npy_head(file, 1, dictionary);
    for (size_t i = 0; i < count; i++) {
        size_t rest = i; /* to indices, then to the place with the first index fastest */
        size_t place = 0;
        size_t index[4] = {0};
        for (int k = lay->ndim - 1; k >= 0; k--) {
            index[k] = rest % lay->dims[k];
            rest /= lay->dims[k];
        }
        for (int k = lay->ndim - 1; k >= 0; k--) {
            place = place * lay->dims[k] + index[k];
        }
        place = lay->fortran ? place : i;
        for (size_t b = 0; b < item; b++) {
            size_t from = lay->swapped ? item - 1 - b : b;
            file[start + place * item + b] = logical[i * item + from];
        }
    }
    scratch_write(path, (char *)file, start + count * item);
    free(file);
}

static void check_layout(const layout *lay, lcg *random)
{
    char path[300];
    size_t rows = lay->ndim > 0 ? lay->dims[0] : 1;
    size_t row = 1;
    for (int k = 1; k < lay->ndim; k++) {
        row *= lay->dims[k];
    }
    size_t item = dtype_size(lay->type);
    unsigned char *logical = calloc(rows * row, item);
    unsigned char *out = malloc(rows * row * item);
    fill_bytes(lay->type, logical, rows * row, (unsigned)lcg_below(random, 1000));
    write_laid_out(scratch_path(path, "rows.npy"), lay, logical);
    npy_array *array = open_array(path);
    for (int round = 0; round < 6; round++) {
        size_t first = lcg_below(random, rows + 1);
        size_t count = lcg_below(random, rows - first + 1);
        lscm_error why;
        assert_ok(npy_array_rows(array, first, count, out, &why));
        assert_memory_equal(out, logical + first * row * item, count * row * item);
        assert_fails(npy_array_rows(array, first, rows - first + 1, out, &why), LSCM_USAGE,
                     "were asked for");
    }
    npy_array_close(array);
    free(logical);
    free(out);
}

static void rows_of_every_layout(void **state)
{
    static const size_t shapes[][5] = {{0},         {1, 9},       {2, 9, 7},       {2, 1, 40},
                                       {2, 70, 33}, {3, 6, 3, 5}, {4, 5, 4, 3, 2}, {4, 2, 1, 1, 3}};
    lcg random = {3};
    (void)state;
    for (int t = 0; t < DTYPE_COUNT; t++) {
        for (size_t s = 0; s < sizeof shapes / sizeof shapes[0]; s++) {
            for (int flags = 0; flags < 4; flags++) {
                layout lay = {
                    EVERY_TYPE[t], (int)shapes[s][0], {0}, (flags & 1) != 0, (flags & 2) != 0};
                memcpy(lay.dims, shapes[s] + 1, sizeof lay.dims);
                check_layout(&lay, &random);
            }
        }
    }
}

/* More rows than a tile or a window hold, forward and back. */
static void large_fortran_arrays_pass_windows(void **state)
{
    enum { ROWS = 30000, COLS = 120 };
    static const size_t starts[] = {0, 7000, 14000, 21000, 24500, 29000, 100, 26213, 26214};
    char path[300];
    unsigned char head[300];
    lscm_error why;
    (void)state;
    size_t start = npy_head(head, 1,
                            little() ? "{'descr': '<f8', 'fortran_order': True, "
                                       "'shape': (30000, 120)}"
                                     : "{'descr': '>f8', 'fortran_order': True, "
                                       "'shape': (30000, 120)}");
    FILE *file = fopen(scratch_path(path, "large.npy"), "wb");
    double *column = malloc(ROWS * sizeof *column);
    assert_int_equal(fwrite(head, 1, start, file), start);
    for (int c = 0; c < COLS; c++) {
        for (int r = 0; r < ROWS; r++) {
            column[r] = r * 1000.0 + c;
        }
        assert_int_equal(fwrite(column, sizeof *column, ROWS, file), ROWS);
    }
    assert_int_equal(fclose(file), 0);
    free(column);
    npy_array *array = open_array(path);
    double *out = malloc(7000 * COLS * sizeof *out);
    for (size_t i = 0; i < sizeof starts / sizeof starts[0]; i++) {
        size_t count = ROWS - starts[i] < 7000 ? ROWS - starts[i] : 7000;
        assert_ok(npy_array_rows(array, starts[i], count, out, &why));
        for (size_t k = 0; k < count * COLS; k++) {
            size_t expected = (starts[i] + k / COLS) * 1000 + k % COLS;
            assert_near(out[k], (double)expected, 0);
        }
    }
    npy_array_close(array);
    free(out);
}

static void what_is_no_file_is_refused(void **state)
{
    byte_source *source = NULL;
    lscm_error why;
    char path[300];
    (void)state;
    assert_fails(byte_source_file(&source, scratch_path(path, "none"), "none", &why), LSCM_MISSING,
                 "none: No such file");
    assert_fails(byte_source_file(&source, scratch_folder, "f", &why), LSCM_READ, "regular file");
    assert_int_equal(mkfifo(scratch_path(path, "pipe"), 0600), 0); /* nobody writes: no waiting */
    assert_fails(byte_source_file(&source, path, "p", &why), LSCM_READ, "regular file");
    assert_null(source);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_of_every_layout),
        cmocka_unit_test(large_fortran_arrays_pass_windows),
        cmocka_unit_test(what_is_no_file_is_refused),
    };
    return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
}
