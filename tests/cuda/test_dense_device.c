/* Networks and optimisers on a device's queue against the same on the CPU, in double where that
 * tells more: shapes that are no multiples of anything, one row, NaN; what is taken down and done
 * again; memory that is not there. */
#include "net/dense_machine.h"
#include "net/network.h"
#include "net/optimiser.h"

#include "lcg.h"
#include "net/muon.h"
#include "on_device.h"
#include "testing.h"

static lscm_error why;

/* A network with its numbers, on the queue and on the CPU. */
typedef struct bench {
    dense_queue *q;
    network_shape shape;
    size_t n, count, in, out, kept; /* rows; of the targets */
    arena here, there, exact;
    network_f32 net;
    network_f64 net64;
    muon_f32 muon, muon_here;
    optimiser_f32 adam, adam_here;
    float *p_here, *g_here, *x_here, *dx_here, *t_here; /* on the host */
    uint32_t *row_here;
    float *running_here;
    float *p, *g, *x, *dx, *t, *running; /* on the device */
    uint32_t *row;
    double *squares;
    backend_dial *dial; /* (3): of Muon, then of Adam */
    dense_tally *tally;
    double *p64, *g64, *x64, *dx64, *running64;
} bench;

static void lay_out_host(bench *b, arena *a)
{
    const muon_plan plan = muon_plan_of(&b->shape);
    const optimiser_settings rule = optimiser_adabelief();
    b->p_here = arena_take(a, b->count, sizeof(float));
    b->g_here = arena_take(a, b->count, sizeof(float));
    b->x_here = arena_take(a, b->n * b->in, sizeof(float));
    b->dx_here = arena_take(a, b->n * b->in, sizeof(float));
    b->t_here = arena_take(a, b->kept * b->out, sizeof(float));
    b->row_here = arena_take(a, b->n, sizeof(uint32_t));
    b->p64 = arena_take(a, b->count, sizeof(double));
    b->g64 = arena_take(a, b->count, sizeof(double));
    b->x64 = arena_take(a, b->n * b->in, sizeof(double));
    b->dx64 = arena_take(a, b->n * b->in, sizeof(double));
    b->running_here = arena_take(a, network_running(&b->shape), sizeof(float));
    b->running64 = arena_take(a, network_running(&b->shape), sizeof(double));
    network_f64_lay_out(&b->net64, a, &b->shape, b->n, on_cpu());
    muon_f32_lay_out(&b->muon_here, a, &plan, on_cpu());
    optimiser_f32_lay_out(&b->adam_here, a, b->count, &rule, on_cpu());
}

static void lay_out_device(bench *b, arena *a)
{
    const muon_plan plan = muon_plan_of(&b->shape);
    const optimiser_settings rule = optimiser_adabelief();
    network_f32_lay_out(&b->net, a, &b->shape, b->n, &b->q->on);
    muon_f32_lay_out(&b->muon, a, &plan, &b->q->on);
    optimiser_f32_lay_out(&b->adam, a, b->count, &rule, &b->q->on);
    b->p = arena_take(a, b->count, sizeof(float));
    b->g = arena_take(a, b->count, sizeof(float));
    b->x = arena_take(a, b->n * b->in, sizeof(float));
    b->dx = arena_take(a, b->n * b->in, sizeof(float));
    b->t = arena_take(a, b->kept * b->out, sizeof(float));
    b->running = arena_take(a, network_running(&b->shape), sizeof(float));
    b->row = arena_take(a, b->n, sizeof(uint32_t));
    b->squares = arena_take(a, b->n, sizeof(double));
    b->dial = arena_take(a, 3, sizeof(backend_dial));
    b->tally = arena_take(a, 1, sizeof(dense_tally));
}

static void put_all(const bench *b)
{
    const dense_machine *m = b->q->does;
    m->put(b->q, b->count * sizeof(float), b->p_here, b->p);
    m->put(b->q, b->n * b->in * sizeof(float), b->x_here, b->x);
    m->put(b->q, b->kept * b->out * sizeof(float), b->t_here, b->t);
    m->put(b->q, b->n * sizeof(uint32_t), b->row_here, b->row);
    m->put(b->q, network_running(&b->shape) * sizeof(float), b->running_here, b->running);
}

