/* The sweep operator, which prices a parent more or less in O(1) and carries it out in O(m^2).
 * Sweeping k with pivot p = a_kk:  a_ij -= a_ik a_kj / p,  a_ik = +- a_ik / p  (in, out),
 * a_kk = -1/p.
 */
#include "infer/screen/screen_parts.h"

#include <math.h>
#include <string.h>

void sweep_begin(sweep *s, const family *f)
{
    size_t m = f->count + 1;
    s->m = f->count;
    s->n = f->rows;
    s->inside = 0;
    memset(s->in, 0, s->m);
    for (size_t a = 0; a < m; a++) {
        for (size_t b = 0; b < m; b++) {
            double size = sqrt(f->scatter[a * m + a]) * sqrt(f->scatter[b * m + b]);
            s->a[a * m + b] = size > 0 ? f->scatter[a * m + b] / size : 0;
        }
    }
}

double sweep_score(const sweep *s, double rss, size_t inside)
{
    return s->n > 1 && rss > 0 ? -0.5 * s->n * log(rss) - 0.5 * (double)inside * log(s->n) : 0;
}

double sweep_now(const sweep *s)
{
    return sweep_score(s, s->a[(s->m + 1) * (s->m + 1) - 1], s->inside);
}

double sweep_change(const sweep *s, size_t k)
{
    size_t w = s->m + 1;
    const double *own = s->a + s->m * w;
    double rss = own[s->m];
    double pivot = s->a[k * w + k];
    size_t inside = s->in[k] != 0 ? s->inside - 1 : s->inside + 1;
    /* a node that others determine is not swept, and changes nothing but the count */
    bool fixed = s->in[k] == 2 || (s->in[k] == 0 && !(pivot > 0));
    double after = fixed ? rss : fmax(rss - own[k] * own[k] / pivot, 1e-9 * rss);
    return sweep_score(s, after, inside) - sweep_now(s);
}

void sweep_toggle(sweep *s, size_t k)
{
    const double collinear = 1e-13;
    size_t w = s->m + 1;
    double *row = s->a + k * w;
    double pivot = row[k];
    bool enters = s->in[k] == 0;
    s->inside = enters ? s->inside + 1 : s->inside - 1;
    if (s->in[k] == 2 || (enters && !(pivot > collinear))) {
        s->in[k] = enters ? 2 : 0;
        return;
    }
    s->in[k] = enters ? 1 : 0;
    for (size_t i = 0; i < w; i++) {
        double by = s->a[i * w + k] / pivot;
        if (i != k) {
            for (size_t j = 0; j < w; j++) {
                s->a[i * w + j] -= by * row[j];
            }
        }
    }
    for (size_t i = 0; i < w; i++) {
        double value = enters ? row[i] / pivot : -row[i] / pivot;
        row[i] = value;
        s->a[i * w + k] = value;
    }
    row[k] = -1 / pivot;
}

void sweep_eliminate(sweep *s)
{
    for (;;) {
        double best = 0;
        size_t worst = s->m;
        for (size_t k = 0; k < s->m; k++) {
            double change = s->in[k] != 0 ? sweep_change(s, k) : -1;
            if (change > best) {
                best = change;
                worst = k;
            }
        }
        if (worst == s->m) {
            return;
        }
        sweep_toggle(s, worst);
    }
}

void sweep_copy(sweep *to, const sweep *from)
{
    to->m = from->m;
    to->n = from->n;
    to->inside = from->inside;
    memcpy(to->a, from->a, (from->m + 1) * (from->m + 1) * sizeof *to->a);
    memcpy(to->in, from->in, from->m);
}
