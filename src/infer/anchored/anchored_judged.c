/* What is judged where x is linear in z, or observed: inference on the rows kept. Where z can be
 * drawn row by row those rows become a view of their own, so that whatever sampler the fit has its
 * judgement has, too. z of all rows is read off by the encoder that came of it, with what its
 * errors are: by noise of x alike in all rows (blur), by the encoder's own error in each (doubt).
 */
#include "infer/anchored/anchored_judged.h"

#include "base/tuned.h"
#include "infer/anchored/anchored_infer.h"
#include "infer/encoder/encoder.h"
#include "infer/sample/sample.h"

#include <string.h>

static void lay_out(judged_fit *f, const linear_view *s)
{
    arena *m = &f->memory;
    f->a.z = arena_take(m, s->rows * s->d, sizeof(double));
    f->blur = arena_take(m, s->d * s->d, sizeof(double));
    f->doubt = arena_take(m, s->rows * s->d, sizeof(double));
}

/* z and its errors, by the mean encoder. */
static lscm_status read_rows(judged_fit *f, const linear_view *s, const uint8_t *keep,
                             lscm_error *why)
{
    lscm_status status = LSCM_OK;
    lay_out(f, s);
    TRY(arena_open(&f->memory, why));
    lay_out(f, s);
    f->a.rows = s->rows;
    anchor_apply(s, f->a.shift, f->a.slope, f->a.z);
    encoder_blur(s, &f->a, f->blur);
#pragma omp parallel for schedule(static)
    for (size_t row = 0; row < s->rows; row++) {
        if (!row_counts(keep, row)) {
            encoder_doubt(&f->a, s->y + row * s->rank, f->doubt + row * s->d);
        }
    }
done:
    return status;
}

static lscm_status fit_view(const void *self, const uint8_t *keep, judged_fit *out, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    const anchored_input *in = self;
    const linear_view *s = in->view;
    anchored_input part = *in;
    linear_view kept = {0};
    part.keep = keep;
    part.draws = tuned_judge_draws();
    part.brief = true;
    if (s->kind == VIEW_LINEAR && anchored_rows_few(s)) {
        TRY(linear_view_keep(&kept, s, keep, why));
        part.view = &kept;
        part.keep = NULL;
        part.weight = part.noise_sd = NULL; /* of all rows */
    }
    TRY(anchored_infer(&out->a, &part, why));
    if (s->kind == VIEW_LINEAR) {
        TRY(read_rows(out, s, keep, why));
    }
done:
    linear_view_close(&kept);
    return status;
}

static lscm_status fit_read(const void *self, const uint8_t *keep, judged_fit *out, lscm_error *why)
{
    const read_again *r = self;
    anchored_input part = r->in;
    part.view = &r->view;
    part.keep = keep;
    part.draws = tuned_judge_draws();
    part.brief = true;
    return anchored_infer(&out->a, &part, why);
}

static void lay_out_read(read_again *r, size_t rows, size_t d, double **blur)
{
    r->view.y = arena_take(&r->memory, rows * d, sizeof(double));
    r->view.spectrum = arena_take(&r->memory, d, sizeof(double));
    *blur = arena_take(&r->memory, d * d * d, sizeof(double));
}

lscm_status read_again_open(read_again *out, const anchored_input *in, const anchored *a,
                            lscm_error *why)
{
    lscm_status status = LSCM_OK;
    const linear_view *s = in->view;
    size_t d = s->d;
    double *blur = NULL;
    read_again r = {.in = *in,
                    .view = {.kind = VIEW_READ_OFF,
                             .rows = s->rows,
                             .d = d,
                             .D = d,
                             .rank = d,
                             .design = s->design}};
    lay_out_read(&r, s->rows, d, &blur);
    TRY(arena_open(&r.memory, why));
    lay_out_read(&r, s->rows, d, &blur);
    memcpy(r.view.y, s->kind == VIEW_LINEAR ? a->z : s->y, s->rows * d * sizeof(double));
    design_put(&s->design, r.view.y, NULL);
    for (size_t j = 0; j < d; j++) {
        column_spread own = {0};
        for (size_t row = 0; row < s->rows; row++) {
            spread_add(&own, r.view.y[row * d + j]);
        }
        r.view.spectrum[j] = own.squares / own.n;
    }
    if (s->kind == VIEW_LINEAR) {
        encoder_blur(s, a, blur);
        for (size_t i = 1; i < d; i++) {
            memcpy(blur + i * d * d, blur, d * d * sizeof(double));
        }
        r.in.blur = s->x_noise > 0 ? blur : NULL;
    }
    r.in.leak = r.in.reach = NULL;
    r.in.unknown = NULL;
    r.in.ridge = a->ridge;
    r.in.hole = a->hole;
    r.in.log_odds = a->log_odds;
    *out = r;
    r.memory = (arena){0};
done:
    arena_close(&r.memory);
    return status;
}

void read_again_close(read_again *r)
{
    arena_close(&r->memory);
}

judged read_again_judged(const read_again *r)
{
    return (judged){&r->view.design, (uint64_t)r->in.settings->seed, 0, fit_read, r};
}

judged anchored_judged(const anchored_input *in)
{
    const design *s = &in->view->design;
    size_t labels = in->view->kind == VIEW_OBSERVED ? 0 : judged_labels(s->d);
    return (judged){s, (uint64_t)in->settings->seed, labels, fit_view, in};
}
