#include "scm/mechanism/bent.h"

static double sum_of(const double *coef, const double *g, size_t n)
{
    double sum = 0;
    for (size_t k = 0; k < n; k++) {
        sum += coef[k] * g[k];
    }
    return sum;
}

double bent_effect(const bent_mechanisms *b, size_t draw, size_t i, const double *z)
{
    double sum = 0;
    for (uint64_t t = b->first[draw * b->d + i]; t < b->first[draw * b->d + i + 1]; t++) {
        const int32_t *parent = b->parent + 2 * t;
        double own[CURVE_WIDTH];
        curve_values(&b->basis[parent[0]], z[parent[0]], own);
        if (parent[1] == BENT_ALONE) {
            sum += sum_of(b->coef + t * CURVE_WIDTH, own, CURVE_WIDTH);
        } else {
            double other[CURVE_WIDTH];
            double product[CURVE_PAIRS];
            curve_values(&b->basis[parent[1]], z[parent[1]], other);
            curve_products(own, other, product);
            sum += sum_of(b->coef + t * CURVE_WIDTH, product, CURVE_PAIRS);
        }
    }
    return sum;
}

void bent_slopes(const bent_mechanisms *b, size_t draw, size_t i, const double *z, double *slope)
{
    for (uint64_t t = b->first[draw * b->d + i]; t < b->first[draw * b->d + i + 1]; t++) {
        const int32_t *parent = b->parent + 2 * t;
        const double *coef = b->coef + t * CURVE_WIDTH;
        double rise[CURVE_WIDTH];
        curve_slopes(&b->basis[parent[0]], z[parent[0]], rise);
        if (parent[1] == BENT_ALONE) {
            slope[parent[0]] += sum_of(coef, rise, CURVE_WIDTH);
        } else {
            double own[CURVE_WIDTH];
            double other[CURVE_WIDTH];
            double other_rise[CURVE_WIDTH];
            double product[CURVE_PAIRS];
            curve_values(&b->basis[parent[0]], z[parent[0]], own);
            curve_values(&b->basis[parent[1]], z[parent[1]], other);
            curve_slopes(&b->basis[parent[1]], z[parent[1]], other_rise);
            curve_products(rise, other, product);
            slope[parent[0]] += sum_of(coef, product, CURVE_PAIRS);
            curve_products(own, other_rise, product);
            slope[parent[1]] += sum_of(coef, product, CURVE_PAIRS);
        }
    }
}

double bent_curve(const bent_mechanisms *b, size_t draw, size_t i, size_t p, double z)
{
    double sum = 0;
    for (uint64_t t = b->first[draw * b->d + i]; t < b->first[draw * b->d + i + 1]; t++) {
        double own[CURVE_WIDTH];
        if (b->parent[2 * t] == (int32_t)p && b->parent[2 * t + 1] == BENT_ALONE) {
            curve_values(&b->basis[p], z, own);
            sum += sum_of(b->coef + t * CURVE_WIDTH, own, CURVE_WIDTH);
        }
    }
    return sum;
}
