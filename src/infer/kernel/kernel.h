/* The closed-form start where x bends: a Gaussian process from features of x to z, with its error
 * for every row.
 */
#ifndef LSCM_INFER_KERNEL_KERNEL_H
#define LSCM_INFER_KERNEL_KERNEL_H

#include "infer/kernel/kernel_beyond.h"   /* readings beyond the labels */
#include "infer/kernel/kernel_cholesky.h" /* factors in float32 */
#include "infer/kernel/kernel_encoder.h"  /* the encoder */
#include "infer/kernel/kernel_parts.h"    /* labels, choice, solutions, variance */

#endif
