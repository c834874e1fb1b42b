#include "base/streams.h"
#include "base/threads.h"
#include "base/tuned.h"
#include "infer/sample/joint_state.h"

#include <cblas.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Sums of node f->node and the candidates of f at a level, as far as the evidence is let in. */
static family_level encode(joint_chain *c, const family *f, size_t level, double *mean,
                           double *scatter)
{
    size_t m = f->count + 1;
    family_level out = c->seen->level[f->node * c->seen->most + level];
    memcpy(c->columns, f->candidate, f->count * sizeof *c->columns);
    c->columns[f->count] = f->node;
    view_scatter_encode(c->seen, &(view_encoder){c->d, c->shift, c->slope},
                        &(view_family){f->node, level, c->columns, m}, c->encode, mean, scatter);
    cblas_dscal((int)(m * m), c->heat, scatter, 1);
    out.heft *= c->heat;
    out.log_spread *= c->heat;
    return out;
}

void joint_refresh(joint_chain *c, size_t i)
{
    family *f = &c->family[i];
    f->level[0] = encode(c, f, c->level[i], c->mean[i], c->scatter[i]);
    f->rows = c->heat * c->seen->rows[i];
}

/* tau_i given its parents and the encoder, W and s integrated out. */
static void draw_level(joint_chain *c, size_t i)
{
    family_room *room = c->narrow;
    uint32_t parents = c->g.parents[i];
    size_t count = 0;
    room->f = c->family[i];
    for (size_t k = 0; k < c->family[i].count; k++) {
        if ((parents >> k & 1) != 0) {
            room->candidate[count++] = c->family[i].candidate[k];
        }
    }
    room->f.count = count;
    room->f.candidate = room->candidate;
    room->f.scatter = room->scatter;
    room->f.mean = room->mean;
    room->f.rows = c->heat * c->seen->rows[i];
    room->f.levels = c->seen->levels[i];
    for (size_t l = 0; l < room->f.levels; l++) {
        room->f.level[l] = encode(c, &room->f, l, room->mean + l * (count + 1),
                                  room->scatter + l * (count + 1) * (count + 1));
    }
    c->level[i] = c->g.all.law->level(&room->f, &c->g.all.prior, ((uint32_t)1 << count) - 1,
                                      chain_uniform(&c->g));
}

static void draw_levels(joint_chain *c)
{
    for (size_t i = 0; i < c->d; i++) {
        if (c->seen->levels[i] > 1) {
            draw_level(c, i);
        }
    }
}

/* ---- Labels ---- */

/* Two passes over the rows in which j is a target: means, then what is left of them. */
static void sum_labels(const joint_problem *p, size_t j, label_sums *out, double *row)
{
    const linear_view *s = p->view;
    int r = (int)s->rank;
    for (int pass = 0; pass < 2; pass++) {
        for (size_t k = 0; k < s->rows; k++) {
            if (!design_is_set(&s->design, k, j) || !row_counts(p->keep, k)) {
                continue;
            }
            const double *y = s->y + k * s->rank;
            double v = design_value(&s->design, k, j);
            if (pass == 0) {
                out->rows += 1;
                cblas_daxpy(r, 1, y, 1, out->mean, 1);
                out->value += v;
                continue;
            }
            for (size_t i = 0; i < s->rank; i++) {
                row[i] = y[i] - out->mean[i];
            }
            v -= out->value;
            out->values += v * v;
            cblas_daxpy(r, v, row, 1, out->cross, 1);
            cblas_dsyr(CblasRowMajor, CblasUpper, r, 1, row, 1, out->scatter, r);
        }
        if (pass == 0 && out->rows > 0) {
            cblas_dscal(r, 1 / out->rows, out->mean, 1);
            out->value /= out->rows;
        }
    }
    for (size_t a = 0; a < s->rank; a++) {
        for (size_t b = 0; b < a; b++) {
            out->scatter[a * s->rank + b] = out->scatter[b * s->rank + a];
        }
    }
}

