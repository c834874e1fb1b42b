/* The kernel's large factors go to the device that has a machine for them, small ones do not, and
 * what the device says is heard. The machine is a fake that asks LAPACK. */
#include "backend/cholesky_machine.h"
#include "base/tuned.h"
#include "infer/kernel/kernel.h"
#include "kernel_testing.h"

#include <lapacke.h>

/* What the fake was asked, and what it is to say. */
typedef struct asked {
    size_t times, largest;
    lscm_status says;
} asked;

static lscm_status factor(const device *on, size_t n, float *a, size_t *minor, lscm_error *why_not)
{
    asked *self = on->self;
    self->times++;
    self->largest = n > self->largest ? n : self->largest;
    if (self->says != LSCM_OK) {
        why_not->status = self->says;
        (void)snprintf(why_not->text, sizeof why_not->text, "the fake is full");
        return self->says;
    }
    lapack_int info = LAPACKE_spotrf(LAPACK_COL_MAJOR, 'U', (lapack_int)n, a, (lapack_int)n);
    *minor = info > 0 ? (size_t)info : 0;
    return LSCM_OK;
}

static device with_machine(asked *self)
{
    static const cholesky_machine machine = {factor};
    return (device){.cholesky = &machine, .self = self};
}

/* 2 on the diagonal, 1/2 beside it; not definite where `spoilt` says so. */
static float *banded(size_t n, size_t spoilt)
{
    float *a = calloc(n * n, sizeof *a);
    assert_non_null(a);
    for (size_t i = 0; i < n; i++) {
        a[i * n + i] = i == spoilt ? -1 : 2;
        if (i > 0) {
            a[i * n + i - 1] = 0.5F;
        }
    }
    return a;
}

static void large_ones_are_sent(void **state)
{
    (void)state;
    asked self = {0};
    device on = with_machine(&self);
    for (size_t n = tuned_device_labels() - 1; n <= tuned_device_labels(); n++) {
        bool definite = false;
        float *a = banded(n, n);
        assert_ok(kernel_cholesky_on(&on, a, n, &definite, &why));
        assert_true(definite);
        assert_int_equal(self.times, n == tuned_device_labels() ? 1 : 0);
        /* l_ii^2 = 2 - 1/(4 l_(i-1)^2), which settles */
        double square = 2;
        for (size_t i = 1; i < n; i++) {
            square = 2 - 0.25 / square;
        }
        assert_near((double)a[n * n - 1], sqrt(square), 1e-6);
        free(a);
    }
}

static void a_device_without_a_machine_is_none(void **state)
{
    (void)state;
    size_t n = tuned_device_labels();
    const device plain = {0};
    const device *none[] = {&plain, NULL};
    for (size_t k = 0; k < 2; k++) {
        bool definite = true;
        float *a = banded(n, 3);
        assert_ok(kernel_cholesky_on(none[k], a, n, &definite, &why));
        assert_false(definite);
        free(a);
    }
}

static void what_the_device_says_is_heard(void **state)
{
    (void)state;
    asked self = {0};
    device on = with_machine(&self);
    size_t n = tuned_device_labels();
    bool definite = true;
    float *a = banded(n, 17);
    assert_ok(kernel_cholesky_on(&on, a, n, &definite, &why));
    assert_false(definite);
    self.says = LSCM_MEMORY;
    assert_fails(kernel_cholesky_on(&on, a, n, &definite, &why), LSCM_MEMORY, "the fake is full");
    free(a);
}

/* The encoder itself: 4 500 labels of one node. */
static void an_encoder_uses_it(void **state)
{
    (void)state;
    rows_of r = make(CURVED, 11500, 1, 3, 40, 0.01);
    asked self = {0};
    device on = with_machine(&self);
    kernel_settings s = {.family = KERNEL_BIASED, .ridge = 1e-2, .rows = 5000, .sd_rows = 50};
    encoded cpu = encode(&r, s);
    s.on = &on;
    encoded other = encode(&r, s);
    assert_true(self.times > 0);
    assert_true(self.largest >= tuned_device_labels());
    for (size_t i = 0; i < r.f.rows; i++) {
        assert_near(other.z[i], cpu.z[i], 1e-3);
        assert_near(other.sd[i], cpu.sd[i], 1e-3);
    }
    self.says = LSCM_MEMORY;
    kernel_encoder e = {0};
    assert_fails(kernel_encode(&e, other.z, other.sd, &r.f, &s, NULL, &why), LSCM_MEMORY,
                 "the fake is full");
    discard(&cpu);
    discard(&other);
    drop(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(large_ones_are_sent),
        cmocka_unit_test(a_device_without_a_machine_is_none),
        cmocka_unit_test(what_the_device_says_is_heard),
        cmocka_unit_test(an_encoder_uses_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
