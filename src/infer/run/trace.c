#include "infer/run/trace.h"

#include "base/arena.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct trace {
    FILE *file; /* NULL: not begun */
    trainee learner;
    char path[4096]; /* "": nothing is written */
    size_t rows, draws, d;
    bool truth;
    double *w, *sigma;           /* of the truth */
    double *draw_w, *draw_sigma; /* (draws, d, d), (draws, d) */
    size_t *draw_order;          /* (draws, d) */
    arena memory;
};

static void lay_out(trace *t, arena *a)
{
    t->w = arena_take(a, t->d * t->d, sizeof(double));
    t->sigma = arena_take(a, t->d, sizeof(double));
    t->draw_w = arena_take(a, t->draws * t->d * t->d, sizeof(double));
    t->draw_sigma = arena_take(a, t->draws * t->d, sizeof(double));
    t->draw_order = arena_take(a, t->draws * t->d, sizeof(size_t));
}

static lscm_status fail_write(const trace *t, lscm_error *why)
{
    return fail(why, LSCM_WRITE, "%s: %s", t->path, strerror(errno));
}

/* Cuts the file off behind the head and `keep` rows; false when there are fewer. */
static bool cut(FILE *file, size_t keep)
{
    size_t lines = 0;
    int c = 0;
    while (lines < keep + 1 && (c = fgetc(file)) != EOF) {
        lines += c == '\n' ? 1 : 0;
    }
    return lines == keep + 1 && fflush(file) == 0 && ftruncate(fileno(file), ftell(file)) == 0 &&
           fseek(file, 0, SEEK_END) == 0;
}

static lscm_status continue_file(trace *t, size_t keep, lscm_error *why)
{
    t->file = fopen(t->path, "r+");
    if (t->file == NULL || !cut(t->file, keep)) {
        return fail(why, LSCM_READ, "%s does not go with the checkpoint; start again with --force",
                    t->path);
    }
    t->rows = keep;
    return LSCM_OK;
}

/* With the first row: a run that has none leaves no file. */
static lscm_status begin_file(trace *t, lscm_error *why)
{
    t->file = fopen(t->path, "w");
    if (t->file == NULL) {
        return fail_write(t, why);
    }
    if (t->learner.course != NULL) {
        (void)fputs(t->learner.course->columns, t->file);
    } else {
        (void)fputs("restart,step,loss,x_mse_expected,kl_weights,log_q_order,x_noise", t->file);
#define NAME(name, help) (void)fputs("," #name, t->file);
        LSCM_SCORES_TABLE(NAME)
#undef NAME
    }
    return fputc('\n', t->file) == '\n' ? LSCM_OK : fail_write(t, why);
}

static lscm_status find_path(trace *t, const char *folder, lscm_error *why)
{
    if ((size_t)snprintf(t->path, sizeof t->path, "%s/trace.csv", folder) >= sizeof t->path) {
        return fail(why, LSCM_USAGE, "the name of the run folder is too long");
    }
    return LSCM_OK;
}

lscm_status trace_open(trace **out, const fit *f, const trainee *learner, size_t keep,
                       lscm_error *why)
{
    lscm_status status = LSCM_OK;
    const lscm_dataset *data = f->data;
    trace *t = calloc(1, sizeof *t);
    if (t == NULL) {
        return fail_memory(why, sizeof *t);
    }
    t->learner = *learner;
    t->d = data->nodes;
    t->draws = (size_t)f->settings.samples;
    lay_out(t, &t->memory);
    TRY(arena_open(&t->memory, why));
    lay_out(t, &t->memory);
    t->truth = data->shape[LSCM_W].present;
    if (t->truth) {
        TRY(lscm_dataset_read(data, LSCM_W, 0, t->d, t->w, why));
    }
    if (data->shape[LSCM_SIGMA].present) {
        TRY(lscm_dataset_read(data, LSCM_SIGMA, 0, t->d, t->sigma, why));
    }
    if (f->run->folder != NULL) {
        TRY(find_path(t, f->run->folder, why));
        TRY(keep > 0 ? continue_file(t, keep, why) : LSCM_OK);
    }
    *out = t;
    t = NULL;
done:
    trace_close(t);
    return status;
}

void trace_close(trace *t)
{
    if (t != NULL) {
        if (t->file != NULL) {
            (void)fclose(t->file);
        }
        arena_close(&t->memory);
        free(t);
    }
}

static lscm_status score(trace *t, size_t step, lscm_scores *scores, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    model_sample sample = {.w = t->draw_w, .sigma = t->draw_sigma, .order = t->draw_order};
    TRY(t->learner.draw(t->learner.self, t->draws, step, &sample, why));
    lscm_estimate estimate = {
        .draws = t->draws, .nodes = t->d, .w = t->draw_w, .sigma = t->draw_sigma, .threshold = 0.3};
    lscm_truth truth = {.w = t->w, .sigma = t->sigma[0] > 0 ? t->sigma : NULL};
    TRY(lscm_evaluate(scores, &estimate, &truth, why));
done:
    return status;
}

static void put(FILE *file, double number)
{
    if (isfinite(number)) {
        (void)fprintf(file, ",%.10g", number);
    } else {
        (void)fputc(',', file);
    }
}

static lscm_status end_row(trace *t, lscm_error *why)
{
    t->rows++;
    return fputc('\n', t->file) == '\n' && fflush(t->file) == 0 ? LSCM_OK : fail_write(t, why);
}

lscm_status trace_course(trace *t, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    double numbers[TRAINEE_COLUMNS];
    size_t count = t->learner.course->row(t->learner.self, numbers);
    if (t->path[0] == '\0' || count == 0) {
        return LSCM_OK;
    }
    TRY(t->file == NULL ? begin_file(t, why) : LSCM_OK);
    (void)fprintf(t->file, "%.10g", numbers[0]);
    for (size_t k = 1; k < count; k++) {
        put(t->file, numbers[k]);
    }
    status = end_row(t, why);
done:
    return status;
}

lscm_status trace_row(trace *t, size_t restart, size_t step, const training_terms *terms,
                      lscm_error *why)
{
    lscm_status status = LSCM_OK;
    lscm_scores scores;
    if (t->path[0] == '\0') {
        return LSCM_OK;
    }
    TRY(t->file == NULL ? begin_file(t, why) : LSCM_OK);
    (void)fprintf(t->file, "%zu,%zu", restart, step);
    put(t->file, terms->loss);
    put(t->file, terms->error);
    put(t->file, terms->kl);
    put(t->file, terms->log_q);
    put(t->file, terms->x_noise);
    if (t->truth) {
        TRY(score(t, step, &scores, why));
#define PUT(name, help) put(t->file, scores.name);
        LSCM_SCORES_TABLE(PUT)
#undef PUT
    } else {
#define SKIP(name, help) put(t->file, NAN);
        LSCM_SCORES_TABLE(SKIP)
#undef SKIP
    }
    status = end_row(t, why);
done:
    return status;
}

size_t trace_rows(const trace *t)
{
    return t->rows;
}
