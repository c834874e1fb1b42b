/* report.html, a file per section, and the graph as a drawing.
 */
#ifndef LSCM_RESULT_REPORT_REPORT_H
#define LSCM_RESULT_REPORT_REPORT_H

#include "result/report/report_drawing.h" /* the graph as SVG */
#include "result/report/report_layout.h"  /* where nodes stand */
#include "result/report/report_page.h"    /* HTML */
#include "result/report/report_state.h"   /* what is gathered */

#endif
