/* A matrix of zeros and ones says which edges there are, and nothing of their weights. It is told
 * from weights by its numbers alone, whatever file or array it came from; weights that are all 1 by
 * chance, or by design, must be named. */
#include "data/dataset/dataset.h"

#include <stdlib.h>

bool lscm_dataset_graph_alone(const lscm_dataset *data)
{
    size_t edges = 0;
    bool plain = data->shape[LSCM_W].present && !data->weights;
    double *row = plain ? malloc((data->nodes + 1) * sizeof *row) : NULL;
    plain = row != NULL;
    for (size_t i = 0; i < data->nodes && plain; i++) {
        plain = lscm_dataset_read(data, LSCM_W, i, 1, row, NULL) == LSCM_OK;
        for (size_t j = 0; j < data->nodes && plain; j++) {
            plain = row[j] == 0 || row[j] == 1;
            edges += row[j] == 1 ? 1 : 0;
        }
    }
    free(row);
    return plain && edges > 0;
}

void lscm_dataset_set_weights(lscm_dataset *data, bool weights)
{
    data->weights = weights;
}
