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
    }
    TRY(anchored_infer(&out->a, &part, why));
    if (s->kind == VIEW_LINEAR) {
        TRY(read_rows(out, s, keep, why));
    }
done:
    linear_view_close(&kept);
    return status;
}

judged anchored_judged(const anchored_input *in)
{
    const design *s = &in->view->design;
    size_t labels = in->view->kind == VIEW_OBSERVED ? 0 : judged_labels(s->d);
    return (judged){s, (uint64_t)in->settings->seed, labels, fit_view, in};
}
