/* Two threads of one process fit different data at once, and write and read netCDF meanwhile: each
 * gets the bits that it gets alone, and BLAS gets its threads back. Threads that read one data set
 * at once, which keeps a place in its file, get the rows they asked for. */
#include "base/threads.h"
#include "testing.h"

#include "home.h"

#include <cblas.h>
#include <pthread.h>

enum { TIMES = 2, NODES = 4, DRAWS = 8, ROWS = 120 };

typedef struct job {
    const char *method, *decoder, *steps;
    const char *name; /* of its folder and file */
    int64_t seed;
    int threads;
    lscm_status status;
    lscm_error why;
    double w[DRAWS * NODES * NODES], z[ROWS * NODES], e_shd;
} job;

static lscm_status set(lscm_fit_settings *settings, const char *name, const char *value,
                       lscm_error *why)
{
    return lscm_settings_set(lscm_fit_table(), settings, name, value, why);
}

/* Simulates into a file, fits that into a folder, opens the folder; no asserts: it is a thread. */
static lscm_status run_job(job *j, int time)
{
    lscm_simulation simulation;
    lscm_fit_settings settings;
    lscm_dataset *data = NULL;
    lscm_dataset *file = NULL;
    lscm_posterior *fitted = NULL;
    lscm_posterior *p = NULL;
    lscm_scores scores = {0};
    char path[600];
    char folder[600];
    lscm_run_options run = {.folder = folder};
    (void)snprintf(path, sizeof path, "%s/%s-%d.nc", home, j->name, time);
    (void)snprintf(folder, sizeof folder, "%s/%s-%d.run", home, j->name, time);
    lscm_settings_defaults(lscm_fit_table(), &settings);
    settings.draws = DRAWS;
    settings.seed = j->seed;
    (void)lscm_set_threads(j->threads);
    lscm_status status = lscm_simulation_preset(&simulation, "paper-linear", NODES, &j->why);
    simulation.seed = j->seed;
    simulation.observational = 20;
    simulation.sets = 10;
    simulation.per_set = 10;
    simulation.features = 30;
    status = status == LSCM_OK ? set(&settings, "method", j->method, &j->why) : status;
    status = status == LSCM_OK ? set(&settings, "decoder", j->decoder, &j->why) : status;
    status = status == LSCM_OK ? set(&settings, "steps", j->steps, &j->why) : status;
    status = status == LSCM_OK ? lscm_simulate(&data, &simulation, NULL, &j->why) : status;
    status = status == LSCM_OK ? lscm_dataset_save(data, path, false, NULL, &j->why) : status;
    status = status == LSCM_OK ? lscm_dataset_open(&file, path, NULL, &j->why) : status;
    status = status == LSCM_OK ? lscm_fit(&fitted, file, &settings, &run, NULL, &j->why) : status;
    status = status == LSCM_OK ? lscm_posterior_open(&p, folder, &j->why) : status;
    status = status == LSCM_OK ? lscm_posterior_evaluate(&scores, p, file, &j->why) : status;
    if (status == LSCM_OK) {
        memcpy(j->w, lscm_posterior_weights(p), sizeof j->w);
        memcpy(j->z, lscm_posterior_z(p), sizeof j->z);
        j->e_shd = scores.e_shd;
    }
    lscm_posterior_free(p);
    lscm_posterior_free(fitted);
    lscm_dataset_free(file);
    lscm_dataset_free(data);
    return status;
}

static void *run_jobs(void *self)
{
    job *j = self;
    for (int time = 1; time <= TIMES && j->status == LSCM_OK; time++) {
        j->status = run_job(j, time);
    }
    return NULL;
}

static const job JOBS[] = {
    {.method = "anchored", .decoder = "linear", .steps = "40", .seed = 1, .threads = 2},
    {.method = "anchored", .decoder = "mlp", .steps = "5", .seed = 2, .threads = 1},
    {.method = "biols", .decoder = "linear", .steps = "20", .seed = 3, .threads = 2},
    {.method = "graphvae", .decoder = "mlp", .steps = "10", .seed = 4, .threads = 1},
};
enum { JOB_COUNT = sizeof JOBS / sizeof JOBS[0] };

static void run_together(job *jobs)
{
    pthread_t thread[JOB_COUNT];
    for (size_t k = 0; k < JOB_COUNT; k++) {
        assert_int_equal(pthread_create(&thread[k], NULL, run_jobs, &jobs[k]), 0);
    }
    for (size_t k = 0; k < JOB_COUNT; k++) {
        assert_int_equal(pthread_join(thread[k], NULL), 0);
    }
}

/* The same, and how many bytes went to stderr meanwhile: HDF5 once told its troubles there, from
 * every thread but the first. */
static long printed_together(job *jobs)
{
    FILE *kept = tmpfile();
    int before = dup(STDERR_FILENO);
    assert_non_null(kept);
    assert_true(before >= 0 && dup2(fileno(kept), STDERR_FILENO) >= 0);
    run_together(jobs);
    (void)fflush(stderr);
    assert_true(dup2(before, STDERR_FILENO) >= 0);
    (void)close(before);
    assert_int_equal(fseek(kept, 0, SEEK_END), 0);
    long bytes = ftell(kept);
    (void)fclose(kept);
    return bytes;
}

