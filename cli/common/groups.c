#include "common/groups.h"

#include <string.h>

/* `name` is one of the words of `names`. */
static bool names_it(const char *names, const char *name)
{
    size_t length = strlen(name);
    for (const char *at = names; *at != '\0';) {
        size_t word = strcspn(at, " ");
        if (word == length && strncmp(at, name, length) == 0) {
            return true;
        }
        at += word + strspn(at + word, " ");
    }
    return false;
}

int group_of(const option_group *groups, const char *name, const char *help)
{
    int opened = 0;
    for (int k = 0; groups[k].title != NULL; k++) {
        const char *opens = groups[k].opens;
        if (names_it(groups[k].names, name)) {
            return k + 1;
        }
        if (help != NULL && opens != NULL && strncmp(help, opens, strlen(opens)) == 0 &&
            (opened == 0 || *opens != '\0')) { /* "" fits everything, so any other goes first */
            opened = k + 1;
        }
    }
    return opened;
}

size_t group_options(const option_group *groups, struct argp_option *options, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        int group = group_of(groups, options[i].name, NULL);
        options[i].group = group > 0 ? group : options[i].group;
    }
    for (int k = 0; groups[k].title != NULL; k++) {
        options[count++] = (struct argp_option){.doc = groups[k].title, .group = k + 1};
    }
    return count;
}
