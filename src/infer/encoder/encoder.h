/* z of x. Encoders of all kinds, as a run keeps them and reads new rows by them.
 */
#ifndef LSCM_INFER_ENCODER_ENCODER_H
#define LSCM_INFER_ENCODER_ENCODER_H

#include "infer/encoder/linear_encoder.h" /* z = a + y B */
#include "infer/encoder/stored_encoder.h" /* what a run keeps, and z of new rows */

#endif
