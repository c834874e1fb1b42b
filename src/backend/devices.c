/* What there is to compute on, for people: the CPU, and the devices of the plug-in. */
#include "backend/loaded.h"

#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

/* In one piece of memory: the list, the rows, where they are. */
typedef struct listed {
    lscm_devices list;
    char without[1024];
    lscm_device_row *rows; /* (count) */
    const lscm_device_row **at;
} listed;

void lscm_devices_free(lscm_devices *devices)
{
    listed *l = (listed *)devices;
    if (l != NULL) {
        free(l->rows);
        free((void *)l->at);
        free(l);
    }
}

static lscm_status claim_rows(listed *l, size_t most, lscm_error *why)
{
    l->rows = calloc(most, sizeof *l->rows);
    l->at = calloc(most, sizeof(void *));
    if (l->rows == NULL || l->at == NULL) {
        return fail_memory(why, most * sizeof *l->rows);
    }
    for (size_t i = 0; i < most; i++) {
        l->at[i] = &l->rows[i];
    }
    return LSCM_OK;
}

static lscm_status fill(lscm_device_row *row, const device_plugin *plugin, size_t index,
                        lscm_error *why)
{
    lscm_status status = LSCM_OK;
    device_about about = {0};
    TRY(plugin->about(index, &about, why));
    *row = (lscm_device_row){.major = about.major,
                             .minor = about.minor,
                             .memory = about.memory,
                             .memory_free = about.memory_free};
    (void)snprintf(row->word, sizeof row->word, "cuda:%u", (unsigned)index);
    (void)snprintf(row->name, sizeof row->name, "%s", about.name);
done:
    return status;
}

lscm_status lscm_devices_list(lscm_devices **out, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    lscm_error without = {0};
    loaded from = {0};
    size_t count = 0;
    listed *l = calloc(1, sizeof *l);
    if (l == NULL) {
        return fail_memory(why, sizeof *l);
    }
    if (loaded_open(&from, &without) == LSCM_OK &&
        from.plugin->count(&count, &without) != LSCM_OK) {
        count = 0;
    }
    TRY(claim_rows(l, 1 + count, why));
    l->rows[0] = (lscm_device_row){.word = "cpu", .cores = omp_get_num_procs()};
    for (size_t i = 0; i < count; i++) {
        TRY(fill(&l->rows[1 + i], from.plugin, i, why));
    }
    (void)snprintf(l->without, sizeof l->without, "%s", count == 0 ? without.text : "");
    l->list = (lscm_devices){.count = 1 + count, .row = l->at, .without = l->without};
    *out = &l->list;
    l = NULL;
done:
    lscm_devices_free(l != NULL ? &l->list : NULL);
    loaded_close(&from);
    return status;
}
