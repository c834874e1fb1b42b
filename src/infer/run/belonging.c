#include "infer/run/belonging.h"

#include <stdio.h>
#include <string.h>

enum { ANCHORED = 1 << LSCM_METHOD_ANCHORED, BIOLS = 1 << LSCM_METHOD_BIOLS };
enum { BASELINES = 1 << LSCM_METHOD_VAE | 1 << LSCM_METHOD_GRAPHVAE };

typedef struct belonging {
    const char *setting;
    unsigned methods;
    const char *owners;
} belonging;

/* All other settings belong to every method. */
static const belonging TABLE[] = {
    {"noise", ANCHORED | BIOLS, "anchored and biols"},
    {"degree", ANCHORED | BIOLS, "anchored and biols"},
    {"ridge", ANCHORED, "anchored"},
    {"graph_prior", ANCHORED, "anchored"},
    {"clip", ANCHORED, "anchored"},
    {"encoder", ANCHORED, "anchored"},
    {"width", ANCHORED, "anchored"},
    {"candidates", ANCHORED, "anchored"},
    {"chains", ANCHORED, "anchored"},
    {"holdout", ANCHORED, "anchored"},
    {"mechanism", ANCHORED, "anchored"},
    {"noise_law", ANCHORED, "anchored"},
    {"samples", BIOLS, "biols"},
    {"optimiser", BIOLS, "biols"},
    {"expectation", BIOLS, "biols"},
    {"objective", BIOLS, "biols"},
    {"temperature", BIOLS, "biols"},
    {"final_temperature", BIOLS, "biols"},
    {"permanent", BIOLS, "biols"},
    {"restarts", BIOLS | BASELINES, "biols, vae and graphvae"},
    {"full_run", BIOLS, "biols"},
    {"trace", BIOLS | BASELINES, "biols, vae and graphvae"},
};

enum { LONGEST = 64 };

/* The value as text where it is not the default; false where it is. */
static bool changed(const fit *f, const lscm_setting *row, char *text)
{
    char standard[LONGEST];
    lscm_fit_settings defaults;
    lscm_settings_defaults(lscm_fit_table(), &defaults);
    lscm_settings_get(row, &defaults, standard, sizeof standard);
    lscm_settings_get(row, &f->settings, text, LONGEST);
    return strcmp(standard, text) != 0;
}

/* As it is typed: final_temperature -> final-temperature. */
static void option_of(const char *name, char *out)
{
    (void)snprintf(out, LONGEST, "%s", name);
    for (char *c = out; *c != '\0'; c++) {
        *c = *c == '_' ? '-' : *c;
    }
}

lscm_status belonging_check(const fit *f, lscm_error *why)
{
    for (size_t k = 0; k < sizeof TABLE / sizeof TABLE[0]; k++) {
        const belonging *b = &TABLE[k];
        char text[LONGEST];
        char option[LONGEST];
        bool theirs = (b->methods >> f->settings.method & 1U) == 0;
        if (theirs && changed(f, lscm_settings_find(lscm_fit_table(), b->setting), text)) {
            option_of(b->setting, option);
            return fail(why, LSCM_USAGE,
                        "--%s %s belongs to the method %s, and this fit is by %s; leave it out, or "
                        "choose with --method",
                        option, text, b->owners, fit_method(f));
        }
    }
    return LSCM_OK;
}

void belonging_unused(const fit *f, const char *const *names, const char *why_not)
{
    for (; *names != NULL; names++) {
        char text[LONGEST];
        char option[LONGEST];
        char said[256];
        if (changed(f, lscm_settings_find(lscm_fit_table(), *names), text)) {
            option_of(*names, option);
            (void)snprintf(said, sizeof said, "--%s %s was not used: %s", option, text, why_not);
            (void)json_array_append_new(f->warnings, json_string(said));
        }
    }
}
