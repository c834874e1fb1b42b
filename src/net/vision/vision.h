/* Networks of pictures: one reads z off a picture, the other draws it from z. They work on a
 * picture at a time, whose maps stay in a core's cache; pictures go side by side.
 */
#ifndef LSCM_NET_VISION_VISION_H
#define LSCM_NET_VISION_VISION_H

#include "net/vision/picture_encoder.h" /* z of a picture */
#include "net/vision/pixel_decoder.h"   /* the colour of a pixel, given z */

#endif
