/* A run in a few lines: what the fit said when it ended, what it was fitted to, the settings that
 * are not the defaults, and the files. */
#include "commands/info_folder.h"

#include "commands/fit_report.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const char *const FILES[] = {"posterior.nc", "summary.json", "config.json",
                                    "trace.csv",    "report.html",  "checkpoint"};
enum { FILE_COUNT = sizeof FILES / sizeof FILES[0] };

/* The size of a file of the run, or -1 when it is not there. */
static double size_of(const char *folder, const char *name)
{
    char path[4096];
    struct stat info;
    int length = snprintf(path, sizeof path, "%s/%s", folder, name);
    bool there = length > 0 && (size_t)length < sizeof path && stat(path, &info) == 0;
    return there ? (double)info.st_size : -1;
}

/* Said already, in words. */
static bool is_said(const char *key)
{
    static const char *const said[] = {"data", "lscm", "method", "decoder", "draws", "seed"};
    bool found = false;
    for (size_t i = 0; i < sizeof said / sizeof said[0]; i++) {
        found = found || strcmp(key, said[i]) == 0;
    }
    return found;
}

/* True when this is what the setting is without being set. */
static bool is_default(const char *key, const json_t *value)
{
    const lscm_setting *row = lscm_settings_find(lscm_fit_table(), key);
    char text[64];
    if (row == NULL) {
        return false;
    }
    lscm_settings_get(row, NULL, text, sizeof text);
    if (json_is_number(value)) {
        return json_number_value(value) == row->initial;
    }
    return json_is_boolean(value)
               ? json_boolean_value(value) == (row->initial != 0)
               : json_is_string(value) && strcmp(json_string_value(value), text) == 0;
}

static void print_value(const json_t *value)
{
    char *text = NULL;
    if (json_is_string(value)) {
        (void)printf("%s", json_string_value(value));
    } else if (json_is_number(value)) {
        (void)printf("%.10g", json_number_value(value));
    } else {
        text = json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT);
        (void)printf("%s", text != NULL ? text : "");
    }
    free(text);
}

static void print_settings(const json_t *config)
{
    const char *key = NULL;
    json_t *value = NULL;
    size_t shown = 0;
    json_object_foreach((json_t *)(uintptr_t)config, key, value)
    {
        if (!is_said(key) && !is_default(key, value)) {
            (void)printf("%s%s=", shown++ == 0 ? "settings, given or chosen: " : " ", key);
            print_value(value);
        }
    }
    (void)printf("%s", shown > 0 ? "\n" : "");
}

static void print_files(const char *folder)
{
    size_t shown = 0;
    for (size_t i = 0; i < FILE_COUNT; i++) {
        char size[32];
        double bytes = size_of(folder, FILES[i]);
        if (bytes >= 0) {
            human_bytes(bytes, size, sizeof size);
            (void)printf("%s%s %s", shown++ == 0 ? "files: " : ", ", FILES[i], size);
        }
    }
    (void)printf("\n");
}

static void print_text(const char *folder, const lscm_posterior *run, const json_t *config)
{
    const char *data = json_string_value(json_object_get(config, "data"));
    const char *version = json_string_value(json_object_get(config, "lscm"));
    print_fit(run, folder, NULL, false);
    (void)printf("fitted to %s: %zu rows, %zu nodes; %zu draws, seed %lld, lscm %s\n",
                 data != NULL ? data : "data of unknown name", lscm_posterior_rows(run),
                 lscm_posterior_nodes(run), lscm_posterior_draws(run),
                 (long long)json_integer_value(json_object_get(config, "seed")),
                 version != NULL ? version : "of unknown version");
    print_settings(config);
    print_files(folder);
}

static void print_json(const char *folder, const lscm_posterior *run, json_t *config)
{
    size_t d = lscm_posterior_nodes(run);
    json_t *names = json_array();
    json_t *files = json_object();
    for (size_t i = 0; i < d; i++) {
        char number[32];
        const char *name = lscm_posterior_node_name(run, i);
        (void)snprintf(number, sizeof number, "%zu", i);
        (void)json_array_append_new(names, json_string(name != NULL ? name : number));
    }
    for (size_t i = 0; i < FILE_COUNT; i++) {
        double bytes = size_of(folder, FILES[i]);
        if (bytes >= 0) {
            (void)json_object_set_new(files, FILES[i], json_integer((json_int_t)bytes));
        }
    }
    json_t *all =
        json_pack("{s:s, s:s, s:I, s:I, s:I, s:I, s:o, s:o, s:O, s:o}", "file", folder, "format",
                  "run", "rows", (json_int_t)lscm_posterior_rows(run), "nodes", (json_int_t)d,
                  "draws", (json_int_t)lscm_posterior_draws(run), "edges",
                  (json_int_t)likely_edges(run, NULL, 0), "names", names, "files", files, "config",
                  config, "summary", json_loads(lscm_posterior_summary(run), 0, NULL));
    (void)json_dumpf(all, stdout, JSON_REAL_PRECISION(12));
    (void)printf("\n");
    json_decref(all);
}

int info_folder(const char *folder, const common_options *options)
{
    lscm_posterior *run = NULL;
    lscm_error why = {0};
    if (lscm_posterior_open(&run, folder, &why) != LSCM_OK) {
        return cli_fail(&why);
    }
    json_t *config = json_loads(lscm_posterior_config(run), 0, NULL);
    if (options->json) {
        print_json(folder, run, config);
    } else if (!options->quiet) {
        print_text(folder, run, config);
    }
    json_decref(config);
    lscm_posterior_free(run);
    return EXIT_DONE;
}
