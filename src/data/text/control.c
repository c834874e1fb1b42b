#include "data/text/control.h"

#include <string.h>
#include <strings.h>

/* The length without a number at the end and what joins it. */
static size_t without_number(const char *word)
{
    size_t length = strlen(word);
    while (length > 0 && word[length - 1] >= '0' && word[length - 1] <= '9') {
        length--;
    }
    while (length > 0 && strchr("_- ", word[length - 1]) != NULL) {
        length--;
    }
    return length;
}

bool control_word(const char *word, const char *given)
{
    const char *list = given != NULL ? given : CONTROL_WORDS;
    size_t whole = strlen(word);
    size_t bare = without_number(word);
    bool found = whole == 0;
    while (!found && *list != '\0') {
        size_t length = strcspn(list, ",");
        found = length > 0 && (length == whole || length == bare) &&
                strncasecmp(word, list, length) == 0;
        list += length + (list[length] == ',' ? 1 : 0);
    }
    return found;
}
