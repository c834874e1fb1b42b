/* lscm info RUN: what a run folder holds. */
#ifndef LSCM_CLI_INFO_FOLDER_H
#define LSCM_CLI_INFO_FOLDER_H

#include "common/cli.h"

/* Prints it, as the options say; the exit code. */
int info_folder(const char *folder, const common_options *options);

#endif