static void open_bench(bench *b, const network_shape *shape, size_t n)
{
    lcg g = {7};
    *b = (bench){.shape = *shape, .n = n, .kept = n / 2 + 3};
    b->count = network_count(shape);
    b->in = network_in(shape);
    b->out = network_out(shape);
    assert_ok(on_device()->dense->open(&b->q, on_device(), n, &why));
    lay_out_host(b, &b->here);
    assert_ok(arena_open(&b->here, &why));
    lay_out_host(b, &b->here);
    lay_out_device(b, &b->there);
    assert_ok(b->q->on.claim(&b->q->on, &b->there, &why));
    lay_out_device(b, &b->there);
    network_f32_draw(shape, (rng){3, 4}, b->p_here, b->running_here);
    network_f64_draw(shape, (rng){3, 4}, b->p64, b->running64);
    for (size_t i = 0; i < b->count; i++) {
        b->p_here[i] += (float)(0.1 * lcg_normal(&g)); /* biases, too */
        b->p64[i] = (double)b->p_here[i];
    }
    for (size_t i = 0; i < n * b->in; i++) {
        b->x_here[i] = (float)lcg_normal(&g);
        b->x64[i] = (double)b->x_here[i];
    }
    for (size_t i = 0; i < b->kept * b->out; i++) {
        b->t_here[i] = (float)lcg_normal(&g);
    }
    for (size_t r = 0; r < n; r++) {
        b->row_here[r] = (uint32_t)((7 * r + 3) % b->kept);
    }
    put_all(b);
}

static void close_bench(bench *b)
{
    b->q->on.release(&b->q->on, &b->there);
    b->q->does->close(b->q);
    arena_close(&b->here);
}

/* Forward, misfit with factor 2, back, and its tally: queued or taken down. */
static void queue_pass(const bench *b)
{
    const dense_machine *m = b->q->does;
    const network_batch_f32 batch = {.parameters = b->p,
                                     .running = b->running,
                                     .n = b->n,
                                     .input = b->x,
                                     .gradient = b->g,
                                     .input_gradient = b->dx};
    const dense_misfit fit = {.rows = b->n,
                              .cols = b->out,
                              .factor = 2,
                              .row = b->row,
                              .target = b->t,
                              .y = network_f32_forward(&b->net, &batch),
                              .squares = b->squares};
    m->misfit(b->q, &fit);
    network_f32_backward(&b->net, &batch);
    m->tally(b->q, b->n, 0.5, b->squares, b->tally);
}

/* The same in double on the CPU; returns the sum of squares. */
static double exact_pass(bench *b)
{
    const network_batch_f64 batch = {.parameters = b->p64,
                                     .running = b->running64,
                                     .n = b->n,
                                     .input = b->x64,
                                     .gradient = b->g64,
                                     .input_gradient = b->dx64};
    double *y = network_f64_forward(&b->net64, &batch);
    double sum = 0;
    for (size_t i = 0; i < b->n * b->out; i++) {
        double e = y[i] - (double)b->t_here[b->row_here[i / b->out] * b->out + i % b->out];
        sum += e * e;
        y[i] = 2 * e;
    }
    network_f64_backward(&b->net64, &batch);
    return sum;
}

static void assert_close(const float *x, const double *y, size_t n)
{
    double most = 0;
    for (size_t i = 0; i < n; i++) {
        most = fmax(most, fabs(y[i]));
    }
    for (size_t i = 0; i < n; i++) {
        assert_near(x[i], y[i], 3e-5 * most);
    }
}

static void assert_pass(bench *b)
{
    const dense_machine *m = b->q->does;
    dense_tally t = {0};
    double sum = exact_pass(b);
    m->get(b->q, b->count * sizeof(float), b->g, b->g_here);
    m->get(b->q, b->n * b->in * sizeof(float), b->dx, b->dx_here);
    m->get(b->q, sizeof t, b->tally, &t);
    m->get(b->q, network_running(&b->shape) * sizeof(float), b->running, b->running_here);
    assert_ok(m->wait(b->q, &why));
    assert_close(b->g_here, b->g64, b->count);
    assert_close(b->dx_here, b->dx64, b->n * b->in);
    assert_close(b->running_here, b->running64, network_running(&b->shape));
    assert_near(t.sum, sum / 2 * t.steps, 1e-5 * t.sum);
    assert_near(t.lost, 0, 0);
}

static network_shape shape_of(activation between, activation last, bool bias)
{
    return network_dense(&(network_stack){.layers = 4,
                                          .width = (size_t[]){5, 16, 67, 33, 131},
                                          .between = between,
                                          .last = last,
                                          .bias = bias});
}

