#include "infer/check/check_functions.h"

#include <string.h>

static void add_term(check_functions *f, size_t p, size_t q, size_t width)
{
    if (f->term != NULL) {
        f->term[f->terms] = (check_term){{p, q}, f->count, width};
    }
    f->terms++;
    f->count += width;
}

check_functions check_functions_of(const check_rows *t, size_t g, size_t i, check_term *term)
{
    const anchored *a = t->in->a;
    const bent_mechanisms *b = &a->bent;
    size_t at = t->graphs.draw[g] * t->d + i;
    check_functions f = {.term = term, .bent = a->bends && bent_bends(b, t->graphs.draw[g], i)};
    for (size_t j = 0; j < t->d && !f.bent; j++) {
        if (check_has(t, g, j, i) && t->unit[j] > 0) {
            add_term(&f, j, j, 1);
        }
    }
    for (uint64_t k = f.bent ? b->first[at] : 0; f.bent && k < b->first[at + 1]; k++) {
        bool alone = b->parent[2 * k + 1] == BENT_ALONE;
        size_t p = (size_t)b->parent[2 * k];
        size_t q = alone ? p : (size_t)b->parent[2 * k + 1];
        if (t->unit[p] > 0 && t->unit[q] > 0) {
            add_term(&f, p, q, alone ? CURVE_WIDTH : CURVE_PAIRS);
        }
    }
    return f;
}

static void term_at(const check_functions *f, const check_rows *t, const check_term *e,
                    const double *z, double *out)
{
    double other[CURVE_WIDTH];
    double own[CURVE_WIDTH];
    if (!f->bent) {
        *out = z[e->parent[0]];
        return;
    }
    curve_values(&t->basis[e->parent[0]], z[e->parent[0]], own);
    if (check_term_parents(e) == 1) {
        memcpy(out, own, sizeof own);
    } else {
        curve_values(&t->basis[e->parent[1]], z[e->parent[1]], other);
        curve_products(own, other, out);
    }
}

void check_functions_at(const check_functions *f, const check_rows *t, const double *z, double *out)
{
    for (size_t k = 0; k < f->terms; k++) {
        term_at(f, t, &f->term[k], z, out + f->term[k].first);
    }
}

double check_functions_sum(const check_functions *f, const check_rows *t, const double *coef,
                           const double *z)
{
    double sum = 0;
    for (size_t k = 0; k < f->terms; k++) {
        const check_term *e = &f->term[k];
        double own[CURVE_WIDTH] = {0};
        term_at(f, t, e, z, own);
        for (size_t c = 0; c < e->width; c++) {
            sum += coef[e->first + c] * own[c];
        }
    }
    return sum;
}
