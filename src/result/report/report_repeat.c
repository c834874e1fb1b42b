/* Settings, and the command that makes the same run again: what config.json has, where it differs
 * from the defaults, quoted for a shell. */
#include "result/report/report_state.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- Words for a shell ---- */

static void put_word(FILE *out, const char *word)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "_./,:=+-@%";
    if (word[0] != '\0' && strspn(word, plain) == strlen(word)) {
        (void)fputs(word, out);
        return;
    }
    (void)fputc('\'', out);
    for (; *word != '\0'; word++) {
        if (*word == '\'') {
            (void)fputs("'\\''", out);
        } else {
            (void)fputc(*word, out);
        }
    }
    (void)fputc('\'', out);
}

static void put_option(FILE *out, const char *name, const char *value)
{
    (void)fputs(" --", out);
    for (; *name != '\0'; name++) {
        (void)fputc(*name == '_' ? '-' : *name, out);
    }
    if (value != NULL) {
        (void)fputc(' ', out);
        put_word(out, value);
    }
}

/* ---- Settings ---- */

/* A value of config.json as lscm_settings_set reads it; false when it is none. */
static bool value_text(const json_t *value, char *out, size_t size)
{
    if (json_is_string(value)) {
        (void)snprintf(out, size, "%s", json_string_value(value));
    } else if (json_is_integer(value)) {
        (void)snprintf(out, size, "%lld", (long long)json_integer_value(value));
    } else if (json_is_boolean(value)) {
        (void)snprintf(out, size, "%s", json_is_true(value) ? "true" : "false");
    } else if (json_is_real(value)) {
        char *text = json_dumps(value, JSON_ENCODE_ANY);
        (void)snprintf(out, size, "%s", text != NULL ? text : "");
        free(text);
    } else {
        return false;
    }
    return true;
}

/* What the run does not say is as the default. */
static void take_settings(const report *r, lscm_fit_settings *now)
{
    const lscm_settings_table *table = lscm_fit_table();
    const lscm_setting *row = NULL;
    lscm_settings_defaults(table, now);
    for (size_t k = 0; (row = lscm_settings_row(table, k)) != NULL; k++) {
        char text[128];
        if (value_text(json_object_get(r->config, row->name), text, sizeof text)) {
            (void)lscm_settings_set(table, now, row->name, text, NULL);
        }
    }
}

/* ["a->b", ..]: an option for each. */
static void put_edges(FILE *out, const char *name, const json_t *edges)
{
    for (size_t k = 0; k < json_array_size(edges); k++) {
        const char *edge = json_string_value(json_array_get(edges, k));
        put_option(out, name, edge != NULL ? edge : "");
    }
}

/* [["a"], ["b", "c"]] as 'a;b,c'; [2, 0, 1] as 2,0,1 */
static lscm_status put_lists(FILE *out, const char *name, const json_t *lists, lscm_error *why)
{
    char *text = NULL;
    size_t size = 0;
    FILE *word = json_array_size(lists) > 0 ? open_memstream(&text, &size) : NULL;
    if (json_array_size(lists) == 0) {
        return LSCM_OK;
    }
    if (word == NULL) {
        return fail_memory(why, 64);
    }
    for (size_t k = 0; k < json_array_size(lists); k++) {
        const json_t *list = json_array_get(lists, k);
        if (json_is_integer(list)) {
            (void)fprintf(word, "%s%lld", k > 0 ? "," : "", (long long)json_integer_value(list));
            continue;
        }
        (void)fputs(k > 0 ? ";" : "", word);
        for (size_t i = 0; i < json_array_size(list); i++) {
            const char *node = json_string_value(json_array_get(list, i));
            (void)fprintf(word, "%s%s", i > 0 ? "," : "", node != NULL ? node : "");
        }
    }
    bool bad = fclose(word) != 0;
    if (!bad) {
        put_option(out, name, text);
    }
    free(text);
    return bad ? fail_memory(why, size) : LSCM_OK;
}

static const char *text_at(const json_t *object, const char *key)
{
    return json_string_value(json_object_get(object, key));
}

