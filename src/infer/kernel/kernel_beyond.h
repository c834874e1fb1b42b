/* What labels say of rows that are unlike them, by labels held out that are unlike the others.
 *
 * Beyond the outermost labels a reading that bends is shrunk to the linear one as far as the outer
 * half of a node's labels, predicted from the inner half, asks for: with l the linear reading of
 * f, z one that bends, and away the distance of l + bent (z - l) from the labels' range,
 *
 *     z' = z - (1 - bent) min(away/H, 1) (z - l),   sd'^2 = sd^2 + growth^2 away^2,
 *
 * H half the range; bent in [0, 1] is the least squares share at the outer labels v, and growth^2
 * the least squares slope of what is left of them then, squared, in away^2. A kernel stands for the
 * network of its kind, as both inherit what the labels do not say.
 */
#ifndef LSCM_INFER_KERNEL_KERNEL_BEYOND_H
#define LSCM_INFER_KERNEL_KERNEL_BEYOND_H

#include "infer/kernel/kernel_encoder.h"

/* Of one kind of network; what a run keeps. */
typedef struct kernel_shrink {
    size_t d, R;
    double *line; /* (R + 1, d): l = (f, 1) line */
    double *rule; /* (4, d): bent, growth, smallest and largest label */
} kernel_shrink;

typedef struct kernel_beyond {
    size_t d, R;
    double *line;    /* (R + 1, d) */
    double *rule[2]; /* (4, d): biased, homogeneous */
    arena memory;
} kernel_beyond;

/* Of an encoder that was made of these features with these settings. */
lscm_status kernel_beyond_of(kernel_beyond *out, const kernel_encoder *e, const features *f,
                             const kernel_settings *settings, const lscm_progress *progress,
                             lscm_error *why);
void kernel_beyond_close(kernel_beyond *b);
kernel_shrink kernel_beyond_shrink(const kernel_beyond *b, bool homogeneous);
/* z and sd (n, d) of rows f (n, R), shrunk; entries that do() set are left alone. */
void kernel_shrink_rows(const kernel_shrink *s, size_t n, const float *f, const design *told,
                        double *z, double *sd);

#endif
