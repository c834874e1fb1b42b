/* For the tests of NPY, NPZ and folders: NPY files put together byte by byte, and data sets
 * compared to the last bit. Include it before testing.h. */
#ifndef LSCM_TESTS_NPY_TESTING_H
#define LSCM_TESTS_NPY_TESTING_H

#include "made.h"

#include "data/csv/csv.h"
#include "data/netcdf/netcdf.h"
#include "data/npy/npy.h"
#include "data/picture/picture.h"

#include "scratch.h"

static const dtype EVERY_TYPE[DTYPE_COUNT] = {
#define EVERY_TYPE_ROW(id, name, bytes, code) DTYPE_##id,
    DTYPE_TABLE(EVERY_TYPE_ROW)
#undef EVERY_TYPE_ROW
};

/* A header of any version around `dictionary`; its size. */
static inline size_t npy_head(unsigned char *out, int version, const char *dictionary)
{
    size_t length = strlen(dictionary);
    memcpy(out, "\x93NUMPY", 6);
    out[6] = (unsigned char)version;
    out[7] = 0;
    out[8] = (unsigned char)(length & 0xff);
    out[9] = (unsigned char)(length >> 8);
    out[10] = 0;
    out[11] = 0;
    size_t begin = version == 1 ? 10 : 12;
    memcpy(out + begin, dictionary, length);
    return begin + length;
}

/* Whether the test's machine stores the low byte first. */
static inline bool little(void)
{
    const uint16_t one = 1;
    return *(const unsigned char *)(const void *)&one == 1;
}

static inline npy_array *open_array(const char *path)
{
    byte_source *source = NULL;
    npy_array *array = NULL;
    lscm_error why;
    assert_ok(byte_source_file(&source, path, path, &why));
    assert_ok(npy_array_open(&array, source, &why));
    return array;
}

/* Bytes that differ from element to element, are finite in every type and 0 or 1 as bool. */
static inline void fill_bytes(dtype type, void *raw, size_t count, unsigned salt)
{
    unsigned char *bytes = raw;
    size_t size = dtype_size(type);
    uint64_t state = 88172645463325252U + salt;
    for (size_t i = 0; i < count * size; i++) {
        state = state * 6364136223846793005U + 1442695040888963407U;
        bytes[i] = (unsigned char)(state >> 56);
        bytes[i] &= type == DTYPE_BOOL ? 0x01 : 0xbb; /* no exponent of all ones */
    }
}

/* The same fields, types, shapes, bytes, names and recipe. */
static inline void assert_same_data(const lscm_dataset *a, const lscm_dataset *b)
{
    assert_int_equal(a->rows, b->rows);
    assert_int_equal(a->nodes, b->nodes);
    for (int field = 0; field < LSCM_FIELDS; field++) {
        const array_shape *shape = &a->shape[field];
        assert_int_equal(shape->present, b->shape[field].present);
        if (!shape->present) {
            continue;
        }
        assert_int_equal(shape->type, b->shape[field].type);
        assert_int_equal(shape->ndim, b->shape[field].ndim);
        assert_memory_equal(shape->dims, b->shape[field].dims,
                            (size_t)shape->ndim * sizeof shape->dims[0]);
        size_t bytes = shape_bytes(shape);
        char *left = malloc(bytes);
        char *right = malloc(bytes);
        lscm_error why;
        assert_ok(dataset_read_raw(a, (lscm_field)field, 0, shape->dims[0], left, &why));
        assert_ok(dataset_read_raw(b, (lscm_field)field, 0, shape->dims[0], right, &why));
        assert_memory_equal(left, right, bytes);
        free(left);
        free(right);
    }
    assert_int_equal(a->node_names != NULL, b->node_names != NULL);
    for (size_t i = 0; a->node_names != NULL && i < a->nodes; i++) {
        assert_string_equal(a->node_names[i], b->node_names[i]);
    }
    assert_int_equal(a->feature_names != NULL, b->feature_names != NULL);
    for (size_t i = 0; a->feature_names != NULL && i < lscm_dataset_features(a); i++) {
        assert_string_equal(a->feature_names[i], b->feature_names[i]);
    }
    assert_int_equal(a->recipe != NULL, b->recipe != NULL);
    if (a->recipe != NULL) {
        assert_string_equal(a->recipe, b->recipe);
    }
}

/* N = 13 rows, 3 nodes, pictures (2, 3, 2) as x of the given type; everything is there. */
static inline lscm_dataset *full_data(dtype x_type, dtype target_type, dtype order_type)
{
    enum { N = 13, NODES = 3 };
    lscm_dataset *data = made_new();
    fill_bytes(x_type, made_field(data, LSCM_X, x_type, N, 2, 3, 2), (size_t)N * 12, 1);
    char *targets = made_field(data, LSCM_TARGETS, target_type, N, NODES, 0, 0);
    size_t size = dtype_size(target_type);
    for (size_t i = 0; i < (size_t)N * NODES; i++) {
        float one = 1;
        double wide = 1;
        if (i % 4 == 1 && target_type == DTYPE_FLOAT32) {
            memcpy(targets + i * size, &one, size);
        } else if (i % 4 == 1 && target_type == DTYPE_FLOAT64) {
            memcpy(targets + i * size, &wide, size);
        } else if (i % 4 == 1) {
            targets[i * size + (little() ? 0 : size - 1)] = 1;
        }
    }
    fill_bytes(DTYPE_FLOAT64, made_field(data, LSCM_VALUES, DTYPE_FLOAT64, N, NODES, 0, 0),
               (size_t)N * NODES, 2);
    fill_bytes(DTYPE_FLOAT32, made_field(data, LSCM_Z, DTYPE_FLOAT32, N, NODES, 0, 0),
               (size_t)N * NODES, 3);
    double *w = made_field(data, LSCM_W, DTYPE_FLOAT64, NODES, NODES, 0, 0);
    w[2 * NODES + 0] = 1.5; /* 2 -> 0 -> 1 */
    w[0 * NODES + 1] = -0.25;
    float *sigma = made_field(data, LSCM_SIGMA, DTYPE_FLOAT32, NODES, 0, 0, 0);
    sigma[0] = sigma[1] = sigma[2] = 0.1F;
    unsigned char *order = made_field(data, LSCM_ORDER, order_type, NODES, 0, 0, 0);
    const uint8_t narrow[] = {2, 0, 1};
    const int64_t wide[] = {2, 0, 1};
    memcpy(order, order_type == DTYPE_INT64 ? (const void *)wide : narrow,
           NODES * dtype_size(order_type));
    data->node_names = made_names("raf,m\xc3\xa9k,\xf0\x9f\x98\x80", NODES);
    data->feature_names = made_names("a,b,c,d,e,f,g,h,i,j,k,longer than the others", 12);
    data->recipe = strdup("{\"seed\": 7, \"text\": \"\xe2\x82\xac\"}");
    return data;
}

#endif
