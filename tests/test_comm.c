/* The processes of a job, from inside: this program runs alone, and under mpirun (comm_test.sh),
 * where every process runs every test. The counter gives each number once, also while process 0
 * computes; all hear of one's failure; arrays arrive whole; and a pass over rows that is split
 * gives the very numbers of one that is not. */
#define _GNU_SOURCE
#include "backend/comm.h"
#include "data/dataset/dataset.h"
#include "data/statistics/statistics.h"
#include "linear_view_testing.h"

#include <time.h>

static lscm_comm *comm;

static bool first(void)
{
    return lscm_comm_rank(comm) == 0;
}

static double seconds(clockid_t clock)
{
    struct timespec now;
    (void)clock_gettime(clock, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* ---- The counter ---- */

enum { NUMBERS = 200 };

static void every_number_comes_once(void **state)
{
    (void)state;
    uint64_t number = 0;
    uint64_t least = UINT64_MAX;
    uint8_t mine[NUMBERS] = {0};
    uint8_t theirs[NUMBERS];
    double begun = seconds(CLOCK_MONOTONIC);
    while (first() && seconds(CLOCK_MONOTONIC) - begun < 0.6) {
        number++; /* computes, and does not call MPI */
    }
    for (;;) {
        assert_ok(lscm_comm_next(comm, &number, &why));
        least = number < least ? number : least;
        if (number >= NUMBERS) {
            break;
        }
        mine[number]++;
    }
    if (!first()) {
        assert_ok(comm_send(comm, 0, mine, sizeof mine, &why));
        return;
    }
    assert_true(lscm_comm_size(comm) == 1 ? least == 0 : least > 0);
    for (int rank = 1; rank < lscm_comm_size(comm); rank++) {
        assert_ok(comm_receive(comm, rank, theirs, sizeof theirs, &why));
        for (size_t i = 0; i < NUMBERS; i++) {
            mine[i] = (uint8_t)(mine[i] + theirs[i]);
        }
    }
    for (size_t i = 0; i < NUMBERS; i++) {
        assert_int_equal(mine[i], 1);
    }
}

/* ---- Messages ---- */

static void all_hear_of_a_failure(void **state)
{
    (void)state;
    int size = lscm_comm_size(comm);
    int rank = lscm_comm_rank(comm);
    assert_ok(lscm_comm_agree(comm, LSCM_OK, &why));
    for (int bad = 0; bad < size; bad++) {
        char part[64];
        lscm_status status = LSCM_OK;
        (void)snprintf(part, sizeof part, "file %d is broken", bad);
        why.text[0] = '\0';
        if (rank >= bad) { /* the first of them is heard */
            status = LSCM_FORMAT;
            why.status = status;
            (void)snprintf(why.text, sizeof why.text, "file %d is broken", rank);
        }
        assert_int_equal(lscm_comm_agree(comm, status, &why), LSCM_FORMAT);
        assert_string_equal(why.text, part);
        assert_int_equal(why.status, LSCM_FORMAT);
    }
    assert_ok(lscm_comm_agree(comm, LSCM_OK, &why));
}

/* Long arrays go in pieces; each byte says where it belongs and whose it is. */
static void put_bytes(uint8_t *bytes, size_t n, int owner)
{
    for (size_t i = 0; i < n; i++) {
        bytes[i] = (uint8_t)(i * 7 + i / 251 + (size_t)owner);
    }
}

static void arrays_arrive_whole(void **state)
{
    (void)state;
    static const size_t sizes[] = {0, 1, 1000, ((size_t)1 << 26) + 5};
    for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
        size_t n = sizes[s];
        uint8_t *bytes = calloc(n + 1, 1);
        uint8_t *right = calloc(n + 1, 1);
        if (bytes == NULL || right == NULL) {
            abort();
        }
        put_bytes(right, n, lscm_comm_rank(comm));
        if (!first()) {
            assert_ok(comm_send(comm, 0, right, n, &why));
        }
        for (int from = 1; first() && from < lscm_comm_size(comm); from++) {
            assert_ok(comm_receive(comm, from, bytes, n, &why));
            put_bytes(right, n, from);
            assert_true(memcmp(bytes, right, n) == 0);
        }
        put_bytes(right, n, 77);
        if (first()) {
            memcpy(bytes, right, n);
        }
        assert_ok(comm_broadcast(comm, bytes, n, &why));
        assert_true(memcmp(bytes, right, n) == 0);
        free(bytes);
        free(right);
    }
}

static void waiting_takes_no_core(void **state)
{
    (void)state;
    double used = seconds(CLOCK_PROCESS_CPUTIME_ID);
    double begun = seconds(CLOCK_MONOTONIC);
    if (first()) {
        (void)nanosleep(&(struct timespec){0, 400000000}, NULL);
    }
    assert_ok(lscm_comm_agree(comm, LSCM_OK, &why));
    used = seconds(CLOCK_PROCESS_CPUTIME_ID) - used;
    double lasted = seconds(CLOCK_MONOTONIC) - begun;
    assert_true(used < fmax(0.2, lasted / 2)); /* on a slow machine both are longer */
    assert_true(lscm_comm_threads(comm) >= 1);
}

/* ---- Passes over rows ---- */

static void stretches_cover_the_rows(void **state)
{
    (void)state;
    static const size_t cases[][3] = {{1, 1, 64},     {63, 1, 64},        {64, 1, 64},  {65, 1, 64},
                                      {100000, 7, 3}, {100001, 2048, 64}, {5, 2048, 64}};
    team t = {.comm = comm};
    for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
        stretches s = split_rows(cases[c][0], cases[c][1], cases[c][2]);
        size_t row = 0;
        assert_true(s.count >= 1 && s.count <= cases[c][2]);
        assert_int_equal(s.length % cases[c][1], 0);
        for (int rank = 0; rank < split_size(&t); rank++) {
            row_share share = split_share(&t, rank, s);
            if (share.past > share.from) {
                assert_int_equal(share.first, row);
                assert_int_equal(share.first, share.from * s.length);
                assert_true(share.end > share.first);
                row = share.end;
            }
        }
        assert_int_equal(row, cases[c][0]);
    }
}