/* Nodes with too few labels for an anchor have the label noise of the others: their median. */
static void find_noise(const joint_problem *p, label_sums *label, double *sorted)
{
    size_t d = p->view->d;
    size_t known = 0;
    for (size_t j = 0; j < d; j++) {
        label[j].any = label[j].rows >= 2;
        label[j].noise = p->anchor->residual[j];
        if (p->anchor->kind[j] != ANCHOR_NONE) {
            size_t at = known++; /* insertion */
            for (; at > 0 && sorted[at - 1] > label[j].noise; at--) {
                sorted[at] = sorted[at - 1];
            }
            sorted[at] = label[j].noise;
        }
    }
    for (size_t j = 0; j < d && known > 0; j++) {
        if (p->anchor->kind[j] == ANCHOR_NONE) {
            label[j].noise = sorted[known / 2];
        }
    }
}

/* Fills `label` (d); returns the rows in use. */
static double gather(const joint_problem *p, label_sums *label, double *row, double *sorted)
{
    double rows = 0;
    for (size_t k = 0; k < p->view->rows; k++) {
        rows += row_counts(p->keep, k) ? 1 : 0;
    }
    for (size_t j = 0; j < p->view->d; j++) {
        sum_labels(p, j, &label[j], row);
    }
    find_noise(p, label, sorted);
    return rows;
}

/* ---- A chain ---- */

static void lay_out_chain(joint_chain *c, arena *a)
{
    size_t d = c->d;
    size_t r = c->r;
    size_t most = 0;
    double **vectors[] = {&c->shift, &c->noise, &c->label_fit, &c->sign};
    double **signals[] = {&c->linear, &c->column, &c->product, &c->other};
    double **squares[] = {&c->precision, &c->factor, &c->slope, &c->inverse};
    c->family = arena_take(a, d, sizeof *c->family);
    c->scatter = arena_take(a, d, sizeof *c->scatter);
    c->mean = arena_take(a, d, sizeof *c->mean);
    for (size_t i = 0; i < d; i++) {
        size_t m = c->p->mechanisms.family[i].count + 1;
        double *scatter = arena_take(a, m * m, sizeof(double));
        double *mean = arena_take(a, m, sizeof(double));
        if (c->family != NULL && c->scatter != NULL && c->mean != NULL) {
            c->family[i] = c->p->mechanisms.family[i];
            c->family[i].levels = 1; /* the one that was drawn */
            c->family[i].scatter = c->scatter[i] = scatter;
            c->family[i].mean = c->mean[i] = mean;
        }
        most = m > most ? m : most;
    }
    for (size_t i = 0; i < sizeof vectors / sizeof vectors[0]; i++) {
        *vectors[i] = arena_take(a, d, sizeof(double));
    }
    for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++) {
        *signals[i] = arena_take(a, r, sizeof(double));
    }
    for (size_t i = 0; i < sizeof squares / sizeof squares[0]; i++) {
        *squares[i] = arena_take(a, r * r, sizeof(double));
    }
    graph_chain_lay_out(&c->g, a);
    joint_lay_out_orbits(c, a);
    joint_lay_out_slides(c, a);
    c->rename = arena_take(a, 3 * d, sizeof *c->rename);
    c->encode = arena_take(a, 2 * most * r, sizeof(double));
    c->columns = arena_take(a, most, sizeof *c->columns);
    c->level = arena_take(a, d, sizeof *c->level);
    c->narrow = arena_take(a, 1, sizeof *c->narrow);
    c->pivots = arena_take(a, r, sizeof *c->pivots);
}

static void begin_chain(joint_chain *c, const dag_draws *start, size_t number, rng r)
{
    const anchor *a = c->p->anchor;
    graph_chain_begin(&c->g, start, number, r);
    c->seen = c->p->scatter;
    c->g.all = c->p->mechanisms;
    c->g.all.family = c->family;
    c->g.equal = c->p->equal;
    c->g.grid = c->p->grid;
    c->g.order_given = c->p->order != NULL;
    memcpy(c->slope, c->p->slope, c->r * c->d * sizeof(double));
    memcpy(c->shift, a->intercept, c->d * sizeof(double));
    for (size_t j = 0; j < c->d; j++) {
        c->noise[j] = c->label[j].noise;
    }
}

