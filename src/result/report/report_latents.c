/* The causal variables against the true ones, where do() left them alone: a dot for each of some
 * hundred rows, spread evenly over the data. On the dotted line they are the same. */
#include "result/report/report_state.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_NODES = 30, MOST_ROWS = 500, SIDE = 150, MARGIN = 6, LEFT = 30, BOTTOM = 17 };

bool has_latents(const report *r)
{
    return r->data != NULL && r->data->shape[LSCM_Z].present && r->p->rows > 0;
}

typedef struct pairs {
    size_t rows;
    double *found, *truth, *mask; /* (rows, d) */
} pairs;

static lscm_status read_pairs(const report *r, pairs *s, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    size_t d = r->d;
    bool masks = r->data->shape[LSCM_TARGETS].present;
    for (size_t k = 0; k < s->rows; k++) {
        size_t row = k * r->p->rows / s->rows;
        for (size_t i = 0; i < d; i++) {
            s->found[k * d + i] = r->p->z[row * d + i];
        }
        TRY(lscm_dataset_read(r->data, LSCM_Z, row, 1, s->truth + k * d, why));
        if (masks) {
            TRY(lscm_dataset_read(r->data, LSCM_TARGETS, row, 1, s->mask + k * d, why));
        }
    }
done:
    return status;
}

typedef struct fit_line {
    double low, high; /* of both axes */
    double correlation;
    size_t count;
} fit_line;

static fit_line compare(const report *r, const pairs *s, size_t node)
{
    fit_line f = {INFINITY, -INFINITY, NAN, 0};
    double sum[2] = {0};
    double square[3] = {0};
    for (int pass = 0; pass < 2; pass++) {
        for (size_t k = 0; k < s->rows; k++) {
            size_t at_node = k * r->d + node;
            double a = s->found[at_node];
            double b = s->truth[at_node];
            if (s->mask[at_node] != 0) {
                continue;
            }
            if (pass == 0) {
                f.low = fmin(f.low, fmin(a, b));
                f.high = fmax(f.high, fmax(a, b));
                f.count++;
                sum[0] += a;
                sum[1] += b;
                continue;
            }
            a -= sum[0] / (double)f.count;
            b -= sum[1] / (double)f.count;
            square[0] += a * a;
            square[1] += b * b;
            square[2] += a * b;
        }
    }
    f.correlation = square[2] / sqrt(square[0] * square[1]);
    double range = f.high > f.low ? f.high - f.low : 1;
    f.low -= 0.03 * range;
    f.high += 0.03 * range;
    return f;
}

/* Where a value lies on a side of the square inside the axes. */
static double scaled(const fit_line *f, double value)
{
    return MARGIN + (value - f->low) / (f->high - f->low) * (SIDE - 2 * MARGIN);
}

/* 1, 2 or 5 times a power of ten, so that there are two to four of them. */
static double tick_step(double range)
{
    double power = pow(10, floor(log10(range / 2)));
    double times = range / 2 / power;
    return (times >= 5 ? 5 : times >= 2 ? 2 : 1) * power;
}

/* The same values along both axes, which have one scale. */
static void put_ticks(const report *r, const fit_line *f)
{
    double step = tick_step(f->high - f->low);
    double first = ceil(f->low / step);
    for (int k = 0; (first + k) * step <= f->high; k++) {
        double value = (first + k) * step;
        double at = scaled(f, value);
        number label = round_number(value);
        (void)fprintf(r->out, "<path class=\"axis\" d=\"M%s", coordinate(LEFT + at).text);
        (void)fprintf(r->out, " %dv4M%d ", (int)SIDE, LEFT - 4);
        (void)fprintf(r->out, "%sh4\"/>", coordinate(SIDE - at).text);
        (void)fprintf(r->out, "<text class=\"tick\" text-anchor=\"middle\" x=\"%s\" ",
                      coordinate(LEFT + at).text);
        (void)fprintf(r->out, "y=\"%d\">%s</text>", SIDE + BOTTOM - 2, label.text);
        (void)fprintf(r->out, "<text class=\"tick\" text-anchor=\"end\" x=\"%d\" ", LEFT - 6);
        (void)fprintf(r->out, "y=\"%s\">%s</text>", coordinate(SIDE - at + 4).text, label.text);
    }
}

