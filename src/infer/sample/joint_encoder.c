/* The encoder. Column b_j given everything else has log density (n - r - 1) log |b . u| - b'P b/2 +
 * h'b, u = row j of B^-1 and, over the children k of j,
 *
 *   P = L_j/t_j^2 + S_j/s_j^2 + sum_k w_jk^2 S_k/s_k^2,
 *   h = l_j/t_j^2 + S_j sum_p b_p w_pj/s_j^2 + sum_k w_jk S_k (b_k - sum_{p != j} b_p w_pk)/s_k^2
 *
 * (L_j, l_j the labels' sums, S_i as in view_scatter.h). So b . u is drawn by itself, its density
 * being |t|^(n-r-1) times a normal one, and the rest of b is normal given that.
 *
 * A node without labels moves by b_j <- e^x b_j + g b_k: the determinant changes by x, and what the
 * mechanisms say is the change of the scores of the families that z_j is in. */
#include "base/tuned.h"
#include "infer/sample/joint_state.h"

#include <cblas.h>
#include <lapacke.h>
#include <math.h>
#include <string.h>

double joint_power(const joint_chain *c)
{
    return c->rows - (double)c->r - 1;
}

bool joint_invert(joint_chain *c)
{
    int r = (int)c->r;
    memcpy(c->inverse, c->slope, c->r * c->r * sizeof(double));
    if (LAPACKE_dgetrf(LAPACK_COL_MAJOR, r, r, c->inverse, r, c->pivots) != 0) {
        return false;
    }
    c->log_det = 0;
    for (size_t k = 0; k < c->r; k++) {
        c->log_det += log(fabs(c->inverse[k * c->r + k]));
    }
    return LAPACKE_dgetri(LAPACK_COL_MAJOR, r, c->inverse, r, c->pivots) == 0;
}

/* Adds factor * S_i to the precision. */
static void add_scatter(joint_chain *c, size_t i, double factor)
{
    size_t rr = c->r * c->r;
    cblas_daxpy((int)rr, c->heat * factor, view_scatter_at(c->seen, i, c->level[i]), 1,
                c->precision, 1);
}

/* other <- sum over parents p of node i, but for `without`, of b_p w_pi */
static void add_parents(joint_chain *c, size_t i, size_t without)
{
    memset(c->other, 0, c->r * sizeof(double));
    for (size_t p = 0; p < c->d; p++) {
        double w = c->g.w[p * c->d + i];
        if (w != 0 && p != without) {
            cblas_daxpy((int)c->r, w, c->slope + p, (int)c->d, c->other, 1);
        }
    }
}

/* linear += factor * S_i other */
static void add_linear(joint_chain *c, size_t i, double factor)
{
    int r = (int)c->r;
    cblas_dsymv(CblasRowMajor, CblasUpper, r, c->heat * factor,
                view_scatter_at(c->seen, i, c->level[i]), r, c->other, 1, 1, c->linear, 1);
}

static void set_up_column(joint_chain *c, size_t j)
{
    const label_sums *label = &c->label[j];
    double by_label = label->any ? 1 / (c->noise[j] * c->noise[j]) : 0;
    double by_own = 1 / (c->g.sigma[j] * c->g.sigma[j]);
    for (size_t k = 0; k < c->r * c->r; k++) {
        c->precision[k] = by_label * label->scatter[k];
    }
    for (size_t k = 0; k < c->r; k++) {
        c->linear[k] = by_label * label->cross[k];
    }
    add_scatter(c, j, by_own);
    add_parents(c, j, c->d);
    add_linear(c, j, by_own);
    for (size_t k = 0; k < c->d; k++) {
        double w = c->g.w[j * c->d + k];
        if (w == 0) {
            continue;
        }
        double by_child = 1 / (c->g.sigma[k] * c->g.sigma[k]);
        add_scatter(c, k, w * w * by_child);
        add_parents(c, k, j);
        cblas_dscal((int)c->r, -1, c->other, 1);
        cblas_daxpy((int)c->r, 1, c->slope + k, (int)c->d, c->other, 1);
        add_linear(c, k, w * by_child);
    }
}

/* t with density |t|^power exp(-(t - mean)^2/(2 variance)), from `now`, by Metropolis steps that
 * propose from the normal at the mode: nearly exact when the power is large. */
