/* The posterior's handle, and the run folder that keeps it.
 */
#ifndef LSCM_RESULT_STORE_STORE_H
#define LSCM_RESULT_STORE_STORE_H

#include "result/store/run_folder.h" /* the files of a run */

#endif
