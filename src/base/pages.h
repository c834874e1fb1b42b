/* Large pages for large memory: a thousandth of the page faults. A hint; it may do nothing. */
#ifndef LSCM_BASE_PAGES_H
#define LSCM_BASE_PAGES_H

#include <stddef.h>

/* `memory` of `bytes` that has not been touched yet. */
void pages_large(void *memory, size_t bytes);

#endif