static double draw_length(joint_chain *c, double power, double mean, double variance, double now)
{
    double mode = (mean + sqrt(mean * mean + 4 * power * variance)) / 2;
    double sd = 1 / sqrt(power / (mode * mode) + 1 / variance);
    for (int k = 0; k < 3; k++) {
        double next = mode + sd * chain_normal(&c->g);
        double change = -INFINITY;
        if (next > 0) {
            change =
                power * log(next / now) -
                ((next - mean) * (next - mean) - (now - mean) * (now - mean)) / (2 * variance) +
                ((next - mode) * (next - mode) - (now - mode) * (now - mode)) / (2 * sd * sd);
        }
        if (log(chain_uniform(&c->g)) < change) {
            now = next;
        }
    }
    /* the sign: -t has the same power */
    return log(chain_uniform(&c->g)) < -2 * now * mean / variance ? -now : now;
}

/* B^-1 after column j of B became `column`: its row j is divided by their product, the others lose
 * their share of it. */
static void update_inverse(joint_chain *c, size_t j, double length)
{
    int r = (int)c->r;
    double *row = c->inverse + j * c->r;
    cblas_dscal(r, 1 / length, row, 1);
    for (size_t i = 0; i < c->d; i++) {
        if (i != j) {
            double share = cblas_ddot(r, c->inverse + i * c->r, 1, c->column, 1);
            cblas_daxpy(r, -share, row, 1, c->inverse + i * c->r, 1);
        }
    }
}

static void draw_column(joint_chain *c, size_t j)
{
    int r = (int)c->r;
    const double *u = c->inverse + j * c->r;
    set_up_column(c, j);
    memcpy(c->factor, c->precision, c->r * c->r * sizeof(double));
    if (LAPACKE_dpotrf_work(LAPACK_COL_MAJOR, 'U', r, c->factor, r) != 0) {
        return; /* rounding: the column stays as it is */
    }
    /* P = F F';  column = P^-1 h + F'^-1 noise,  product = P^-1 u */
    cblas_dcopy(r, c->linear, 1, c->column, 1);
    cblas_dtrsv(CblasRowMajor, CblasLower, CblasNoTrans, CblasNonUnit, r, c->factor, r, c->column,
                1);
    for (size_t k = 0; k < c->r; k++) {
        c->other[k] = c->column[k];
        c->column[k] += chain_normal(&c->g);
    }
    cblas_dcopy(r, u, 1, c->product, 1);
    cblas_dtrsv(CblasRowMajor, CblasLower, CblasNoTrans, CblasNonUnit, r, c->factor, r, c->product,
                1);
    double variance = cblas_ddot(r, c->product, 1, c->product, 1);
    double mean = cblas_ddot(r, c->product, 1, c->other, 1);
    double drawn = cblas_ddot(r, c->product, 1, c->column, 1);
    double length = draw_length(c, c->heat * joint_power(c), mean, variance, 1);
    cblas_daxpy(r, (length - drawn) / variance, c->product, 1, c->column, 1);
    cblas_dtrsv(CblasRowMajor, CblasLower, CblasTrans, CblasNonUnit, r, c->factor, r, c->column, 1);
    cblas_dcopy(r, c->column, 1, c->slope + j, (int)c->d);
    update_inverse(c, j, length);
    c->log_det += log(fabs(length));
}

static bool labelled(const joint_chain *c, size_t j)
{
    return c->label[j].any;
}

void joint_draw_columns(joint_chain *c)
{
    for (size_t j = 0; j < c->d; j++) {
        if (!labelled(c, j) || c->noise[j] > 0) {
            draw_column(c, j);
        }
    }
}

uint32_t joint_bit(const joint_chain *c, size_t j, size_t k)
{
    const family *f = &c->family[j];
    uint32_t bit = 0;
    for (size_t n = 0; n < f->count; n++) {
        bit |= f->candidate[n] == k ? (uint32_t)1 << n : 0;
    }
    return bit;
}

double joint_scores_with(joint_chain *c, size_t j)
{
    double sum = 0;
    for (size_t i = 0; i < c->d; i++) {
        const family *f = &c->family[i];
        bool inside = i == j;
        for (size_t k = 0; k < f->count && !inside; k++) {
            inside = f->candidate[k] == j && (c->g.parents[i] >> k & 1) != 0;
        }
        if (inside) {
            joint_refresh(c, i);
            sum += graph_chain_score(&c->g, i, c->g.parents[i]);
        }
    }
    return sum;
}

