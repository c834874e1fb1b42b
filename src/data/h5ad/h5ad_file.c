#include "data/h5ad/h5ad_file.h"

#include "data/netcdf/netcdf.h"
#include "data/text/text.h"

#include <hdf5.h>
#include <stdlib.h>
#include <string.h>

lscm_status h5ad_file_open(h5ad_file *file, const char *path, lscm_error *why)
{
    *file = (h5ad_file){.path = path};
    netcdf_begin();
    hid_t id = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
    netcdf_unlock();
    if (id < 0) {
        return fail(why, LSCM_FORMAT,
                    "%s: this is not an HDF5 file that can be opened: it is of another kind, cut "
                    "short or still being written; copy or write it again",
                    path);
    }
    file->id = id;
    return LSCM_OK;
}

void h5ad_file_close(h5ad_file *file)
{
    if (file->id > 0) {
        netcdf_begin();
        (void)H5Fclose(file->id);
        netcdf_unlock();
        file->id = 0;
    }
}

/* Each part of the name is a link that stays within the file. */
static bool leads_somewhere(hid_t file, const char *name)
{
    char part[H5AD_NAME];
    size_t length = 0;
    bool there = name[0] != '\0' && strlen(name) < sizeof part;
    while (there && name[length] != '\0') {
        H5L_info_t about;
        length += strcspn(name + length + 1, "/") + 1;
        memcpy(part, name, length);
        part[length] = '\0';
        there = H5Lexists(file, part, H5P_DEFAULT) > 0 &&
                H5Lget_info(file, part, &about, H5P_DEFAULT) >= 0 &&
                (about.type == H5L_TYPE_HARD || about.type == H5L_TYPE_SOFT) &&
                H5Oexists_by_name(file, part, H5P_DEFAULT) > 0;
    }
    return there;
}

/* The lock is held. Negative when there is none. */
static hid_t open_object(const h5ad_file *file, const char *name)
{
    return leads_somewhere(file->id, name) ? H5Oopen(file->id, name, H5P_DEFAULT) : -1;
}

h5ad_kind h5ad_kind_of(const h5ad_file *file, const char *name)
{
    h5ad_kind kind = H5AD_NOTHING;
    netcdf_begin();
    hid_t object = open_object(file, name);
    if (object >= 0) {
        H5I_type_t type = H5Iget_type(object);
        kind = type == H5I_GROUP ? H5AD_GROUP : type == H5I_DATASET ? H5AD_ARRAY : H5AD_NOTHING;
        (void)H5Oclose(object);
    }
    netcdf_unlock();
    return kind;
}

/* ---- The names in a group */

typedef struct member_list {
    char **names;
    size_t count, capacity;
} member_list;

static herr_t add_member(hid_t group, const char *name, const H5L_info_t *about, void *self)
{
    member_list *list = self;
    (void)group;
    (void)about;
    if (list->count == list->capacity) {
        size_t capacity = 2 * list->capacity + 16;
        char **larger = realloc(list->names, capacity * sizeof *larger);
        if (larger == NULL) {
            return -1;
        }
        list->names = larger;
        list->capacity = capacity;
    }
    list->names[list->count] = strdup(name);
    return list->names[list->count] != NULL ? (list->count++, 0) : -1;
}

lscm_status h5ad_members(const h5ad_file *file, const char *group, char ***names, size_t *count,
                         lscm_error *why)
{
    member_list list = {0};
    netcdf_begin();
    hid_t object = open_object(file, group);
    bool listed = object >= 0 && H5Iget_type(object) == H5I_GROUP &&
                  H5Literate(object, H5_INDEX_NAME, H5_ITER_INC, NULL, add_member, &list) >= 0;
    if (object >= 0) {
        (void)H5Oclose(object);
    }
    netcdf_unlock();
    if (!listed) {
        names_free(list.names, list.count);
        *names = NULL;
        *count = 0;
        return fail(why, LSCM_FORMAT, "%s: '%s' cannot be read; the file may be damaged",
                    file->path, group);
    }
    *names = list.names;
    *count = list.count;
    return LSCM_OK;
}

/* ---- Attributes */

/* The lock is held. An attribute with that many entries; negative when there is none. */
static hid_t open_attribute(hid_t object, const char *attribute, hssize_t entries)
{
    if (object < 0 || H5Aexists(object, attribute) <= 0) {
        return -1;
    }
    hid_t id = H5Aopen(object, attribute, H5P_DEFAULT);
    hid_t space = id >= 0 ? H5Aget_space(id) : -1;
    bool fits = space >= 0 && H5Sget_simple_extent_npoints(space) == entries;
    if (space >= 0) {
        (void)H5Sclose(space);
    }
    if (!fits && id >= 0) {
        (void)H5Aclose(id);
    }
    return fits ? id : -1;
}

/* The lock is held. */
static bool read_text(hid_t attribute, char out[H5AD_WORD])
{
    char *text = NULL;
    hid_t type = H5Aget_type(attribute);
    bool done = false;
    if (type >= 0 && H5Tget_class(type) == H5T_STRING) {
        if (H5Tis_variable_str(type) > 0) {
            if (H5Aread(attribute, type, &text) >= 0 && text != NULL) {
                done = strlen(text) < H5AD_WORD;
                (void)snprintf(out, H5AD_WORD, "%s", text);
                (void)H5free_memory(text);
            }
        } else if (H5Tget_size(type) < H5AD_WORD) {
            memset(out, 0, H5AD_WORD);
            done = H5Aread(attribute, type, out) >= 0;
        }
    }
    if (type >= 0) {
        (void)H5Tclose(type);
    }
    return done;
}

bool h5ad_text_attribute(const h5ad_file *file, const char *name, const char *attribute,
                         char out[H5AD_WORD])
{
    netcdf_begin();
    hid_t object = open_object(file, name);
    hid_t id = open_attribute(object, attribute, 1);
    bool done = id >= 0 && read_text(id, out);
    if (id >= 0) {
        (void)H5Aclose(id);
    }
    if (object >= 0) {
        (void)H5Oclose(object);
    }
    netcdf_unlock();
    return done;
}

bool h5ad_shape_attribute(const h5ad_file *file, const char *name, const char *attribute,
                          size_t out[2])
{
    int64_t dims[2] = {-1, -1};
    netcdf_begin();
    hid_t object = open_object(file, name);
    hid_t id = open_attribute(object, attribute, 2);
    bool done = id >= 0 && H5Aread(id, H5T_NATIVE_INT64, dims) >= 0;
    if (id >= 0) {
        (void)H5Aclose(id);
    }
    if (object >= 0) {
        (void)H5Oclose(object);
    }
    netcdf_unlock();
    out[0] = (size_t)dims[0];
    out[1] = (size_t)dims[1];
    return done && dims[0] >= 0 && dims[1] >= 0;
}