static void passes_match_the_cpu(void **state)
{
    (void)state;
    static const size_t rows[] = {1, 31, 100, 257};
    for (int f = 0; f < ACTIVATION_COUNT; f++) {
        for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
            const network_shape shape =
                shape_of((activation)f, k % 2 == 0 ? ACTIVATION_IDENTITY : ACTIVATION_SIGMOID,
                         (size_t)f % 2 == k % 2);
            bench b;
            open_bench(&b, &shape, rows[k]);
            queue_pass(&b);
            assert_pass(&b);
            close_bench(&b);
        }
    }
}

/* With norms between layers, whose averages move. */
static void norms_match_the_cpu(void **state)
{
    (void)state;
    static const size_t rows[] = {23, 130};
    for (size_t k = 0; k < 2; k++) {
        const network_shape shape =
            network_normed(&(network_stack){.layers = 3,
                                            .width = (size_t[]){5, 40, 33, 7},
                                            .between = ACTIVATION_ELU,
                                            .last = ACTIVATION_IDENTITY,
                                            .bias = true});
        bench b;
        open_bench(&b, &shape, rows[k]);
        queue_pass(&b);
        assert_pass(&b);
        close_bench(&b);
    }
}

/* At the ends of float and at NaN, as the CPU has them. */
static void activations_match_the_cpu(void **state)
{
    (void)state;
    enum { N = 12 };
    static const float at[N] = {NAN, INFINITY, -INFINITY, 1e30F, -1e30F, 0,
                                100, -100,     -11,       11,    1e-8F,  -0.3F};
    for (int f = ACTIVATION_GELU; f < ACTIVATION_COUNT; f++) {
        dense_queue *q = NULL;
        arena there = {0};
        float value[N];
        float slope[N];
        float value_there[N];
        float slope_there[N];
        assert_ok(on_device()->dense->open(&q, on_device(), 1, &why));
        (void)arena_take(&there, 2 * N, sizeof(float));
        assert_ok(q->on.claim(&q->on, &there, &why));
        float *h = arena_take(&there, 2 * N, sizeof(float));
        memcpy(value, at, sizeof at);
        q->does->put(q, sizeof at, at, h);
        on_cpu()->backend_f32->activate(on_cpu(), (activation)f, 1, N, NULL, value, slope);
        q->on.backend_f32->activate(&q->on, (activation)f, 1, N, NULL, h, h + N);
        q->does->get(q, sizeof at, h, value_there);
        q->does->get(q, sizeof at, h + N, slope_there);
        assert_ok(q->does->wait(q, &why));
        for (int i = 0; i < N; i++) {
            assert_true(isnan(value[i]) == isnan(value_there[i]));
            assert_true(isnan(slope[i]) == isnan(slope_there[i]));
            assert_true(isnan(value[i]) || value[i] == value_there[i] ||
                        fabs((double)(value[i] - value_there[i])) <=
                            1e-6 * fmax(fabs((double)value[i]), 1));
            assert_true(isnan(slope[i]) || fabs((double)(slope[i] - slope_there[i])) <= 1e-6);
        }
        q->on.release(&q->on, &there);
        q->does->close(q);
    }
}

