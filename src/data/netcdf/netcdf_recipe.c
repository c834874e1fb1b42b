/* The recipe of a data set, a JSON object, as attributes of a netCDF group and back. Reading keeps
 * the order and the types, so the same object comes back; an attribute that JSON cannot hold (an
 * array of numbers, NaN) was not written here and is passed over. */
#include "data/netcdf/netcdf_file.h"

#include <jansson.h>
#include <netcdf.h>
#include <stdlib.h>
#include <string.h>

static lscm_status put_entry(const netcdf_file *file, int group, const char *key,
                             const json_t *value, lscm_error *why)
{
    static const char what[] = "an entry of the recipe cannot be stored as an attribute";
    lscm_status status = LSCM_OK;
    char *text = NULL;
    if (json_is_integer(value)) {
        long long number = json_integer_value(value);
        NC(file, what, nc_put_att_longlong(group, NC_GLOBAL, key, NC_INT64, 1, &number));
    } else if (json_is_real(value)) {
        double number = json_real_value(value);
        NC(file, what, nc_put_att_double(group, NC_GLOBAL, key, NC_DOUBLE, 1, &number));
    } else if (json_is_string(value)) {
        NC(file, what,
           nc_put_att_text(group, NC_GLOBAL, key, json_string_length(value),
                           json_string_value(value)));
    } else {
        text = json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY);
        if (text == NULL) {
            status = fail_memory(why, 0);
            goto done;
        }
        NC(file, what, nc_put_att_text(group, NC_GLOBAL, key, strlen(text), text));
    }
done:
    free(text);
    return status;
}

lscm_status netcdf_put_recipe(const netcdf_file *file, int group, const char *recipe,
                              lscm_error *why)
{
    lscm_status status = LSCM_OK;
    const char *key = NULL;
    json_t *value = NULL;
    json_error_t error;
    json_t *object = json_loads(recipe, 0, &error);
    if (!json_is_object(object)) {
        TRY(fail(why, LSCM_FORMAT, "%s: the recipe of the data is not a JSON object%s%s",
                 file->path, object == NULL ? ": " : "", object == NULL ? error.text : ""));
    }
    json_object_foreach(object, key, value)
    {
        TRY(put_entry(file, group, key, value, why));
    }
done:
    json_decref(object);
    return status;
}

lscm_status netcdf_get_text(const netcdf_file *file, int group, int variable, const char *name,
                            char **text, lscm_error *why)
{
    static const char what[] = "an attribute cannot be read";
    lscm_status status = LSCM_OK;
    nc_type type = NC_NAT;
    size_t length = 0;
    char *string = NULL;
    *text = NULL;
    netcdf_begin();
    int code = nc_inq_att(group, variable, name, &type, &length);
    if (netcdf_end(code, file, what, NULL) != LSCM_OK) {
        return LSCM_OK; /* there is none */
    }
    if (type == NC_STRING && length == 1) {
        NC(file, what, nc_get_att_string(group, variable, name, &string));
        *text = strdup(string != NULL ? string : "");
    } else if (type == NC_CHAR) {
        *text = calloc(length + 1, 1);
        if (*text != NULL && length > 0) {
            NC(file, what, nc_get_att_text(group, variable, name, *text));
        }
    } else {
        return LSCM_OK;
    }
    if (*text == NULL) {
        status = fail_memory(why, length);
        goto done;
    }
done:
    if (string != NULL) {
        netcdf_begin();
        (void)netcdf_end(nc_free_string(1, &string), file, what, NULL);
    }
    if (status != LSCM_OK) {
        free(*text);
        *text = NULL;
    }
    return status;
}

/* Text that is JSON for anything but a string or a number was not a string before. */
static json_t *value_of_text(const char *text)
{
    json_t *value = json_loads(text, JSON_DECODE_ANY, NULL);
    if (value == NULL || json_is_string(value) || json_is_number(value)) {
        json_decref(value);
        value = json_string(text);
    }
    return value;
}

static lscm_status get_entry(const netcdf_file *file, int group, const char *key, json_t **value,
                             lscm_error *why)
{
    static const char what[] = "an attribute of the recipe cannot be read";
    lscm_status status = LSCM_OK;
    nc_type type = NC_NAT;
    size_t length = 0;
    char *text = NULL;
    *value = NULL;
    NC(file, what, nc_inq_att(group, NC_GLOBAL, key, &type, &length));
    if (type == NC_CHAR || type == NC_STRING) {
        TRY(netcdf_get_text(file, group, NC_GLOBAL, key, &text, why));
        *value = text != NULL ? value_of_text(text) : NULL;
    } else if (length == 1 && (type == NC_DOUBLE || type == NC_FLOAT)) {
        double number = 0;
        NC(file, what, nc_get_att_double(group, NC_GLOBAL, key, &number));
        *value = json_real(number);
    } else if (length == 1 && type != NC_UINT64 && netcdf_dtype(type) != DTYPE_COUNT) {
        long long number = 0;
        NC(file, what, nc_get_att_longlong(group, NC_GLOBAL, key, &number));
        *value = json_integer(number);
    }
done:
    free(text);
    return status;
}

lscm_status netcdf_get_recipe(const netcdf_file *file, int group, char **recipe, lscm_error *why)
{
    static const char what[] = "the recipe cannot be read";
    lscm_status status = LSCM_OK;
    int count = 0;
    json_t *object = json_object();
    NC(file, what, nc_inq_natts(group, &count));
    for (int i = 0; i < count; i++) {
        char key[NC_MAX_NAME + 1] = "";
        json_t *value = NULL;
        NC(file, what, nc_inq_attname(group, NC_GLOBAL, i, key));
        TRY(get_entry(file, group, key, &value, why));
        if (value != NULL && json_object_set_new(object, key, value) != 0) {
            TRY(fail(why, file->failure, "%s: %s", file->path, what));
        }
    }
    *recipe = json_dumps(object, JSON_COMPACT);
    if (*recipe == NULL) {
        status = fail_memory(why, 0);
        goto done;
    }
done:
    json_decref(object);
    return status;
}
