/* lscm info --device: what this machine has to compute on. */
#ifndef LSCM_CLI_INFO_DEVICE_H
#define LSCM_CLI_INFO_DEVICE_H

#include "common/cli.h"

/* Prints it, as the options say; the exit code. */
int info_device(const common_options *options);

#endif
