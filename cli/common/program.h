/* Other programs: Graphviz's dot, gnuplot. */
#ifndef LSCM_CLI_PROGRAM_H
#define LSCM_CLI_PROGRAM_H

enum { PROGRAM_MISSING = 127 };

/* Runs argv[0], found on the path, in `folder` (NULL: here) and waits for it. argv ends with NULL.
 * It takes what we write for UTF-8, whatever the user's locale: without any, gnuplot complains.
 * Its exit code; PROGRAM_MISSING where there is no such program, not 0 where it broke off. */
int run_program(const char *folder, const char *const *argv);

#endif