static lscm_status sweep(joint_chain *c, size_t number, lscm_error *why)
{
    draw_levels(c);
    if (c->z != NULL) {
        joint_rows_move(c);
    }
    joint_move_encoder(c);
    joint_move_slides(c);
    for (size_t i = 0; i < c->d; i++) {
        joint_refresh(c, i);
    }
    graph_chain_move(&c->g);
    graph_chain_draw(&c->g);
    joint_move_orbits(c);
    if (!joint_invert(c)) {
        return fail(why, LSCM_VALUE,
                    "x shows fewer separate directions than there are nodes; leave out nodes that "
                    "do not show in x, or look for duplicate features");
    }
    joint_draw_columns(c);
    if (c->z != NULL) {
        joint_rows_draw(c, number);
    } else {
        joint_draw_labels(c);
    }
    return LSCM_OK;
}

/* Nothing tells nodes without labels from each other, nor their signs: node i goes to to[i]. Only
 * where background knowledge does not tell them apart either. */
static void rename_unlabelled(joint_chain *c)
{
    size_t d = c->d;
    size_t count = 0;
    size_t *unlabelled = c->rename + d;
    size_t *shuffled = unlabelled + d;
    for (size_t i = 0; i < d; i++) {
        c->rename[i] = i;
        c->sign[i] = 1;
        if (!c->label[i].any) {
            unlabelled[count++] = i;
            c->sign[i] = chain_uniform(&c->g) < 0.5 ? -1 : 1;
        }
    }
    rng_permutation(c->g.random, 2 * c->g.used, count, shuffled);
    c->g.used += count;
    for (size_t k = 0; k < count && c->p->interchangeable; k++) {
        c->rename[unlabelled[k]] = unlabelled[shuffled[k]];
    }
}

/* The encoder has moved since the graph: scores and intercepts are those of the encoder kept. */
void joint_refresh_means(joint_chain *c)
{
    for (size_t i = 0; i < c->d; i++) {
        const family *f = &c->family[i];
        joint_refresh(c, i);
        c->g.score[i] = graph_chain_score(&c->g, i, c->g.parents[i]);
        double mean = family_centre(f, c->g.w + i, c->d);
        c->g.intercept[i] =
            f->rows > 0 ? mean + c->g.sigma[i] / sqrt(family_heft(f, 0)) * chain_normal(&c->g) : 0;
    }
}

static void keep_draw(joint_chain *c, size_t at, const joint_draws *out)
{
    size_t d = c->d;
    const double *shift = c->z != NULL ? c->read_shift : c->shift;
    const double *slope = c->z != NULL ? c->read : c->slope;
    rename_unlabelled(c);
    joint_refresh_means(c);
    out->log_p[at] = joint_power(c) * c->log_det;
    for (size_t i = 0; i < d; i++) {
        size_t to = c->rename[i];
        out->log_p[at] += c->g.score[i] + c->label_fit[i];
        out->sigma[at * d + to] = c->g.sigma[i];
        out->effect[at * d + to] = c->g.effect[i];
        out->intercept[at * d + to] = c->sign[i] * c->g.intercept[i];
        out->shift[at * d + to] = c->sign[i] * shift[i];
        out->order[at * d + i] = c->rename[c->g.order[i]];
        for (size_t j = 0; j < d; j++) {
            out->w[(at * d + c->rename[j]) * d + to] = c->sign[j] * c->sign[i] * c->g.w[j * d + i];
        }
        for (size_t k = 0; k < c->r; k++) {
            out->slope[(at * c->r + k) * d + to] = c->sign[i] * slope[k * d + i];
        }
    }
}

/* An error of the encoder makes edges that hold it in place, and at full evidence neither goes
 * without the other. So the evidence is let in slowly while the chain warms up: at first the
 * encoder is where the labels alone put it. Columns without labels are where the evidence alone
 * puts them, so that some of it stays. */
static double heat_at(const joint_chain *c, size_t sweep, size_t burn)
{
    double done = burn > 0 ? tuned_joint_heated() * (double)sweep / (double)burn : 1;
    bool all = true;
    for (size_t j = 0; j < c->d; j++) {
        all = all && c->label[j].any;
    }
    return done < 1 ? pow(all ? tuned_joint_heat() : tuned_joint_heat_open(), 1 - done) : 1;
}

