/* Noisy rows: y = z A + b + N(0, s_x^2 I), and z itself is drawn. Two ways to take what is not
 * known take turns, as either alone hardly moves where the other does: given z,
 *
 *     A, b | z, y    by regression,     z | A, b, W, s, c, y    row by row       (collapse.h);
 *
 * and given the signal z A + b, which says all that y would without its noise, the moves of joint.c
 * with z in the place of y: the encoder from there begins at B = I, columns with labels stay, as
 * do() has set their z (up to s_I, which is drawn), and those without move. Then z <- z B.
 *
 * Where j has labels, z_j of the rows in which it is free moves with the decoder: with m the mean
 * of z_k over the others,
 *
 *     z_j <- z_j + g (z_k - m),   A_k <- A_k - g A_j,   b <- b + g m A_j
 *
 * leaves z A + b as it is but where j is set. So g is drawn from what those rows say of it, and the
 * change of the scores decides, as for labelled columns without noise. */
#include "infer/sample/joint_state.h"

#include <cblas.h>
#include <lapacke.h>
#include <math.h>
#include <string.h>

/* z of the encoder as it is, which is what is seen from now on. */
static void see(joint_chain *c)
{
    view_scatter_sum(c->own, c->z, 0, NULL);
    c->seen = c->own;
    memset(c->shift, 0, c->d * sizeof *c->shift);
    memset(c->slope, 0, c->d * c->d * sizeof *c->slope);
    for (size_t j = 0; j < c->d; j++) {
        c->slope[j * c->d + j] = 1;
        c->noise[j] = 0;
        c->label_fit[j] = 0;
    }
}

static void lay_out(joint_chain *c)
{
    size_t n = c->p->view->rows * c->d;
    c->moved = arena_take(&c->rows_memory, 2 * n, sizeof *c->moved);
    c->read = arena_take(&c->rows_memory, c->r * c->d, sizeof *c->read);
    c->read_shift = arena_take(&c->rows_memory, c->d, sizeof *c->read_shift);
    c->offset =
        arena_take(&c->rows_memory, design_batches(&c->p->view->design) * c->d, sizeof *c->offset);
    c->residual = arena_take(&c->rows_memory, c->r * c->d, sizeof *c->residual);
}

lscm_status joint_rows_open(joint_chain *c, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    const linear_view *s = c->p->view;
    bool effects = c->p->scatter->most > 1;
    lay_out(c);
    TRY(arena_open(&c->rows_memory, why));
    lay_out(c);
    TRY(view_scatter_of(&c->room[0], s, NULL, effects, why));
    TRY(view_scatter_of(&c->room[1], s, NULL, effects, why));
    c->own = &c->room[0];
    c->other_own = &c->room[1];
    TRY(collapse_open(&c->rows_law, s, why));
    TRY(collapse_parameters_open(&c->model, c->d, c->r, why));
    c->model.order = c->g.order;
    c->model.x_noise = s->x_noise;
    c->model.own = effects ? c->offset : NULL;
    c->model.actuator_noise = c->p->anchor->actuator_noise;
done:
    return status;
}

void joint_rows_close(joint_chain *c)
{
    collapse_close(c->rows_law);
    collapse_parameters_close(&c->model);
    view_scatter_close(&c->room[0]);
    view_scatter_close(&c->room[1]);
    arena_close(&c->rows_memory);
}

void joint_rows_begin(joint_chain *c)
{
    const linear_view *s = c->p->view;
    c->z = c->moved + s->rows * c->d;
    anchor_apply(s, c->shift, c->slope, c->z);
    if (!(c->model.actuator_noise > 0)) {
        design_put(&s->design, c->z, NULL);
    }
    see(c);
}

/* g by the rows in which j is set; m. */
static double draw_share(joint_chain *c, size_t j, size_t k, double *mean)
{
    const linear_view *s = c->p->view;
    int r = (int)c->r;
    const double *a = c->model.a + j * c->r;
    double n = 0;
    double weight = 0;
    double pull = 0;
    *mean = 0;
    for (int pass = 0; pass < 2; pass++) {
        for (size_t row = 0; row < s->rows; row++) {
            const double *z = c->z + row * c->d;
            if (!design_is_set(&s->design, row, j)) {
                continue;
            }
            if (pass == 0) {
                n += 1;
                *mean += z[k];
                continue;
            }
            for (size_t l = 0; l < c->r; l++) {
                c->other[l] = c->model.b[l] - s->y[row * c->r + l];
            }
            cblas_dgemv(CblasRowMajor, CblasTrans, (int)c->d, r, 1, c->model.a, r, z, 1, 1,
                        c->other, 1);
            weight += (z[k] - *mean) * (z[k] - *mean);
            pull += (z[k] - *mean) * cblas_ddot(r, c->other, 1, a, 1);
        }
        *mean /= pass == 0 ? n : 1;
    }
    weight *= cblas_ddot(r, a, 1, a, 1);
    return weight > 0 ? (pull + c->model.x_noise * sqrt(weight) * chain_normal(&c->g)) / weight : 0;
}