/* Products of all kinds, by way of the queue. */
static void products_match_their_sums(void **state)
{
    (void)state;
    enum { M = 45, N = 70, K = 33 };
    static float a[M * K], b[K * N], c[M * N], add[M * N];
    dense_queue *q = NULL;
    arena there = {0};
    lcg g = {9};
    assert_ok(on_device()->dense->open(&q, on_device(), 1, &why));
    (void)arena_take(&there, M * K + K * N + 2 * M * N + 1, sizeof(float));
    assert_ok(q->on.claim(&q->on, &there, &why));
    float *a_there = (float *)arena_take(&there, M * K + K * N + 2 * M * N + 1, sizeof(float)) + 1;
    float *b_there = a_there + M * K; /* at odd addresses */
    float *c_there = b_there + K * N;
    float *add_there = c_there + M * N;
    for (int kind = 0; kind < 12; kind++) {
        bool flip_a = kind % 2 == 1;
        bool flip_b = kind / 2 % 2 == 1;
        float beta = kind < 4 ? 0 : -0.5F;
        bool apart = kind >= 8;
        for (int i = 0; i < M * K; i++) {
            a[i] = (float)lcg_normal(&g);
        }
        for (int i = 0; i < K * N; i++) {
            b[i] = (float)lcg_normal(&g);
        }
        for (int i = 0; i < M * N; i++) {
            add[i] = (float)lcg_normal(&g);
            c[i] = apart || beta == 0 ? NAN : add[i];
        }
        q->does->put(q, sizeof a, a, a_there);
        q->does->put(q, sizeof b, b, b_there);
        q->does->put(q, sizeof c, c, c_there);
        q->does->put(q, sizeof add, add, add_there);
        q->on.backend_f32->gemm(&q->on, &(product_f32){.flip_a = flip_a,
                                                       .flip_b = flip_b,
                                                       .m = M,
                                                       .n = N,
                                                       .k = K,
                                                       .alpha = 1.5F,
                                                       .beta = beta,
                                                       .a = a_there,
                                                       .b = b_there,
                                                       .add = apart ? add_there : NULL,
                                                       .c = c_there});
        q->does->get(q, sizeof c, c_there, c);
        assert_ok(q->does->wait(q, &why));
        for (int i = 0; i < M; i++) {
            for (int j = 0; j < N; j++) {
                double sum = 0;
                for (int k = 0; k < K; k++) {
                    sum += (double)a[flip_a ? k * M + i : i * K + k] *
                           (double)b[flip_b ? j * K + k : k * N + j];
                }
                assert_near(c[i * N + j], 1.5 * sum + (double)beta * (double)add[i * N + j], 1e-4);
            }
        }
    }
    q->on.release(&q->on, &there);
    q->does->close(q);
}

/* A step taken down and done three times is three steps; the same bits as three that were queued.
 */
static void steps_are_taken_down(void **state)
{
    (void)state;
    enum { STEPS = 3 };
    const network_shape shape = shape_of(ACTIVATION_RELU, ACTIVATION_IDENTITY, true);
    float *after[2] = {0};
    for (int taken = 0; taken < 2; taken++) {
        bench b;
        dense_steps *steps = NULL;
        open_bench(&b, &shape, 50);
        const dense_machine *m = b.q->does;
        if (taken == 1) {
            assert_ok(m->record(b.q, &why));
            queue_pass(&b);
            muon_f32_descend(&b.muon, b.dial, b.p, b.g);
            assert_ok(m->recorded(b.q, &steps, &why));
        }
        for (int k = 0; k < STEPS; k++) {
            backend_dial dial[MUON_DIALS];
            b.muon.steps++;
            muon_f32_dials(&b.muon, 0.01 / (k + 1), dial);
            m->put(b.q, sizeof dial, dial, b.dial);
            if (taken == 1) {
                m->replay(b.q, steps);
            } else {
                queue_pass(&b);
                muon_f32_descend(&b.muon, b.dial, b.p, b.g);
            }
        }
        after[taken] = test_malloc(b.count * sizeof(float));
        m->get(b.q, b.count * sizeof(float), b.p, after[taken]);
        dense_tally t = {0};
        m->get(b.q, sizeof t, b.tally, &t);
        assert_ok(m->wait(b.q, &why));
        assert_near(t.steps, STEPS, 0);
        if (taken == 1) {
            assert_memory_equal(after[0], after[1], b.count * sizeof(float));
        }
        m->forget(steps);
        close_bench(&b);
    }
    test_free(after[0]);
    test_free(after[1]);
}

/* Muon and AdaBelief from the same gradients. */
static void optimisers_match_the_cpu(void **state)
{
    (void)state;
    const network_shape shape = shape_of(ACTIVATION_RELU, ACTIVATION_IDENTITY, true);
    bench b;
    lcg g = {12};
    open_bench(&b, &shape, 1);
    const dense_machine *m = b.q->does;
    float *there = test_malloc(b.count * sizeof(float));
    const double rate = 0.02;
    b.muon.plan.decay = b.muon_here.plan.decay = 0.3;
    for (int k = 0; k < 4; k++) {
        for (size_t i = 0; i < b.count; i++) {
            b.g_here[i] = (float)lcg_normal(&g);
        }
        m->put(b.q, b.count * sizeof(float), b.g_here, b.g);
        backend_dial dial[3];
        b.muon.steps++;
        b.adam.steps++;
        muon_f32_dials(&b.muon, rate, dial);
        dial[2] = optimiser_f32_dial(&b.adam, rate);
        m->put(b.q, sizeof dial, dial, b.dial);
        muon_f32_descend(&b.muon, b.dial, b.p, b.g);
        optimiser_f32_descend(&b.adam, 0, b.count, b.dial + 2, b.p, b.g);
        const optimiser_group all = {b.count, rate};
        muon_f32_step(&b.muon_here, rate, b.p_here, b.g_here);
        optimiser_f32_step(&b.adam_here, &all, 1, b.p_here, b.g_here);
    }
    m->get(b.q, b.count * sizeof(float), b.p, there);
    assert_ok(m->wait(b.q, &why));
    for (size_t i = 0; i < b.count; i++) {
        assert_near(there[i], b.p_here[i], 2e-5);
    }
    test_free(there);
    close_bench(&b);
}

