/* The bash completion, written from the tables that --help uses: commands, options, and the words
 * that an option or a command takes. Everything else is a file, which bash knows. */
#include "common/cli.h"

#include <ctype.h>
#include <string.h>

/* Help of a choice opens with its words, "er|ba|full: .."; 0 where it does not. */
static int choices_length(const char *doc)
{
    size_t length = strcspn(doc, ": ");
    return doc[length] == ':' && memchr(doc, '|', length) != NULL ? (int)length : 0;
}

static void print_choices(const struct argp_option *o, FILE *out)
{
    int length = choices_length(o->doc);
    for (int i = 0; i < length; i++) {
        (void)fputc(o->doc[i] == '|' ? ' ' : o->doc[i], out);
    }
}

/* "fit --method") values="auto anchored ..." ;; */
static void print_values(const command *c, FILE *out)
{
    for (const struct argp_option *o = c->argp()->options; o->name != NULL || o->doc != NULL; o++) {
        bool preset = o->name != NULL && strcmp(o->name, "preset") == 0;
        if (o->name == NULL || o->arg == NULL || (!preset && choices_length(o->doc) == 0)) {
            continue;
        }
        (void)fprintf(out, "    \"%s --%s\") values=\"", c->name, o->name);
        for (size_t i = 0; preset && lscm_preset_name(i) != NULL; i++) {
            (void)fprintf(out, "%s%s", i > 0 ? " " : "", lscm_preset_name(i));
        }
        if (!preset) {
            print_choices(o, out);
        }
        (void)fputs("\" ;;\n", out);
    }
}

static void print_names(const command *c, FILE *out)
{
    (void)fprintf(out, "    %s) options=\"--help", c->name);
    for (const struct argp_option *o = c->argp()->options; o->name != NULL || o->doc != NULL; o++) {
        if (o->name != NULL) {
            (void)fprintf(out, " --%s", o->name);
        }
    }
    (void)fputs("\" ;;\n", out);
}

/* "reproduce "*) names="all ..." ;; behind its options that take a word of their own. */
static void print_words(const command *c, FILE *out)
{
    if (c->word == NULL) {
        return;
    }
    const char *before = "    ";
    for (const struct argp_option *o = c->argp()->options; o->name != NULL || o->doc != NULL; o++) {
        if (o->name != NULL && o->arg != NULL) {
            (void)fprintf(out, "%s\"%s --%s\"", before, c->name, o->name);
            before = " | ";
            if (o->key < 128 && isalpha(o->key)) { /* others have no letter */
                (void)fprintf(out, " | \"%s -%c\"", c->name, o->key);
            }
        }
    }
    (void)fprintf(out, ") ;;\n    \"%s \"*) names=\"", c->name);
    for (size_t i = 0; c->word(i) != NULL; i++) {
        (void)fprintf(out, "%s%s", i > 0 ? " " : "", c->word(i));
    }
    (void)fputs("\" ;;\n", out);
}

void print_completion(FILE *out)
{
    /* bash takes --method=biols for three words */
    (void)fputs(
        "# bash completion for lscm\n_lscm() {\n"
        "    local current=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]}\n"
        "    local command=${COMP_WORDS[1]} options=\"\" values=\"\" names=\"\" words=\"\"\n"
        "    case $before in =) before=${COMP_WORDS[COMP_CWORD-2]} ;; esac\n"
        "    case $current in =) current=\"\" ;; esac\n"
        "    case $command in\n",
        out);
    for (const command *c = COMMANDS; c->name != NULL; c++) {
        print_names(c, out);
    }
    (void)fputs("    esac\n    case \"$command $before\" in\n", out);
    for (const command *c = COMMANDS; c->name != NULL; c++) {
        print_values(c, out);
    }
    (void)fputs("    esac\n    case \"$command $before\" in\n", out);
    for (const command *c = COMMANDS; c->name != NULL; c++) {
        print_words(c, out);
    }
    (void)fputs("    esac\n    if [ \"$COMP_CWORD\" -eq 1 ] || [ \"$command\" = help ]; then\n"
                "        words=\"help --help --version",
                out);
    for (const command *c = COMMANDS; c->name != NULL; c++) {
        (void)fprintf(out, " %s", c->name);
    }
    (void)fputs(
        "\"\n    elif [ -n \"$values\" ]; then\n        words=$values\n"
        "    else\n        case $current in -*) words=$options ;; *) words=$names ;; esac\n    fi\n"
        "    COMPREPLY=($(compgen -W \"$words\" -- \"$current\"))\n"
        "}\ncomplete -o default -F _lscm lscm\n",
        out);
}