static void same_bits(const double *a, const double *b, size_t n)
{
    assert_memory_equal(a, b, n * sizeof *a);
}

/* A job: process 0 does what it is given, with all of them and alone; the others help. */
static lscm_status together(lscm_dataset *data, lscm_status (*job)(const lscm_dataset *data))
{
    team t = {.comm = comm};
    lscm_dataset shared = *data;
    shared.team = &t;
    assert_ok(split_begin(&shared, &why));
    return first() ? split_end(&t, job(&shared), &why) : split_serve(&shared, NULL, &why);
}

static lscm_status signal_both_ways(const lscm_dataset *data)
{
    lscm_dataset alone = *data;
    linear_view a = {0};
    linear_view b = {0};
    alone.team = NULL;
    assert_ok(linear_view_of_within(&a, &alone, 0, SAMPLED, NULL, &why));
    assert_ok(linear_view_of_within(&b, data, 0, SAMPLED, NULL, &why));
    assert_true(a.rank > 0 && a.rank == b.rank);
    assert_true(a.variance == b.variance && a.x_noise == b.x_noise && a.next == b.next);
    same_bits(a.y, b.y, a.rows * a.rank);
    same_bits(a.mean, b.mean, a.D);
    same_bits(a.basis, b.basis, a.D * a.rank);
    same_bits(a.spectrum, b.spectrum, a.rank);
    same_bits(a.design.value, b.design.value, a.rows * a.d);
    assert_int_equal(a.design.sets, b.design.sets);
    assert_memory_equal(a.design.target, b.design.target, a.design.sets * a.d);
    assert_memory_equal(a.design.set, b.design.set, a.rows * sizeof *a.design.set);
    linear_view_close(&a);
    linear_view_close(&b);
    return LSCM_OK;
}

static lscm_status moments_both_ways(const lscm_dataset *data)
{
    lscm_dataset alone = *data;
    moments a = {0};
    moments b = {0};
    alone.team = NULL;
    assert_ok(moments_of(&a, &alone, NULL, &why));
    assert_ok(moments_of(&b, data, NULL, &why));
    assert_true(a.sets > 1 && a.sets == b.sets && a.xx == b.xx);
    assert_memory_equal(a.target, b.target, a.sets * a.d);
    same_bits(a.count, b.count, a.sets);
    same_bits(a.vv, b.vv, a.sets * a.d * a.d);
    same_bits(a.vx, b.vx, a.sets * a.d * a.D);
    moments_close(&a);
    moments_close(&b);
    return LSCM_OK;
}

static void split_passes_give_the_same_numbers(void **state)
{
    (void)state;
    static const size_t shapes[][3] = {{60000, 3, 20}, {2100, 2, 400}, {40, 2, 30}};
    for (size_t k = 0; k < sizeof shapes / sizeof shapes[0]; k++) {
        rows_of r = make(shapes[k][0], shapes[k][1], shapes[k][2], shapes[k][1], 0.3, 3);
        lscm_dataset *data = wrap(&r, true);
        assert_ok(together(data, signal_both_ways));
        assert_ok(together(data, moments_both_ways));
        lscm_dataset_free(data);
        drop(&r);
    }
}

