/* Words in a column of targets for "nothing was set": "control", "non-targeting", "NT", "DMSO". */
#include "lscm.h"

#include <string.h>
#include <strings.h>

static const char USUAL[] =
    "none,control,ctrl,negctrl,neg_ctrl,negative,NT,non-targeting,nontargeting,non_targeting,"
    "non targeting,NTC,safe-targeting,scramble,scrambled,SCR,DMSO,vehicle,placebo,sham,mock,"
    "untreated,unperturbed,wildtype,wild-type,WT,baseline,empty,observational,NA,NaN";

enum { LONG_WORD = 4 }; /* letters; shorter ones with a number may be names: WT1, NT5E */

/* The length without a number at the end and what joins it, which long words of ours do without. */
static size_t without_number(const char *word, bool usual)
{
    size_t whole = strlen(word);
    size_t length = whole;
    while (length > 0 && word[length - 1] >= '0' && word[length - 1] <= '9') {
        length--;
    }
    size_t digits = length;
    while (length > 0 && length < whole && strchr("_- ", word[length - 1]) != NULL) {
        length--;
    }
    return length < digits || (usual && length >= LONG_WORD) ? length : whole;
}

bool lscm_is_control(const char *word, const char *control)
{
    const char *list = control != NULL ? control : USUAL;
    size_t whole = strlen(word);
    size_t bare = without_number(word, control == NULL);
    bool found = whole == 0;
    while (!found && *list != '\0') {
        list += strspn(list, " \t");
        size_t width = strcspn(list, ",");
        size_t end = width;
        while (end > 0 && strchr(" \t", list[end - 1]) != NULL) {
            end--;
        }
        found = end > 0 && (end == whole || end == bare) && strncasecmp(list, word, end) == 0;
        list += width + (list[width] != '\0' ? 1 : 0);
    }
    return found;
}
