/* A run's config.json says which data were fitted, and how they were opened. */
#include "common/fitted.h"

#include "common/cli.h"

#include <jansson.h>

static const char *text_of(const json_t *config, const char *key)
{
    return json_string_value(json_object_get(config, key));
}

static lscm_status open_fitted(lscm_dataset **out, const json_t *config, const char *folder,
                               lscm_error *why)
{
    const char *data = text_of(config, "data");
    const lscm_open_options options = {.ignore = text_of(config, "ignore"),
                                       .truth = text_of(config, "truth"),
                                       .names = text_of(config, "names"),
                                       .target_column = text_of(config, "target_column"),
                                       .value_column = text_of(config, "value_column"),
                                       .control = text_of(config, "control"),
                                       .layer = text_of(config, "layer")};
    if (data == NULL) {
        return cli_explain(why, LSCM_MISSING,
                           "%s does not say which data were fitted; name them: --truth data.nc",
                           folder);
    }
    lscm_status status = lscm_dataset_open(out, data, &options, why);
    if (status == LSCM_MISSING) {
        (void)cli_explain(why, status,
                          "%s: the data of this run are not there any more; say where they are: "
                          "--truth FILE",
                          data);
    }
    return status;
}

lscm_status open_truth(lscm_dataset **out, const lscm_posterior *run, const char *folder,
                       const char *named, lscm_error *why)
{
    *out = NULL;
    if (named != NULL) {
        return lscm_dataset_open(out, named, &(lscm_open_options){.truth_only = true}, why);
    }
    json_t *config = json_loads(lscm_posterior_config(run), 0, NULL);
    lscm_status status = open_fitted(out, config, folder, why);
    json_decref(config);
    return status;
}
