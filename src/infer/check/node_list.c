#include "infer/check/node_list.h"

#include <stdio.h>
#include <string.h>

void list_add(node_list *list, char *const *names, size_t node)
{
    list_add_noted(list, names, node, "");
}

void list_add_noted(node_list *list, char *const *names, size_t node, const char *note)
{
    enum { SHOWN = 8 };
    static const char rest[] = " and others";
    char room[32];
    const char *name = name_of(names, node, room, sizeof room);
    size_t length = strlen(list->text);
    bool fits = length + strlen(name) + strlen(note) + 2 + sizeof rest <= sizeof list->text;
    if (list->count < SHOWN && !list->full && fits) { /* names whole: a half one may not be UTF-8 */
        (void)snprintf(list->text + length, sizeof list->text - length, "%s%s%s",
                       list->count > 0 ? ", " : "", name, note);
    } else if (!list->full) {
        (void)snprintf(list->text + length, sizeof list->text - length, "%s",
                       length > 0 ? rest : "names too long to show");
        list->full = true;
    }
    list->count++;
}
