#include "base/status.h"

#include <stdarg.h>
#include <stdio.h>

const char *lscm_status_text(lscm_status status)
{
    static const char *const sentences[] = {
#define SENTENCE(name, sentence) sentence,
        LSCM_STATUS_TABLE(SENTENCE)
#undef SENTENCE
    };
    const size_t count = sizeof sentences / sizeof sentences[0];
    return (size_t)status < count ? sentences[status] : "unknown status";
}

const char *lscm_version(void)
{
    return LSCM_VERSION;
}

void explain(lscm_error *why, lscm_status status, const char *format, ...)
{
    if (why != NULL) {
        va_list arguments;
        va_start(arguments, format);
        why->status = status;
        (void)vsnprintf(why->text, sizeof why->text, format, arguments);
        va_end(arguments);
    }
}

void explain_memory(lscm_error *why, size_t bytes)
{
    explain(why, LSCM_MEMORY,
            "could not allocate %.1f MB; free some memory or use a smaller problem",
            (double)bytes / 1e6);
}