static lscm_status check_all(const lscm_dataset *data)
{
    return check_pass(data, NULL, &why);
}

static lscm_status read_labels(const lscm_dataset *data)
{
    linear_view s = {0};
    lscm_status status = linear_view_of_within(&s, data, 0, SAMPLED, NULL, &why);
    linear_view_close(&s);
    return status;
}

/* What one process finds, all hear, in the words that one alone would use. */
static void faults_are_named(void **state)
{
    (void)state;
    rows_of r = make(5000, 3, 40, 3, 0.3, 0);
    lscm_dataset *data = wrap(&r, true);
    assert_ok(together(data, check_all));
    r.x[4999 * 40 + 7] = NAN;
    assert_fails(together(data, check_all), LSCM_VALUE, "'x' is missing (NaN) at row 4999, column 7");
    r.x[4999 * 40 + 7] = 1;
    r.targets[4000 * 3 + 1] = 1;
    r.values[4000 * 3 + 1] = NAN;
    assert_fails(together(data, check_all), LSCM_VALUE, "'values' is NaN at row 4000, column 1");
    assert_fails(together(data, read_labels), LSCM_VALUE, "'values' is NaN at row 4000, column 1");
    lscm_dataset_free(data);
    drop(&r);
}

/* ---- Fits ---- */

static void one_fit_for_all(void **state)
{
    (void)state;
    lscm_simulation s;
    lscm_fit_settings settings;
    lscm_dataset *data = NULL;
    lscm_posterior *p = NULL;
    lscm_posterior *alone = NULL;
    lscm_run_options run = {.comm = comm};
    assert_ok(lscm_simulation_preset(&s, "paper-linear", 3, &why));
    assert_ok(lscm_simulate(&data, &s, NULL, &why));
    lscm_settings_defaults(lscm_fit_table(), &settings);
    assert_ok(lscm_settings_set(lscm_fit_table(), &settings, "method", "biols", &why));
    settings.steps = 60;
    settings.draws = 16;
    settings.restarts = 1;
    assert_ok(lscm_fit(&p, data, &settings, &run, NULL, &why));
    assert_true((p != NULL) == first());
    if (first()) {
        assert_ok(lscm_fit(&alone, data, &settings, NULL, NULL, &why));
        same_bits(lscm_posterior_weights(p), lscm_posterior_weights(alone), (size_t)16 * 9);
        same_bits(lscm_posterior_edge_prob(p), lscm_posterior_edge_prob(alone), 9);
        assert_true((strstr(lscm_posterior_summary(p), "\"processes\"") != NULL) ==
                    (lscm_comm_size(comm) > 1));
    }
    lscm_posterior_free(p);
    lscm_posterior_free(alone);
    settings.draws = 1; /* too few */
    assert_fails(lscm_fit(&p, data, &settings, &run, NULL, &why), LSCM_USAGE, "draws");
    lscm_dataset_free(data);
}

static void different_data_are_refused(void **state)
{
    (void)state;
    rows_of r = make((size_t)50 + (lscm_comm_rank(comm) > 0 ? 1 : 0), 2, 5, 2, 0.3, 0);
    lscm_dataset *data = wrap(&r, true);
    team t = {.comm = comm};
    data->team = &t;
    if (lscm_comm_size(comm) > 1) {
        assert_fails(split_begin(data, &why), LSCM_USAGE, "must open the same data");
    } else {
        assert_ok(split_begin(data, &why));
    }
    data->team = NULL;
    lscm_dataset_free(data);
    drop(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_number_comes_once),
        cmocka_unit_test(all_hear_of_a_failure),
        cmocka_unit_test(arrays_arrive_whole),
        cmocka_unit_test(waiting_takes_no_core),
        cmocka_unit_test(stretches_cover_the_rows),
        cmocka_unit_test(split_passes_give_the_same_numbers),
        cmocka_unit_test(faults_are_named),
        cmocka_unit_test(one_fit_for_all),
        cmocka_unit_test(different_data_are_refused),
    };
    if (lscm_comm_open(&comm, &why) != LSCM_OK) {
        (void)fprintf(stderr, "%s\n", why.text);
        return 1;
    }
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    lscm_comm_close(comm);
    return failed;
}