/* *now: the scores with z_j as it is, before and after. */
static void move_unlabelled(joint_chain *c, size_t j, double *now)
{
    int r = (int)c->r;
    int d = (int)c->d;
    size_t other = (size_t)(chain_uniform(&c->g) * (double)c->d);
    double size =
        exp(-tuned_joint_sizes() * chain_uniform(&c->g)); /* all sizes: ridges differ in width */
    double stretch = other == j ? size * chain_normal(&c->g) : 0;
    double share = other == j ? 0 : size * chain_normal(&c->g);
    cblas_dcopy(r, c->slope + j, d, c->column, 1);
    cblas_dscal(r, exp(stretch), c->slope + j, d);
    if (other != j) {
        cblas_daxpy(r, share, c->slope + other, d, c->slope + j, d);
    }
    double moved = joint_scores_with(c, j);
    double change = moved - *now + c->heat * (joint_power(c) + (double)c->r) * stretch;
    if (log(chain_uniform(&c->g)) < change) {
        *now = moved;
    } else {
        cblas_dcopy(r, c->column, 1, c->slope + j, d);
    }
}

/* b_j <- b_j + g b_k, g from what the labels of j alone say of it: so only the change of the scores
 * decides. Half of the time the edge k -> j comes or goes with it: an edge that the encoder's error
 * made, and that keeps the error alive, can go with the error. */
static void move_labelled(joint_chain *c, size_t j, double *now)
{
    int r = (int)c->r;
    int d = (int)c->d;
    const label_sums *label = &c->label[j];
    size_t other = (j + 1 + (size_t)(chain_uniform(&c->g) * (double)(c->d - 1))) % c->d;
    uint32_t parents = c->g.parents[j];
    cblas_dcopy(r, c->slope + other, d, c->product, 1);
    cblas_dsymv(CblasRowMajor, CblasUpper, r, 1, label->scatter, r, c->product, 1, 0, c->other, 1);
    double weight = cblas_ddot(r, c->product, 1, c->other, 1);
    if (!(weight > 0)) {
        return;
    }
    cblas_dcopy(r, c->slope + j, d, c->column, 1);
    double pull =
        cblas_ddot(r, c->product, 1, label->cross, 1) - cblas_ddot(r, c->other, 1, c->column, 1);
    double share = (pull + c->noise[j] * sqrt(weight) * chain_normal(&c->g)) / weight;
    bool toggle = chain_uniform(&c->g) < 0.5 && c->g.position[other] < c->g.position[j];
    cblas_daxpy(r, share, c->product, 1, c->slope + j, d);
    c->g.parents[j] ^= toggle ? joint_bit(c, j, other) : 0;
    double moved = joint_scores_with(c, j);
    if (log(chain_uniform(&c->g)) < moved - *now) {
        *now = moved;
    } else {
        cblas_dcopy(r, c->column, 1, c->slope + j, d);
        c->g.parents[j] = parents;
    }
}

void joint_move_encoder(joint_chain *c)
{
    for (size_t j = 0; j < c->d && c->d > 1; j++) {
        bool known = labelled(c, j);
        double now = !known || c->noise[j] > 0 ? joint_scores_with(c, j) : 0;
        for (size_t k = 0; k < (known ? tuned_joint_moves_labelled() : tuned_joint_moves()); k++) {
            if (!known) {
                move_unlabelled(c, j, &now);
            } else if (c->noise[j] > 0) {
                move_labelled(c, j, &now);
            }
        }
    }
}

/* t_j from the residuals of the labels, with the weight of one more; then a_j. */
void joint_draw_labels(joint_chain *c)
{
    int r = (int)c->r;
    for (size_t j = 0; j < c->d; j++) {
        const label_sums *label = &c->label[j];
        double noise = label->noise;
        if (!labelled(c, j)) {
            continue;
        }
        cblas_dcopy(r, c->slope + j, (int)c->d, c->column, 1);
        cblas_dsymv(CblasRowMajor, CblasUpper, r, 1, label->scatter, r, c->column, 1, 0, c->other,
                    1);
        double rest = label->values - 2 * cblas_ddot(r, c->column, 1, label->cross, 1) +
                      cblas_ddot(r, c->column, 1, c->other, 1);
        if (noise > 0) {
            c->noise[j] = sqrt((fmax(rest, 0) + noise * noise) / chain_chi2(&c->g, label->rows));
        }
        c->label_fit[j] = c->noise[j] > 0 ? -label->rows * log(c->noise[j]) -
                                                fmax(rest, 0) / (2 * c->noise[j] * c->noise[j])
                                          : 0;
        c->shift[j] = label->value - cblas_ddot(r, label->mean, 1, c->column, 1) +
                      c->noise[j] / sqrt(label->rows) * chain_normal(&c->g);
    }
}
