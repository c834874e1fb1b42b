#include "commands/info_device.h"

#include <jansson.h>

static void print_text(const lscm_devices *devices)
{
    for (size_t i = 0; i < devices->count; i++) {
        const lscm_device_row *row = devices->row[i];
        char all[32];
        char free[32];
        if (row->cores > 0) {
            (void)printf("%-7s %d core%s\n", row->word, row->cores, PLURAL(row->cores));
            continue;
        }
        human_bytes((double)row->memory, all, sizeof all);
        human_bytes((double)row->memory_free, free, sizeof free);
        (void)printf("%-7s %s, compute capability %d.%d, %s free of %s\n", row->word, row->name,
                     row->major, row->minor, free, all);
    }
    if (devices->without[0] != '\0') {
        (void)printf("no CUDA device: %s\n", devices->without);
    }
}

static void print_json(const lscm_devices *devices)
{
    json_t *list = json_array();
    for (size_t i = 0; i < devices->count; i++) {
        const lscm_device_row *row = devices->row[i];
        (void)json_array_append_new(
            list, row->cores > 0 ? json_pack("{s:s, s:i}", "device", row->word, "cores", row->cores)
                                 : json_pack("{s:s, s:s, s:[i, i], s:I, s:I}", "device", row->word,
                                             "name", row->name, "compute_capability", row->major,
                                             row->minor, "memory", (json_int_t)row->memory,
                                             "memory_free", (json_int_t)row->memory_free));
    }
    json_t *all = json_pack("{s:o}", "devices", list);
    if (devices->without[0] != '\0') {
        (void)json_object_set_new(all, "without", json_string(devices->without));
    }
    (void)json_dumpf(all, stdout, 0);
    (void)putchar('\n');
    json_decref(all);
}

int info_device(const common_options *options)
{
    lscm_error why = {0};
    lscm_devices *devices = NULL;
    if (lscm_devices_list(&devices, &why) != LSCM_OK) {
        return cli_fail(&why);
    }
    if (options->json) {
        print_json(devices);
    } else if (!options->quiet) {
        print_text(devices);
    }
    lscm_devices_free(devices);
    return EXIT_DONE;
}
