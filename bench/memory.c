/* bench_memory COMMAND ...: runs it and prints its peak memory and time. */
#define _DEFAULT_SOURCE
#include "clock.h"

#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    int state = 0;
    struct rusage usage;
    double begun = clock_now();
    pid_t child = argc > 1 ? fork() : -1;
    if (child == 0) {
        (void)execv(argv[1], argv + 1);
        _exit(127);
    }
    if (child < 0 || wait4(child, &state, 0, &usage) != child || state != 0) {
        (void)fprintf(stderr, "bench_memory: the command failed\n");
        return 1;
    }
    for (int i = 2; i < argc; i++) {
        (void)printf("%s ", argv[i]);
    }
    (void)printf(": peak %.0f MB, %.1f s\n", (double)usage.ru_maxrss / 1e3, clock_now() - begun);
    return 0;
}
