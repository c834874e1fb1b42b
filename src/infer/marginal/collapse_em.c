/* EM, extrapolated (SQUAREM, Varadhan & Roland 2008): with theta1, theta2 the next two points of EM
 * from theta0, r = theta1 - theta0, v = theta2 - theta1 - r and k = |r|/|v| between 1 and a limit
 * that grows while it works,
 *
 *     theta' = theta0 + 2 k r + k^2 v,   taken if its objective is not below theta1's, else theta2.
 *
 * Noises are extrapolated as logarithms. Lengths are in the metric of the complete data (a
 * coefficient counts its variable's rms over the noise of what it explains), in which EM's map is
 * symmetric. The objective never falls; a fall of plain EM is rounding and ends the iteration.
 */
#include "infer/marginal/collapse_state.h"

#include <math.h>
#include <string.h>

static size_t pack_length(const collapse *c)
{
    return c->d * c->rank + c->rank + c->d * c->d + 2 * c->d + 2;
}

static void pack(const collapse *c, const collapse_parameters *p, double *out)
{
    size_t d = c->d;
    size_t r = c->rank;
    memcpy(out, p->a, d * r * sizeof(double));
    out += d * r;
    memcpy(out, p->b, r * sizeof(double));
    out += r;
    memcpy(out, p->w, d * d * sizeof(double));
    out += d * d;
    memcpy(out, p->c, d * sizeof(double));
    out += d;
    for (size_t i = 0; i < d; i++) {
        *out++ = log(p->sigma[i]);
    }
    *out++ = p->actuator_noise > 0 ? log(p->actuator_noise) : 0;
    *out = log(collapse_x_noise(c, p));
}

/* Noises that are not learned stay as they are, bit for bit. */
static void unpack(const collapse *c, const collapse_settings *s, const double *in,
                   collapse_parameters *p)
{
    size_t d = c->d;
    size_t r = c->rank;
    memcpy(p->a, in, d * r * sizeof(double));
    in += d * r;
    memcpy(p->b, in, r * sizeof(double));
    in += r;
    memcpy(p->w, in, d * d * sizeof(double));
    in += d * d;
    memcpy(p->c, in, d * sizeof(double));
    in += d;
    for (size_t i = 0; i < d; i++) {
        p->sigma[i] = exp(in[i]);
    }
    if (s->learn_actuator_noise && p->actuator_noise > 0) {
        p->actuator_noise = fmax(exp(in[d]), c->target_floor);
    }
    if (s->learn_x_noise) {
        p->x_noise = fmax(exp(in[d + 1]), c->floor);
    }
}

/* Squared weights of the metric, from the sums at p. */
static void weigh(const collapse *c, const collapse_parameters *p, double *out)
{
    size_t d = c->d;
    size_t n = d + 1;
    double rows = (double)c->rows;
    double s_x = collapse_x_noise(c, p);
    collapse_sums sums = collapse_sums_at(c, 0);
    for (size_t j = 1; j <= d; j++) {
        for (size_t k = 0; k < c->rank; k++) {
            *out++ = sums.gram[j * n + j] / (rows * s_x * s_x);
        }
    }
    for (size_t k = 0; k < c->rank; k++) {
        *out++ = 1 / (s_x * s_x);
    }
    for (size_t j = 1; j <= d; j++) {
        for (size_t i = 0; i < d; i++) {
            double square = sums.node_gram[(i * n + j) * n + j];
            *out++ = square / (rows * p->sigma[i] * p->sigma[i]);
        }
    }
    for (size_t i = 0; i < d; i++) {
        *out++ = 1 / (p->sigma[i] * p->sigma[i]);
    }
    for (size_t k = 0; k < d + 2; k++) {
        *out++ = 1;
    }
}