static lscm_status put_command(const report *r, FILE *out, lscm_error *why)
{
    static const char *const opened[] = {"ignore",       "truth",   "names", "target_column",
                                         "value_column", "control", "layer"};
    lscm_status status = LSCM_OK;
    const lscm_setting *row = NULL;
    lscm_fit_settings now;
    const char *data = text_at(r->config, "data");
    const json_t *order = json_object_get(r->config, "order_given");
    take_settings(r, &now);
    (void)fputs("lscm fit ", out);
    put_word(out, data != NULL ? data : "DATA");
    (void)fputs(" --out again.run", out);
    for (size_t k = 0; (row = lscm_settings_row(lscm_fit_table(), k)) != NULL; k++) {
        char value[64];
        char usual[64];
        lscm_settings_get(row, &now, value, sizeof value);
        lscm_settings_get(row, NULL, usual, sizeof usual);
        bool listed = order != NULL && strcmp(row->name, "order") == 0;
        if (strcmp(value, usual) != 0 && !listed) {
            put_option(out, row->name, row->kind == LSCM_FLAG ? NULL : value);
        }
    }
    TRY(put_lists(out, "order", order, why));
    for (size_t k = 0; k < sizeof opened / sizeof opened[0]; k++) {
        if (text_at(r->config, opened[k]) != NULL) {
            put_option(out, opened[k], text_at(r->config, opened[k]));
        }
    }
    put_edges(out, "forbid", json_object_get(r->config, "forbid"));
    put_edges(out, "require", json_object_get(r->config, "require"));
    TRY(put_lists(out, "tiers", json_object_get(r->config, "tiers"), why));
done:
    return status;
}

static void put_settings(const report *r)
{
    const lscm_setting *row = NULL;
    lscm_fit_settings now;
    take_settings(r, &now);
    (void)fputs("<details>\n<summary>All settings</summary>\n<div class=\"wide\">\n<table>\n"
                "<thead><tr><th class=\"t\" scope=\"col\">setting</th><th class=\"t\" "
                "scope=\"col\">value</th><th class=\"t\" scope=\"col\">meaning</th></tr></thead>\n"
                "<tbody>\n",
                r->out);
    for (size_t k = 0; (row = lscm_settings_row(lscm_fit_table(), k)) != NULL; k++) {
        char value[64];
        lscm_settings_get(row, &now, value, sizeof value);
        (void)fprintf(r->out, "<tr><th class=\"t\" scope=\"row\">%s</th><td class=\"t\">",
                      row->name);
        put_text(r->out, value);
        (void)fputs("</td><td class=\"t\">", r->out);
        put_text(r->out, row->help);
        (void)fputs("</td></tr>\n", r->out);
    }
    (void)fputs("</tbody>\n</table>\n</div>\n</details>\n", r->out);
}

lscm_status report_repeat(const report *r, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    char *command = NULL;
    size_t size = 0;
    const char *reason = text_at(r->summary, "reason");
    const char *ran_on = text_at(r->summary, "device");
    const char *version = text_at(r->config, "lscm");
    double missing = json_number_value(json_object_get(r->summary, "missing"));
    FILE *out = open_memstream(&command, &size);
    if (out == NULL) {
        return fail_memory(why, 256);
    }
    status = put_command(r, out, why);
    if (fclose(out) != 0 && status == LSCM_OK) {
        status = fail_memory(why, size);
    }
    if (status != LSCM_OK) {
        goto done;
    }
    section_open(r->out, "repeat", "Settings, and how to repeat this");
    (void)fputs("<p>This command makes the same run again, to the last bit", r->out);
    if (version != NULL) {
        (void)fputs(" (lscm ", r->out);
        put_text(r->out, version);
        (void)fputs(")", r->out);
    }
    (void)fputs(", from the folder in which it was made:</p>\n<pre><code>", r->out);
    put_text(r->out, command);
    (void)fputs("</code></pre>\n", r->out);
    if (reason != NULL) {
        (void)fputs("<p class=\"soft\">Why this method: ", r->out);
        put_text(r->out, reason);
        (void)fputs(".</p>\n", r->out);
    }
    if (ran_on != NULL) {
        (void)fputs("<p class=\"soft\">Networks were trained on ", r->out);
        put_text(r->out, ran_on);
        (void)fputs("; another kind of device makes other bits.</p>\n", r->out);
    }
    if (missing > 0) {
        (void)fprintf(r->out,
                      "<p class=\"soft\">%.0f of the entries of x are missing. They are taken as "
                      "missing at random and were drawn with the rest: intervals show what they "
                      "leave open.</p>\n",
                      missing);
    }
    put_settings(r);
    section_close(r->out);
done:
    free(command);
    return status;
}