static void put_figure(const report *r, const pairs *s, size_t node, const fit_line *f)
{
    (void)fputs("<figure>\n<figcaption><b>", r->out);
    put_node(r, node);
    (void)fprintf(r->out, "</b> <span class=\"soft\">correlation %s</span></figcaption>\n",
                  decimals(f->correlation, 3).text);
    (void)fprintf(r->out, "<svg role=\"img\" viewBox=\"0 0 %d %d\"><title>", LEFT + SIDE,
                  SIDE + BOTTOM);
    put_node(r, node);
    (void)fprintf(r->out,
                  ": inferred against true</title><rect class=\"axis\" x=\"%d\" y=\"1\" "
                  "width=\"%d\" height=\"%d\"/><path class=\"zero\" d=\"M%d %dL%d %d\"/>",
                  (int)LEFT, SIDE - 1, SIDE - 1, LEFT + MARGIN, SIDE - MARGIN, LEFT + SIDE - MARGIN,
                  (int)MARGIN);
    put_ticks(r, f);
    (void)fputs("<path class=\"dots\" d=\"", r->out);
    for (size_t k = 0; k < s->rows; k++) {
        size_t at_node = k * r->d + node;
        if (s->mask[at_node] == 0) {
            (void)fprintf(r->out, "M%s", fixed(LEFT + scaled(f, s->truth[at_node]), 1).text);
            (void)fprintf(r->out, " %sh0", fixed(SIDE - scaled(f, s->found[at_node]), 1).text);
        }
    }
    (void)fputs("\"/></svg>\n</figure>\n", r->out);
}

static void put_words(const report *r, const pairs *s)
{
    (void)fprintf(
        r->out,
        "<p>Each dot is a row of the data in which do() left the variable alone: the "
        "true value to the right, the inferred one upwards. On the dotted line both are "
        "the same. Over all rows and variables the correlation is %s.</p>\n",
        decimals(isnan(r->scores.mcc_free) ? r->scores.mcc_named : r->scores.mcc_free, 3).text);
    const char *method = json_string_value(json_object_get(r->summary, "method"));
    if (method != NULL && strcmp(method, "biols") == 0) {
        (void)fputs("<p>This method does not read variables off x: inferred is what it expects "
                    "given the interventions alone, so causes that nothing was done to are all "
                    "alike.</p>\n",
                    r->out);
    }
    if (s->rows < r->p->rows || r->d > MOST_NODES) {
        (void)fprintf(r->out, "<p class=\"soft\">Shown are %zu of %zu rows", s->rows, r->p->rows);
        if (r->d > MOST_NODES) {
            (void)fprintf(r->out, " and the first %d of %zu variables in the causal order",
                          (int)MOST_NODES, r->d);
        }
        (void)fputs(".</p>\n", r->out);
    }
}

lscm_status report_latents(const report *r, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    pairs s = {.rows = r->p->rows < MOST_ROWS ? r->p->rows : MOST_ROWS};
    size_t size = s.rows * r->d;
    if (!has_latents(r)) {
        return LSCM_OK;
    }
    s.found = calloc(3 * size, sizeof *s.found);
    if (s.found == NULL) {
        return fail_memory(why, 3 * size * sizeof *s.found);
    }
    s.truth = s.found + size;
    s.mask = s.truth + size;
    TRY(read_pairs(r, &s, why));
    section_open(r->out, "latents", "The variables against the truth");
    put_words(r, &s);
    (void)fputs("<div class=\"small\">\n", r->out);
    for (size_t k = 0; k < r->d && k < MOST_NODES; k++) {
        fit_line f = compare(r, &s, r->order[k]);
        if (f.count > 0) {
            put_figure(r, &s, r->order[k], &f);
        }
    }
    (void)fputs("</div>\n", r->out);
    section_close(r->out);
done:
    free(s.found);
    return status;
}