/* Sweeps of one chain; its kept draws go to first .. first + count - 1, spread evenly. */
static lscm_status run_chain(joint_chain *c, size_t sweeps, size_t first, size_t count,
                             const joint_draws *out, const lscm_progress *progress, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    size_t burn = sweeps / tuned_sample_burnt();
    size_t kept = 0;
    for (size_t k = 0; k < sweeps; k++) {
        c->heat = heat_at(c, k, burn);
        if (c->p->noisy && c->z == NULL && !(c->heat < 1)) {
            joint_rows_begin(c);
        }
        TRY(sweep(c, k, why));
        while (kept < count && k >= burn && (k - burn) * count >= kept * (sweeps - burn)) {
            keep_draw(c, first + kept++, out);
        }
        TRY(chain_report(&c->g, "sampling encoder and graph", k, sweeps, progress, why));
    }
done:
    return status;
}

static void lay_out(joint_chain *chain, size_t chains, label_sums **label, double **row, arena *a)
{
    size_t d = chain[0].d;
    *label = arena_take(a, d, sizeof **label);
    *row = arena_take(a, chain[0].r, sizeof **row);
    for (size_t j = 0; j < d; j++) {
        label_sums sums = {.mean = arena_take(a, chain[0].r, sizeof(double)),
                           .scatter = arena_take(a, chain[0].r * chain[0].r, sizeof(double)),
                           .cross = arena_take(a, chain[0].r, sizeof(double))};
        if (*label != NULL) {
            (*label)[j] = sums;
        }
    }
    for (size_t k = 0; k < chains; k++) {
        lay_out_chain(&chain[k], a);
        chain[k].label = *label;
    }
}

lscm_status joint_sample(const joint_problem *problem, const joint_settings *settings,
                         const dag_draws *start, rng r, const joint_draws *out,
                         const lscm_progress *progress, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    size_t chains = settings->chains;
    const linear_view *s = problem->view;
    joint_chain *chain = calloc(chains, sizeof *chain);
    lscm_error *failed = calloc(chains, sizeof *failed);
    label_sums *label = NULL;
    double *row = NULL;
    arena memory = {0};
    bool stopped = false;
    threads_blas_single();
    if (chain == NULL || failed == NULL) {
        status = fail_memory(why, chains * (sizeof *chain + sizeof *failed));
        goto done;
    }
    for (size_t k = 0; k < chains; k++) {
        chain[k] = (joint_chain){
            .p = problem, .d = s->d, .r = s->rank, .g.d = s->d, .g.stopped = &stopped};
    }
    lay_out(chain, chains, &label, &row, &memory);
    TRY(arena_open(&memory, why));
    lay_out(chain, chains, &label, &row, &memory);
    double rows = gather(problem, label, row, chain[0].g.sigma);
    for (size_t k = 0; k < chains && problem->noisy; k++) {
        chain[k].rows_random = stream_part(r, 2 * chains + k);
        chain[k].offset_random = stream_part(r, 3 * chains + k);
        TRY(joint_rows_open(&chain[k], why));
    }
#pragma omp parallel for schedule(dynamic)
    for (size_t k = 0; k < chains; k++) {
        size_t first = out->count * k / chains;
        size_t last = out->count * (k + 1) / chains;
        chain[k].rows = rows;
        begin_chain(&chain[k], start, k, r);
        failed[k].status = run_chain(&chain[k], settings->sweeps, first, last - first, out,
                                     k == 0 ? progress : NULL, &failed[k]);
    }
    for (size_t k = 0; k < chains && status == LSCM_OK; k++) {
        status = failed[k].status;
        if (status != LSCM_OK && why != NULL) {
            *why = failed[k];
        }
    }
done:
    threads_blas_restore();
    for (size_t k = 0; k < chains && chain != NULL; k++) {
        joint_rows_close(&chain[k]);
    }
    free(chain);
    free(failed);
    arena_close(&memory);
    return status;
}