static void fits_side_by_side_are_as_alone(void **state)
{
    static const char *const names[JOB_COUNT] = {"a", "b", "c", "d"};
    static job alone[JOB_COUNT];
    static job together[JOB_COUNT];
    int blas = openblas_get_num_threads();
    (void)state;
    openblas_set_num_threads(2);
    for (size_t k = 0; k < JOB_COUNT; k++) {
        alone[k] = together[k] = JOBS[k];
        alone[k].name = together[k].name = names[k];
        int before = lscm_set_threads(0);
        alone[k].status = run_job(&alone[k], 0);
        (void)lscm_set_threads(before);
        if (alone[k].status != LSCM_OK) {
            print_error("%s\n", alone[k].why.text);
        }
        assert_int_equal(alone[k].status, LSCM_OK);
    }
    assert_int_equal(printed_together(together), 0);
    for (size_t k = 0; k < JOB_COUNT; k++) {
        if (together[k].status != LSCM_OK) {
            print_error("%s\n", together[k].why.text);
        }
        assert_int_equal(together[k].status, LSCM_OK);
        assert_memory_equal(together[k].w, alone[k].w, sizeof alone[k].w);
        assert_memory_equal(together[k].z, alone[k].z, sizeof alone[k].z);
        assert_near(together[k].e_shd, alone[k].e_shd, 0);
    }
    assert_int_equal(openblas_get_num_threads(), 2);
    openblas_set_num_threads(blas);
}

enum { READERS = 4, PASSES = 30, FEATURES = 30 };

typedef struct reader {
    const lscm_dataset *data;
    const double *x, *z; /* what it should find: (ROWS, FEATURES), (ROWS, NODES) */
    size_t step;         /* rows at a time */
    bool same;
} reader;

static bool same_block(const reader *r, lscm_field field, size_t first, size_t count)
{
    double found[ROWS * FEATURES];
    size_t columns = field == LSCM_X ? FEATURES : NODES;
    const double *expected = (field == LSCM_X ? r->x : r->z) + first * columns;
    return lscm_dataset_read(r->data, field, first, count, found, NULL) == LSCM_OK &&
           memcmp(found, expected, count * columns * sizeof *found) == 0;
}

static void *read_again_and_again(void *self)
{
    reader *r = self;
    r->same = true;
    for (int pass = 0; pass < PASSES; pass++) {
        for (size_t first = 0; first < ROWS; first += r->step) {
            size_t count = ROWS - first < r->step ? ROWS - first : r->step;
            r->same = r->same && same_block(r, LSCM_X, first, count);
            r->same = r->same && same_block(r, LSCM_Z, first, count);
        }
    }
    return NULL;
}

static void check_shared(const lscm_dataset *data, const double *x, const double *z)
{
    reader readers[READERS];
    pthread_t thread[READERS];
    for (size_t k = 0; k < READERS; k++) {
        readers[k] = (reader){.data = data, .x = x, .z = z, .step = 7 + 16 * k};
        assert_int_equal(pthread_create(&thread[k], NULL, read_again_and_again, &readers[k]), 0);
    }
    for (size_t k = 0; k < READERS; k++) {
        assert_int_equal(pthread_join(thread[k], NULL), 0);
        assert_true(readers[k].same);
    }
}

static void one_data_set_is_read_by_many(void **state)
{
    static const char *const files[] = {"shared.nc", "shared.npz", "shared"};
    static double x[ROWS * FEATURES];
    static double z[ROWS * NODES];
    lscm_error why;
    lscm_dataset *data = NULL;
    lscm_simulation simulation;
    (void)state;
    assert_ok(lscm_simulation_preset(&simulation, "paper-linear", NODES, &why));
    simulation.observational = 20;
    simulation.sets = 10;
    simulation.per_set = 10;
    simulation.features = FEATURES;
    assert_ok(lscm_simulate(&data, &simulation, NULL, &why));
    assert_ok(lscm_dataset_read(data, LSCM_X, 0, ROWS, x, &why));
    assert_ok(lscm_dataset_read(data, LSCM_Z, 0, ROWS, z, &why));
    check_shared(data, x, z);
    for (size_t k = 0; k < sizeof files / sizeof files[0]; k++) {
        lscm_dataset *file = NULL;
        assert_ok(lscm_dataset_save(data, at(files[k]), false, NULL, &why));
        assert_ok(lscm_dataset_open(&file, at(files[k]), NULL, &why));
        check_shared(file, x, z);
        lscm_dataset_free(file);
    }
    lscm_dataset_free(data);
}

static void *come_and_go(void *self)
{
    bool *alone = self;
    for (int k = 0; k < 2000; k++) {
        threads_blas_single();
        threads_blas_single();
        *alone = *alone && openblas_get_num_threads() == 1;
        threads_blas_restore();
        *alone = *alone && openblas_get_num_threads() == 1;
        threads_blas_restore();
    }
    return NULL;
}

static void blas_is_alone_while_anyone_needs_it(void **state)
{
    pthread_t thread[2];
    bool alone[2] = {true, true};
    int before = openblas_get_num_threads();
    (void)state;
    openblas_set_num_threads(2);
    for (size_t k = 0; k < 2; k++) {
        assert_int_equal(pthread_create(&thread[k], NULL, come_and_go, &alone[k]), 0);
    }
    for (size_t k = 0; k < 2; k++) {
        assert_int_equal(pthread_join(thread[k], NULL), 0);
        assert_true(alone[k]);
    }
    assert_int_equal(openblas_get_num_threads(), 2);
    openblas_set_num_threads(before);
}

static void threads_are_told_and_kept(void **state)
{
    (void)state;
    int before = lscm_set_threads(3);
    assert_int_equal(lscm_set_threads(0), 3);
    assert_int_equal(lscm_set_threads(before), 3);
    assert_int_equal(lscm_set_threads(0), before);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST_AT_HOME(fits_side_by_side_are_as_alone),
        TEST_AT_HOME(one_data_set_is_read_by_many),
        cmocka_unit_test(blas_is_alone_while_anyone_needs_it),
        cmocka_unit_test(threads_are_told_and_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
