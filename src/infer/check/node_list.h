/* Nodes by name, or by number where they have none, "a, b and others" in a sentence. */
#ifndef LSCM_INFER_CHECK_NODE_LIST_H
#define LSCM_INFER_CHECK_NODE_LIST_H

#include "base/node_name.h"

#include <stdbool.h>
#include <stddef.h>

typedef struct node_list {
    char text[512];
    size_t count;
    bool full;
} node_list;

/* names (d) or NULL. */
void list_add(node_list *list, char *const *names, size_t node);
/* With something said of it, right after its name. */
void list_add_noted(node_list *list, char *const *names, size_t node, const char *note);

#endif
