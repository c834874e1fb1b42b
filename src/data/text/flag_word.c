#include "data/text/flag_word.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static bool is_safe(const char *name)
{
    bool safe = *name != '\0';
    for (; *name != '\0' && safe; name++) {
        safe = (*name & 0x80) != 0 || (*name >= 'a' && *name <= 'z') ||
               (*name >= 'A' && *name <= 'Z') || (*name >= '0' && *name <= '9') ||
               strchr("_-.,:+/%@", *name) != NULL;
    }
    return safe;
}

const char *flag_word(const char *name, char out[FLAG_WORD])
{
    size_t used = 0;
    if (is_safe(name)) {
        (void)snprintf(out, FLAG_WORD, "%s", name);
        return out;
    }
    out[used++] = '\'';
    for (; *name != '\0' && used + 6 < FLAG_WORD; name++) {
        used += (size_t)snprintf(out + used, FLAG_WORD - used, "%s%c", *name == '\'' ? "'\\'" : "",
                                 *name);
    }
    (void)snprintf(out + used, FLAG_WORD - used, "'");
    return out;
}
