#include "data/text/target_parts.h"

#include <stddef.h>
#include <string.h>

static char *without_blanks(char *part, size_t length)
{
    while (length > 0 && strchr(" \t", *part) != NULL) {
        part++;
        length--;
    }
    while (length > 0 && strchr(" \t", part[length - 1]) != NULL) {
        length--;
    }
    part[length] = '\0';
    return part;
}

char *next_target(char **rest)
{
    char *from = *rest;
    int depth = 0;
    size_t length = 0;
    if (from == NULL) {
        return NULL;
    }
    while (from[length] != '\0' && (depth > 0 || strchr(TARGET_JOINTS, from[length]) == NULL)) {
        depth += strchr("([{", from[length]) != NULL ? 1 : 0;
        depth -= strchr(")]}", from[length]) != NULL && depth > 0 ? 1 : 0;
        length++;
    }
    *rest = from[length] != '\0' ? from + length + 1 : NULL;
    return without_blanks(from, length);
}