/* theta[0] becomes theta'; false when there is nothing to gain over theta2. */
static bool extrapolate(const collapse *c, double limit, bool *limited)
{
    double rr = 0;
    double vv = 0;
    for (size_t k = 0; k < pack_length(c); k++) {
        double r = c->theta[1][k] - c->theta[0][k];
        double v = c->theta[2][k] - c->theta[1][k] - r;
        rr += c->weight[k] * r * r;
        vv += c->weight[k] * v * v;
    }
    double length = sqrt(rr / vv);
    *limited = !(length < limit);
    length = length < limit ? length : limit;
    if (!(length > 1) || !(rr < INFINITY)) {
        return false;
    }
    for (size_t k = 0; k < pack_length(c); k++) {
        double r = c->theta[1][k] - c->theta[0][k];
        double v = c->theta[2][k] - c->theta[1][k] - r;
        c->theta[0][k] += 2 * length * r + length * length * v;
    }
    return true;
}

typedef struct ascent {
    const collapse_graph *g;
    const collapse_settings *s;
    double log_likelihood, objective;
    double limit;
} ascent;

static double climb(collapse *c, ascent *a, const collapse_parameters *p)
{
    a->log_likelihood = collapse_expect(c, a->g, p, true);
    return a->log_likelihood + collapse_penalty(a->g, a->s, p, NULL);
}

/* One step from p, whose sums are there; false when the objective cannot be raised. */
static bool step_up(collapse *c, ascent *a, collapse_parameters *p)
{
    bool limited = false;
    double before = a->log_likelihood;
    pack(c, p, c->theta[0]);
    weigh(c, p, c->weight);
    collapse_parameters_copy(&c->next, p);
    collapse_maximise(c, a->g, a->s, &c->next);
    double first = climb(c, a, &c->next);
    if (!(first >= a->objective)) {
        a->log_likelihood = before;
        return false;
    }
    pack(c, &c->next, c->theta[1]);
    collapse_parameters_copy(p, &c->next);
    collapse_maximise(c, a->g, a->s, &c->next);
    pack(c, &c->next, c->theta[2]);
    before = a->log_likelihood;
    a->objective = first;

    collapse_parameters_copy(&c->other, p);
    bool tried = extrapolate(c, a->limit, &limited);
    if (tried) {
        unpack(c, a->s, c->theta[0], &c->other);
        double far = climb(c, a, &c->other);
        if (far >= first) {
            a->limit = limited ? 4 * a->limit : a->limit;
            a->objective = far;
            collapse_parameters_copy(p, &c->other);
            return true;
        }
        a->limit = fmax(a->limit / 2, 4);
    }
    double second = climb(c, a, &c->next);
    if (!(second >= first)) {
        a->log_likelihood = before;
        return false;
    }
    a->objective = second;
    collapse_parameters_copy(p, &c->next);
    return true;
}

lscm_status collapse_em(collapse *c, const collapse_graph *g, const collapse_settings *s,
                        collapse_parameters *p, collapse_report *out, const lscm_progress *progress,
                        lscm_error *why)
{
    lscm_status status = LSCM_OK;
    size_t most = s->steps > 0 ? s->steps : 1000;
    double tolerance = s->tolerance > 0 ? s->tolerance : 1e-10;
    ascent a = {.g = g, .s = s, .limit = 4};
    *out = (collapse_report){0};
    p->x_noise = collapse_x_noise(c, p);
    a.objective = climb(c, &a, p);
    if (!(fabs(a.objective) < INFINITY)) {
        status = fail(why, LSCM_VALUE,
                      "the likelihood is not finite at the start; check that x and the values of "
                      "do() are in sensible units");
        goto done;
    }
    while (out->steps < most && !out->converged) {
        double before = a.objective;
        bool more = step_up(c, &a, p);
        out->steps++;
        out->converged =
            !more || a.objective - before <= tolerance * (fabs(a.objective) + (double)c->rows);
        if (progress != NULL && progress->report != NULL &&
            !progress->report(progress->self, "collapse", out->steps, most)) {
            status = fail(why, LSCM_STOPPED, "stopped after %zu steps of EM", out->steps);
            goto done;
        }
    }
done:
    out->objective = a.objective;
    out->log_likelihood = a.log_likelihood;
    return status;
}
