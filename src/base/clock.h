/* Seconds of a clock that never goes back. */
#ifndef LSCM_BASE_CLOCK_H
#define LSCM_BASE_CLOCK_H

double clock_seconds(void);

#endif
