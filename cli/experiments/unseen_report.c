/* What unseen-interventions leaves: a table, a CSV and a figure. The CSV has a row for each do(),
 * written as lscm sample --do takes it, and one for their mean; every row says where it is from, so
 * that the files of several runs can be put together. */
#include "experiments/unseen.h"

#include <jansson.h>
#include <libsmartcols/libsmartcols.h>
#include <stdlib.h>
#include <string.h>

static const char *const KEYS[PREDICTIONS] = {"posterior", "empty_graph", "true_model"};
static const char *const TITLES[PREDICTIONS] = {"posterior", "empty graph", "true model"};

double unseen_average(const unseen *u, int by)
{
    double sum = 0;
    for (size_t k = 0; k < u->count; k++) {
        sum += u->error[by][k];
    }
    return sum / (double)u->count;
}

/* "0=1.5,3=-2"; `digits` of each value. */
static void print_do(FILE *out, const unseen *u, size_t k, int digits)
{
    const char *comma = "";
    for (size_t i = 0; i < u->d; i++) {
        if (u->targets[k * u->d + i] != 0) {
            (void)fprintf(out, "%s%zu=%.*g", comma, i, digits, u->values[k * u->d + i]);
            comma = ",";
        }
    }
}

static void write_row(FILE *out, const unseen *u, size_t k)
{
    const lscm_simulation *s = u->settings;
    (void)fprintf(out, "%s,%lld,%g,%lld,%zu,", u->preset, (long long)s->nodes, s->degree,
                  (long long)s->seed, u->samples);
    if (k < u->count) {
        (void)fputc('"', out);
        print_do(out, u, k, 17);
        (void)fputc('"', out);
    } else {
        (void)fputs("mean", out);
    }
    for (int by = 0; by < PREDICTIONS; by++) {
        (void)fprintf(out, ",%.17g", k < u->count ? u->error[by][k] : unseen_average(u, by));
    }
    (void)fputc('\n', out);
}

void unseen_write_csv(FILE *out, const void *self)
{
    const unseen *u = self;
    (void)fputs("preset,nodes,degree,seed,samples,do", out);
    for (int by = 0; by < PREDICTIONS; by++) {
        (void)fprintf(out, ",%s", KEYS[by]);
    }
    (void)fputc('\n', out);
    for (size_t k = 0; k <= u->count; k++) {
        write_row(out, u, k);
    }
}

/* ---- the figure */

enum { ROWS = 3, GAP = 2 };

static double as_light(double value)
{
    return value < 0 ? 0 : value > 1 ? 1 : value; /* decoders may go a little beyond [0, 1] */
}

/* True, predicted, and how they differ (grey: not at all), one below the other. */
static void put_column(const unseen *u, size_t k, double *out)
{
    size_t tall = u->height + GAP;
    const double *truth = u->truth + k * u->features;
    const double *predicted = u->predicted + k * u->features;
    for (size_t at = 0; at < u->features; at++) {
        out[at] = as_light(truth[at]);
        out[tall * u->width + at] = as_light(predicted[at]);
        out[2 * tall * u->width + at] = as_light(0.5 + (predicted[at] - truth[at]) / 2);
    }
}

lscm_status unseen_figure(const unseen *u, lscm_dataset **out, double **pixels, lscm_error *why)
{
    size_t height = ROWS * (u->height + GAP) - GAP;
    size_t each = height * u->width;
    double *columns = malloc(u->count * each * sizeof *columns);
    *pixels = columns;
    if (columns == NULL) {
        return cli_explain(why, LSCM_MEMORY, "out of memory");
    }
    for (size_t i = 0; i < u->count * each; i++) {
        columns[i] = 1;
    }
    for (size_t k = 0; k < u->count; k++) {
        put_column(u, k, columns + k * each);
    }
    /* what was set is written under each by whoever saves pictures */
    const lscm_arrays arrays = {.rows = u->count,
                                .nodes = u->d,
                                .features = each,
                                .x = columns,
                                .targets = u->targets,
                                .values = u->values,
                                .height = height,
                                .width = u->width};
    return lscm_dataset_wrap(out, &arrays, why);
}

/* ---- on the screen */

static void print_json(const unseen *u, const results *r)
{
    json_t *errors = json_object();
    for (int by = 0; by < PREDICTIONS; by++) {
        (void)json_object_set_new(errors, KEYS[by], json_real(unseen_average(u, by)));
    }
    json_t *all =
        json_pack("{s:s, s:I, s:f, s:I, s:I, s:I, s:f, s:o, s:s, s:s*}", "preset", u->preset,
                  "nodes", (json_int_t)u->settings->nodes, "degree", u->settings->degree, "seed",
                  (json_int_t)u->settings->seed, "count", (json_int_t)u->count, "samples",
                  (json_int_t)u->samples, "fit_seconds", u->seconds, "mse", errors, "csv", r->csv,
                  "png", u->height > 0 ? r->png : NULL);
    (void)json_dumpf(all, stdout, 0);
    (void)putchar('\n');
    json_decref(all);
}

static void add_line(struct libscols_table *table, const unseen *u, size_t k)
{
    struct libscols_line *line = scols_table_new_line(table, NULL);
    char *text = NULL;
    size_t size = 0;
    FILE *memory = open_memstream(&text, &size);
    if (line != NULL && memory != NULL) {
        if (k < u->count) {
            print_do(memory, u, k, 3);
        } else {
            (void)fputs("mean", memory);
        }
        (void)fflush(memory);
        (void)scols_line_set_data(line, 0, text);
        for (int by = 0; by < PREDICTIONS; by++) {
            char number[32];
            double error = k < u->count ? u->error[by][k] : unseen_average(u, by);
            (void)snprintf(number, sizeof number, "%.3g", error);
            (void)scols_line_set_data(line, 1 + (size_t)by, number);
        }
    }
    if (memory != NULL) {
        (void)fclose(memory);
    }
    free(text);
}

void unseen_print(const unseen *u, const results *r, bool json)
{
    if (json) {
        print_json(u, r);
        return;
    }
    (void)printf("%s, %lld nodes, degree %g, seed %lld: fitted in %.1f s\n"
                 "mean squared error of the mean %s under do() over %zu rows:\n\n",
                 u->preset, (long long)u->settings->nodes, u->settings->degree,
                 (long long)u->settings->seed, u->seconds, u->height > 0 ? "picture" : "of x",
                 u->samples);
    struct libscols_table *table = scols_new_table();
    if (table != NULL) {
        (void)scols_table_new_column(table, "do", 0, 0);
        for (int by = 0; by < PREDICTIONS; by++) {
            (void)scols_table_new_column(table, TITLES[by], 0, SCOLS_FL_RIGHT);
        }
        for (size_t k = 0; k <= u->count; k++) {
            add_line(table, u, k);
        }
        (void)scols_print_table(table);
        scols_unref_table(table);
    }
    if (u->height > 0) {
        (void)printf("\n%s: from above, true means, predicted means, difference (grey: none)\n%s\n",
                     r->png, r->csv);
    } else {
        (void)printf("\n%s\n", r->csv);
    }
}
