/* A node in a sentence: by its name, or its number where it has none. */
#ifndef LSCM_BASE_NODE_NAME_H
#define LSCM_BASE_NODE_NAME_H

#include <stddef.h>

enum { NODE_NAME_ROOM = 32 };

/* names (d) or NULL; `room` holds a number where it is one. */
const char *name_of(char *const *names, size_t node, char *room, size_t size);

#endif
