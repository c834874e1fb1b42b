/* Eight numbers side by side, one per posterior draw: small matrices are worked on for eight draws
 * at once, with the draw as the innermost index, so that each scalar step of an algorithm is one
 * vector step. GCC and clang lower the type to whatever vector unit there is. */
#ifndef LSCM_BASE_LANES_H
#define LSCM_BASE_LANES_H

enum { LANES = 8 };

typedef double lanes __attribute__((vector_size(LANES * sizeof(double))));

#endif