static void move_free(joint_chain *c, size_t j)
{
    const linear_view *s = c->p->view;
    int r = (int)c->r;
    size_t k = (j + 1 + (size_t)(chain_uniform(&c->g) * (double)(c->d - 1))) % c->d;
    uint32_t parents = c->g.parents[j];
    bool toggle = chain_uniform(&c->g) < 0.5 && c->g.position[k] < c->g.position[j];
    double mean = 0;
    double share = draw_share(c, j, k, &mean);
    double before = joint_scores_with(c, j);
    memcpy(c->moved, c->z, s->rows * c->d * sizeof *c->moved);
    for (size_t row = 0; row < s->rows; row++) {
        double *z = c->moved + row * c->d;
        z[j] += design_is_set(&s->design, row, j) ? 0 : share * (z[k] - mean);
    }
    view_scatter_sum(c->other_own, c->moved, 0, c->level);
    c->seen = c->other_own;
    c->g.parents[j] ^= toggle ? joint_bit(c, j, k) : 0;
    if (log(chain_uniform(&c->g)) < joint_scores_with(c, j) - before) {
        double *z = c->moved;
        view_scatter *own = c->other_own;
        c->moved = c->z;
        c->z = z;
        c->other_own = c->own;
        c->own = own;
        cblas_daxpy(r, share * mean, c->model.a + j * c->r, 1, c->model.b, 1);
        cblas_daxpy(r, -share, c->model.a + j * c->r, 1, c->model.a + k * c->r, 1);
    } else {
        c->g.parents[j] = parents;
    }
    c->seen = c->own;
}

void joint_rows_move(joint_chain *c)
{
    for (size_t j = 0; j < c->d && c->d > 1; j++) {
        if (c->label[j].any) {
            move_free(c, j);
        }
    }
}

/* z = (y - b) A^-1; stays as it is where A has no inverse. */
static void read_encoder(joint_chain *c)
{
    int r = (int)c->r;
    memcpy(c->inverse, c->model.a, c->r * c->r * sizeof(double));
    bool there = LAPACKE_dgetrf(LAPACK_ROW_MAJOR, r, r, c->inverse, r, c->pivots) == 0;
    c->log_det = 0;
    for (size_t k = 0; k < c->r && there; k++) {
        c->log_det -= log(fabs(c->inverse[k * c->r + k]));
    }
    if (there && LAPACKE_dgetri(LAPACK_ROW_MAJOR, r, c->inverse, r, c->pivots) == 0) {
        memcpy(c->read, c->inverse, c->r * c->r * sizeof(double));
        cblas_dgemv(CblasRowMajor, CblasTrans, r, r, -1, c->read, r, c->model.b, 1, 0,
                    c->read_shift, 1);
    }
}

/* a_ik given z B, W, s, c. */
static void draw_offsets(joint_chain *c, size_t sweep)
{
    int d = (int)c->d;
    if (c->own->most == 1) {
        return;
    }
    memcpy(c->residual, c->slope, c->r * c->d * sizeof *c->residual);
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (int)c->r, d, d, -1, c->slope, d, c->g.w,
                d, 1, c->residual, d);
    set_means_draw(&c->own->sets,
                   &(set_residuals){c->residual, c->g.intercept, c->g.sigma, c->family},
                   c->offset_random, sweep, c->offset);
}

void joint_rows_draw(joint_chain *c, size_t sweep)
{
    const linear_view *s = c->p->view;
    int d = (int)c->d;
    double start = c->p->anchor->actuator_noise;
    double *now = c->moved;
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (int)s->rows, d, d, 1, c->z, d, c->slope,
                d, 0, now, d);
    c->moved = c->z;
    c->z = now;
    joint_refresh_means(c);
    draw_offsets(c, sweep);
    memcpy(c->model.w, c->g.w, c->d * c->d * sizeof(double));
    memcpy(c->model.c, c->g.intercept, c->d * sizeof(double));
    memcpy(c->model.sigma, c->g.sigma, c->d * sizeof(double));
    collapse_draw_decoder(c->rows_law, c->z, &c->model, c->rows_random, 2 * sweep);
    collapse_draw_z(c->rows_law, &c->model, c->rows_random, 2 * sweep + 1, c->z);
    if (start > 0) {
        double count = 0;
        double rest = design_missed(&s->design, c->z, &count) + start * start;
        c->model.actuator_noise = sqrt(rest / chain_chi2(&c->g, count + 2));
    }
    see(c);
    read_encoder(c);
}
