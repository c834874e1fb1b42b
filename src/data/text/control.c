#include "data/text/control.h"

#include <string.h>
#include <strings.h>

static const char USUAL[] = "none,control,ctrl,NT,non-targeting,nontargeting,non_targeting,DMSO,"
                            "vehicle,mock,untreated,unperturbed,wildtype,wild-type,WT,"
                            "observational,NA,NaN";

bool is_control(const char *word, const char *control)
{
    const char *list = control != NULL ? control : USUAL;
    size_t length = strlen(word);
    while (*list != '\0') {
        list += strspn(list, " \t");
        size_t width = strcspn(list, ",");
        size_t end = width;
        while (end > 0 && strchr(" \t", list[end - 1]) != NULL) {
            end--;
        }
        if (end == length && length > 0 && strncasecmp(list, word, length) == 0) {
            return true;
        }
        list += width + (list[width] != '\0' ? 1 : 0);
    }
    return false;
}
