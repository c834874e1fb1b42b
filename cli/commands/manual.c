/* Man pages and bash completion, written from the tables that --help uses: they cannot disagree. */
#include "common/cli.h"

#include <string.h>

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
    for (const struct argp_option *o = argp->options; o->name != NULL; o++) {
        print_option(o, out);
    }
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

void print_completion(FILE *out)
{
    (void)fputs("# bash completion for lscm\n_lscm() {\n"
                "    local current=${COMP_WORDS[COMP_CWORD]} words=\"\"\n"
                "    if [ \"$COMP_CWORD\" -eq 1 ]; then\n        words=\"help --help --version",
                out);
    for (const command *c = COMMANDS; c->name != NULL; c++) {
        (void)fprintf(out, " %s", c->name);
    }
    (void)fputs("\"\n    else\n        case ${COMP_WORDS[1]} in\n", out);
    for (const command *c = COMMANDS; c->name != NULL; c++) {
        (void)fprintf(out, "        %s) words=\"--help", c->name);
        for (const struct argp_option *o = c->argp()->options; o->name != NULL; o++) {
            (void)fprintf(out, " --%s", o->name);
        }
        (void)fputs("\" ;;\n", out);
    }
    (void)fputs(
        "        esac\n        case ${COMP_WORDS[COMP_CWORD-1]} in\n        --preset) current="
        "${current#=} words=\"",
        out);
    for (size_t i = 0; lscm_preset_name(i) != NULL; i++) {
        (void)fprintf(out, "%s%s", i > 0 ? " " : "", lscm_preset_name(i));
    }
    (void)fputs("\" ;;\n        esac\n    fi\n"
                "    COMPREPLY=($(compgen -W \"$words\" -- \"$current\"))\n"
                "}\ncomplete -o default -F _lscm lscm\n",
                out);
}
