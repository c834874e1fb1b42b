/* Man pages, written from the tables that --help uses: they cannot disagree. */
#include "common/cli.h"

#include <string.h>

enum { LAST_GROUP = 9 };

/* Headings have no name, the end of the table has no text either. */
static bool has_more(const struct argp_option *o)
{
    return o->name != NULL || o->doc != NULL;
}

/* Text for troff: leading dots and backslashes must not act. */
static void print_escaped(FILE *out, const char *text, size_t length)
{
    bool line_start = true;
    for (size_t i = 0; i < length; i++) {
        if (line_start && (text[i] == '.' || text[i] == '\'')) {
            (void)fputs("\\&", out);
        }
        if (text[i] == '\\') {
            (void)fputs("\\e", out);
        } else if (text[i] == '-') {
            (void)fputs("\\-", out);
        } else {
            (void)fputc(text[i], out);
        }
        line_start = text[i] == '\n';
    }
}

static void print_heading(const char *title, const char *name, const char *summary, FILE *out)
{
    (void)fprintf(out, ".TH %s 1 \"\" \"lscm %s\" \"lscm manual\"\n.SH NAME\n", title,
                  lscm_version());
    print_escaped(out, name, strlen(name));
    (void)fputs(" \\- ", out);
    print_escaped(out, summary, strlen(summary));
    (void)fputs("\n.SH SYNOPSIS\n", out);
}

static void print_option(const struct argp_option *o, FILE *out)
{
    (void)fputs(".TP\n", out);
    if (o->key > ' ' && o->key < 127) {
        (void)fprintf(out, "\\fB\\-%c\\fR, ", o->key);
    }
    (void)fputs("\\fB\\-\\-", out);
    print_escaped(out, o->name, strlen(o->name));
    (void)fputs("\\fR", out);
    if (o->arg != NULL) {
        (void)fputs("=\\fI", out);
        print_escaped(out, o->arg, strlen(o->arg));
        (void)fputs("\\fR", out);
    }
    (void)fputc('\n', out);
    print_escaped(out, o->doc, strlen(o->doc));
    (void)fputc('\n', out);
}

/* Group by group, as argp does in --help. */
static void print_options(const struct argp_option *options, FILE *out)
{
    for (int group = 0; group <= LAST_GROUP; group++) {
        for (const struct argp_option *o = options; has_more(o); o++) {
            if (o->group == group && o->name == NULL) {
                (void)fprintf(out, ".SS \"%.*s\"\n", (int)strcspn(o->doc, ":"), o->doc);
            }
        }
        for (const struct argp_option *o = options; has_more(o); o++) {
            if (o->group == group && o->name != NULL) {
                print_option(o, out);
            }
        }
    }
}

static void print_exit_status(FILE *out)
{
    (void)fputs(".SH EXIT STATUS\n0 when done, 1 when it failed, 2 when it was called wrongly, 130 "
                "when Ctrl\\-C stopped it (a second one ends it at once).\n",
                out);
}

void print_man_page(const command *cmd, FILE *out)
{
    const struct argp *argp = cmd->argp();
    char name[64];
    size_t before = strcspn(argp->doc, "\v");
    (void)snprintf(name, sizeof name, "lscm-%s", cmd->name);
    print_heading(name, name, cmd->summary, out);
    (void)fprintf(out, ".B lscm %s\n[\\fIoption\\fR ...] ", cmd->name);
    print_escaped(out, argp->args_doc, strlen(argp->args_doc));
    (void)fputs("\n.SH DESCRIPTION\n", out);
    print_escaped(out, argp->doc, before);
    (void)fputs("\n.SH OPTIONS\n", out);
    print_options(argp->options, out);
    if (argp->doc[before] != '\0') {
        const char *notes = argp->doc + before + 1;
        (void)fputs(".SH NOTES\n.nf\n", out);
        print_escaped(out, notes, strlen(notes));
        (void)fputs("\n.fi\n", out);
    }
    print_exit_status(out);
    (void)fputs(".SH SEE ALSO\n.BR lscm (1)\n", out);
}

void print_man_overview(FILE *out)
{
    print_heading("lscm", "lscm",
                  "latent structural causal models from data with known interventions", out);
    (void)fputs(".B lscm\n\\fIcommand\\fR [\\fIargument\\fR ...]\n.SH COMMANDS\n", out);
    for (const command *c = COMMANDS; c->name != NULL; c++) {
        (void)fprintf(out, ".TP\n.BR lscm\\-%s (1)\n", c->name);
        print_escaped(out, c->summary, strlen(c->summary));
        (void)fputc('\n', out);
    }
    print_exit_status(out);
}
