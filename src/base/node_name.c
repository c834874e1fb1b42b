#include "base/node_name.h"

#include <stdio.h>

const char *name_of(char *const *names, size_t node, char *room, size_t size)
{
    if (names != NULL) {
        return names[node];
    }
    (void)snprintf(room, size, "%zu", node);
    return room;
}