/* A NaN in one row reaches every gradient, and the tally says when. */
static void not_a_number_comes_through(void **state)
{
    (void)state;
    const network_shape shape = shape_of(ACTIVATION_GELU, ACTIVATION_IDENTITY, true);
    bench b;
    dense_tally t = {0};
    open_bench(&b, &shape, 40);
    const dense_machine *m = b.q->does;
    queue_pass(&b);
    b.x_here[b.in] = NAN;
    m->put(b.q, b.n * b.in * sizeof(float), b.x_here, b.x);
    queue_pass(&b);
    queue_pass(&b);
    m->get(b.q, b.count * sizeof(float), b.g, b.g_here);
    m->get(b.q, sizeof t, b.tally, &t);
    assert_ok(m->wait(b.q, &why));
    assert_true(isnan(b.g_here[0]) && isnan(b.g_here[b.count - 1]));
    assert_near(t.lost, 2, 0);
    assert_near(t.steps, 3, 0);
    close_bench(&b);
}

/* Rows come from where they are kept, more bytes than pages hold at once; none are none. */
static void rows_are_gathered(void **state)
{
    (void)state;
    enum { ROWS = 700001, COLS = 4, N = 77 };
    dense_queue *q = NULL;
    arena there = {0};
    float *all = test_malloc(sizeof(float) * ROWS * COLS);
    float out[N * COLS];
    uint32_t row[N];
    float *from = NULL;
    float *to = NULL;
    uint32_t *which = NULL;
    for (size_t i = 0; i < (size_t)ROWS * COLS; i++) {
        all[i] = (float)i;
    }
    for (size_t r = 0; r < N; r++) {
        row[r] = (uint32_t)(r * 9001);
    }
    assert_ok(on_device()->dense->open(&q, on_device(), 1, &why));
    for (int pass = 0; pass < 2; pass++) {
        from = arena_take(&there, (size_t)ROWS * COLS, sizeof(float));
        to = arena_take(&there, N * COLS, sizeof(float));
        which = arena_take(&there, N, sizeof(uint32_t));
        if (pass == 0) {
            assert_ok(q->on.claim(&q->on, &there, &why));
        }
    }
    q->does->put(q, sizeof(float) * ROWS * COLS, all, from);
    q->does->put(q, sizeof row, row, which);
    q->does->gather(q, N, COLS, which, from, to);
    q->does->gather(q, 0, COLS, which, from, to);
    q->does->misfit(q, &(dense_misfit){.rows = 0, .cols = COLS});
    q->does->get(q, sizeof out, to, out);
    assert_ok(q->does->wait(q, &why));
    for (size_t i = 0; i < (size_t)N * COLS; i++) {
        assert_near(out[i], all[row[i / COLS] * COLS + i % COLS], 0);
    }
    q->on.release(&q->on, &there);
    q->does->close(q);
    test_free(all);
}

static void memory_that_is_not_there(void **state)
{
    (void)state;
    dense_queue *q = NULL;
    arena there = {0};
    assert_ok(on_device()->dense->open(&q, on_device(), 1, &why));
    (void)arena_take(&there, (size_t)1 << 44, 1);
    assert_fails(q->on.claim(&q->on, &there, &why), LSCM_MEMORY, "MB are needed");
    there = (arena){0};
    (void)arena_take(&there, 100, 1);
    assert_ok(q->on.claim(&q->on, &there, &why));
    q->on.release(&q->on, &there);
    q->does->close(q);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(norms_match_the_cpu),        cmocka_unit_test(passes_match_the_cpu),
        cmocka_unit_test(activations_match_the_cpu),  cmocka_unit_test(products_match_their_sums),
        cmocka_unit_test(steps_are_taken_down),       cmocka_unit_test(optimisers_match_the_cpu),
        cmocka_unit_test(not_a_number_comes_through), cmocka_unit_test(rows_are_gathered),
        cmocka_unit_test(memory_that_is_not_there),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
