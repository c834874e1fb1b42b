/* Progress on standard error, and stopping in good order on Ctrl-C. */
#include "common/cli.h"

#include <inttypes.h>
#include <signal.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static volatile sig_atomic_t interrupted; /* the signal that asked to stop; 0: none did */
static double asked;                      /* when; written before `interrupted` */

double seconds_now(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* The first asks to stop in good order, the second comes from somebody who will not wait. Wrappers
 * such as timeout(1) send theirs twice in a row, faster than a hand can: that is one. */
static void note_interrupt(int signal_number)
{
    const double twice = 0.05; /* seconds */
    if (interrupted == 0) {
        asked = seconds_now();
        interrupted = signal_number;
    } else if (!(seconds_now() - asked < twice)) {
        (void)signal(signal_number, SIG_DFL);
        (void)raise(signal_number);
    }
}

int stopped_code(void)
{
    return interrupted != 0 ? EXIT_BY_SIGNAL + interrupted : EXIT_FAILED;
}

void human_bytes(double bytes, char *out, size_t size)
{
    static const char *const units[] = {"B", "kB", "MB", "GB", "TB", "PB"};
    size_t unit = 0;
    while (bytes >= 1000 && unit < 5) {
        bytes /= 1000;
        unit++;
    }
    (void)snprintf(out, size, bytes < 10 && unit > 0 ? "%.1f %s" : "%.0f %s", bytes, units[unit]);
}

static void draw(double share, const char *text)
{
    enum { WIDTH = 24 };
    char bar[WIDTH + 1];
    int full = (int)(share * WIDTH);
    for (int i = 0; i < WIDTH; i++) {
        bar[i] = i < full ? '#' : '.';
    }
    bar[WIDTH] = '\0';
    (void)fprintf(stderr, "\r\033[K[%s] %s", bar, text);
    (void)fflush(stderr);
}

/* A fit counts to LSCM_WHOLE, once. Other work comes in stages, each of which counts from 0 to a
 * total of its own. */
static void enter_stage(progress_bar *bar, double now, uint64_t done, uint64_t total)
{
    if (total != bar->total || done < bar->done) {
        bar->entered = now;
        bar->first = done;
        bar->total = total;
    }
    bar->done = done;
}

/* How long later stages take is not known but to a fit; the time so far tells that there were
 * others. */
static void describe(const progress_bar *bar, const char *what, double now, char *out, size_t size)
{
    double share = (double)bar->done / (double)bar->total;
    double rate = (double)(bar->done - bar->first) / (now - bar->entered);
    char left[64] = "";
    if (rate > 0) {
        (void)snprintf(left, sizeof left, ", %.0f s left%s",
                       (double)(bar->total - bar->done) / rate,
                       bar->total == LSCM_WHOLE ? "" : " of this");
    }
    (void)snprintf(out, size, "%s: %.0f%%%s (%.0f s so far)", what, 100 * share, left,
                   now - bar->begun);
}

static bool report(void *self, const char *what, uint64_t done, uint64_t total)
{
    progress_bar *bar = self;
    double now = seconds_now();
    bool terminal = isatty(STDERR_FILENO) == 1;
    double pause = terminal ? 0.1 : 10;
    enter_stage(bar, now, done, total);
    if (!bar->quiet && now - bar->begun > 0.5 && now - bar->shown > pause && total > 0) {
        char text[256];
        describe(bar, what, now, text, sizeof text);
        if (terminal) { /* elsewhere a line is for ever, and what is done needs none */
            draw((double)done / (double)total, text);
            bar->drawn = true;
        } else if (done < total) {
            (void)fprintf(stderr, "%s\n", text);
        }
        bar->shown = now;
    }
    return interrupted == 0;
}

lscm_progress progress_begin(progress_bar *bar, bool quiet)
{
    struct sigaction action = {0};
    action.sa_handler = note_interrupt;
    (void)sigaction(SIGINT, &action, NULL);
    (void)sigaction(SIGTERM, &action, NULL);
    *bar = (progress_bar){.quiet = quiet, .begun = seconds_now()};
    return (lscm_progress){report, bar};
}

void progress_end(progress_bar *bar)
{
    if (bar->drawn) {
        (void)fprintf(stderr, "\r\033[K");
    }
}
