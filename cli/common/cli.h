/* What the subcommands share: their table, options, errors and progress. */
#ifndef LSCM_CLI_H
#define LSCM_CLI_H

#include "lscm.h"

#include <argp.h>
#include <stdio.h>

enum {
    EXIT_DONE = 0,
    EXIT_FAILED = 1,
    EXIT_USAGE = 2,
    EXIT_FOUND = 3,
    EXIT_BY_SIGNAL = 128 /* and the signal's number: 130 after Ctrl-C, as shells have it */
};

typedef struct command {
    const char *name;
    const char *summary; /* one line */
    int (*run)(int argc, char **argv);
    const struct argp *(*argp)(void); /* options and texts, for --help, man pages and completion */
    const char *(*word)(size_t i);    /* what its word may be, NULL after the last; NULL: a file */
} command;

/* One row per subcommand, a NULL name at the end. */
extern const command COMMANDS[];

int simulate_run(int argc, char **argv);
int info_run(int argc, char **argv);
int check_run(int argc, char **argv);
int convert_run(int argc, char **argv);
int export_run(int argc, char **argv);
int evaluate_run(int argc, char **argv);
int fit_run(int argc, char **argv);
int sample_run(int argc, char **argv);
int transform_run(int argc, char **argv);
int compare_run(int argc, char **argv);
int report_run(int argc, char **argv);
int reproduce_run(int argc, char **argv);
const struct argp *simulate_argp(void);
const struct argp *info_argp(void);
const struct argp *check_argp(void);
const struct argp *convert_argp(void);
const struct argp *export_argp(void);
const struct argp *evaluate_argp(void);
const struct argp *fit_argp(void);
const struct argp *sample_argp(void);
const struct argp *transform_argp(void);
const struct argp *compare_argp(void);
const struct argp *report_argp(void);
const struct argp *reproduce_argp(void);
const char *reproduce_word(size_t i);

/* What several subcommands take: options, each of which stands in the table of those that want it
 * (--out with a text of its own, the others by these macros), and words without an option. */
typedef struct common_options {
    bool quiet, json, force;
    bool threads;         /* said how many */
    const char *out;      /* NULL: not given */
    const char **word[2]; /* where words go, in their order; NULL: no more are taken */
    /* What to say when a word lacks, when there is one too many ("; the run goes .."), and when
     * there is no --out; NULL where there is nothing to say. */
    const char *missing, *surplus, *unwritten;
} common_options;

enum {
    OPTION_FORCE = 'f',
    OPTION_QUIET = 'q',
    OPTION_JSON = 'j',
    OPTION_THREADS = 't',
    OPTION_OUT = 'o'
};
#define COMMON_FORCE                                                                               \
    {                                                                                              \
        "force", OPTION_FORCE, NULL, 0, "Replace the output if it exists", 8                       \
    }
#define COMMON_QUIET                                                                               \
    {                                                                                              \
        "quiet", OPTION_QUIET, NULL, 0, "Say nothing but errors", 9                                \
    }
#define COMMON_JSON                                                                                \
    {                                                                                              \
        "json", OPTION_JSON, NULL, 0, "Print one line of JSON", 9                                  \
    }
#define COMMON_THREADS                                                                             \
    {                                                                                              \
        "threads", OPTION_THREADS, "N", 0,                                                         \
            "Threads to use (default: one per core, shared by the processes of mpirun)", 9         \
    }

/* The end of the table of a subcommand that answers, in words or in JSON. */
#define COMMON_LAST                                                                                \
    COMMON_QUIET, COMMON_JSON, COMMON_THREADS,                                                     \
    {                                                                                              \
        0                                                                                          \
    }

/* True when `key` was one of the above, a word, or the end, at which it misses what lacks. */
bool common_parse(int key, const char *argument, common_options *options, struct argp_state *state);

/* The whole number from `least` to `most` in `text`, or argp's error; `option` is "draws". */
#define WHOLE_MOST INT64_C(9007199254740991) /* 2^53 - 1: no bound to speak of */
int64_t whole_number(struct argp_state *state, const char *option, const char *text, int64_t least,
                     int64_t most);

/* argp_parse, after naming the nearest option for an unknown one; `name` is "simulate". */
void cli_parse(const char *name, const struct argp *argp, int argc, char **argv, void *input);

/* lscm_comm_open; unless --threads or OMP_NUM_THREADS says otherwise, processes on one machine
 * share its cores. */
lscm_status processes_open(lscm_comm **out, const common_options *common, lscm_error *why);
/* In all processes of mpirun but the first, nothing is printed from here on. */
void only_first_speaks(void);

/* Prints the sentence; returns the exit code that goes with it. */
int cli_fail(const lscm_error *why);
/* Fills `why` for a failure that the program itself found; returns the status. */
lscm_status cli_explain(lscm_error *why, lscm_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Progress on standard error: a bar on a terminal, a line now and then elsewhere, nothing when
 * quiet. It also stops the work when the user pressed Ctrl-C. */
typedef struct progress_bar {
    bool quiet;
    double begun, shown; /* seconds */
    bool drawn;
    /* The stage that is being worked on: its time left is told from its own pace. */
    double entered;              /* seconds */
    uint64_t first, done, total; /* when it was entered, last, and in the end */
} progress_bar;
lscm_progress progress_begin(progress_bar *bar, bool quiet);
void progress_end(progress_bar *bar);
double seconds_now(void);
/* The exit code of work that was stopped: 130 by Ctrl-C, 143 by a signal to terminate. */
int stopped_code(void);

/* "1 edge", "2 edges": printf("%zu edge%s", n, PLURAL(n)). */
#define PLURAL(n) ((n) == 1 ? "" : "s")

/* "1.5 GB" in a static-free way: writes to out. */
void human_bytes(double bytes, char *out, size_t size);

/* Writes a command's man page, or the bash completion of all, from the same tables. */
void print_man_page(const command *cmd, FILE *out);
void print_man_overview(FILE *out);
void print_completion(FILE *out);

#endif
