#include "common/program.h"

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

int run_program(const char *folder, const char *const *argv)
{
    int outcome = 0;
    pid_t child = fork();
    if (child == 0) {
        if ((folder == NULL || chdir(folder) == 0) && setenv("LC_ALL", "C.UTF-8", 1) == 0) {
            (void)execvp(argv[0], (char *const *)(uintptr_t)argv);
        }
        _exit(PROGRAM_MISSING);
    }
    while (child > 0 && waitpid(child, &outcome, 0) < 0 && errno == EINTR) {
    }
    return child > 0 && WIFEXITED(outcome) ? WEXITSTATUS(outcome) : PROGRAM_MISSING - 1;
}
