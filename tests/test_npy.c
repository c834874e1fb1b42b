/* NPY headers good and bad, and arrays of text. */
#include "npy_testing.h"

#include "data/text/text.h"

static lscm_status parse(npy_header *header, int version, const char *dictionary, lscm_error *why)
{
    unsigned char text[2048];
    size_t size = npy_head(text, version, dictionary);
    return npy_header_parse(header, text, size, "f.npy", why);
}

typedef struct good_header {
    const char *text;
    dtype type;
    int ndim;
    size_t dims[4];
    bool fortran, big;
} good_header;

static const good_header GOOD[] = {
    {"{'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), }  \n",
     DTYPE_FLOAT64,
     2,
     {3, 4},
     false,
     false},
    {"{'descr': '>f4', 'fortran_order': True, 'shape': (3, 4, 5)}",
     DTYPE_FLOAT32,
     3,
     {3, 4, 5},
     true,
     true},
    {"{\"shape\":(7,),\"descr\":\"|b1\",\"fortran_order\":False}\n",
     DTYPE_BOOL,
     1,
     {7},
     false,
     false},
    {"  { 'fortran_order' : False , 'shape' : ( 2L , 10L, 1L , 4L, ) , 'descr':'|u1' , } ",
     DTYPE_UINT8,
     4,
     {2, 10, 1, 4},
     false,
     false},
    {"{'descr': '=i2', 'fortran_order': False, 'shape': (), }", DTYPE_INT16, 0, {0}, false, false},
    {"{'descr': 'u4', 'fortran_order': False, 'shape': (0, 3), }",
     DTYPE_UINT32,
     2,
     {0, 3},
     false,
     false},
    {"{'descr': '>i1', 'fortran_order': False, 'shape': (18446744073709551615,), }",
     DTYPE_INT8,
     1,
     {SIZE_MAX},
     false,
     false},
};

static void check_header(const good_header *good, int version)
{
    npy_header header;
    lscm_error why;
    assert_ok(parse(&header, version, good->text, &why));
    assert_int_equal(header.kind, NPY_NUMBERS);
    assert_int_equal(header.shape.type, good->type);
    assert_int_equal(header.shape.ndim, good->ndim);
    size_t bytes = dtype_size(good->type);
    for (int k = 0; k < good->ndim; k++) {
        assert_int_equal(header.shape.dims[k], good->dims[k]);
        bytes *= good->dims[k];
    }
    assert_int_equal(header.bytes, bytes);
    assert_int_equal(header.fortran, good->fortran);
    bool other = good->big == little();
    assert_int_equal(header.swapped, other && header.item > 1);
    assert_int_equal(header.start, strlen(good->text) + (version == 1 ? 10U : 12U));
}

static void good_headers_are_read(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof GOOD / sizeof GOOD[0]; i++) {
        for (int version = 1; version <= 3; version++) {
            check_header(&GOOD[i], version);
        }
    }
}

#define HEAD(descr, shape) "{'descr': " descr ", 'fortran_order': False, 'shape': " shape ", }"

static void bad_headers_are_refused(void **state)
{
    static const struct {
        const char *text;
        lscm_status status;
        const char *part;
    } table[] = {
        {"", LSCM_FORMAT, "damaged NPY header"},
        {"{", LSCM_FORMAT, "damaged"},
        {"{}", LSCM_FORMAT, "damaged"},
        {"[1, 2]", LSCM_FORMAT, "damaged"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (3, 4)", LSCM_FORMAT, "damaged"},
        {"{'descr': '<f8', 'fortran_order': False}", LSCM_FORMAT, "damaged"},
        {"{'descr': '<f8' 'fortran_order': False, 'shape': (3,)}", LSCM_FORMAT, "damaged"},
        {"{'descr': '<f8', 'fortran_order': Maybe, 'shape': (3,)}", LSCM_FORMAT, "damaged"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (3,), 'shape': (3,)}", LSCM_FORMAT,
         "damaged"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (3,), 'more': 1}", LSCM_FORMAT,
         "damaged"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (3,)} trailing", LSCM_FORMAT,
         "damaged"},
        {HEAD("'<f8", "(3,)"), LSCM_FORMAT, "unknown type"},
        {HEAD("'<f\x1b[2J'", "(3,)"), LSCM_FORMAT, "damaged"}, /* would clear the screen */
        {HEAD("'<f\\8'", "(3,)"), LSCM_FORMAT, "damaged"},
        {HEAD("'<f8'", "(3)"), LSCM_FORMAT, "damaged"},
        {HEAD("'<f8'", "3"), LSCM_FORMAT, "damaged"},
        {HEAD("'<f8'", "(3 4)"), LSCM_FORMAT, "damaged"},
        {HEAD("'<f8'", "(,)"), LSCM_FORMAT, "damaged"},
        {HEAD("'<f8'", "(True,)"), LSCM_FORMAT, "damaged"},
        {HEAD("'<f8'", "(-3,)"), LSCM_SHAPE, "negative"},
        {HEAD("'<f8'", "(3.0,)"), LSCM_SHAPE, "whole number"},
        {HEAD("'<f8'", "(1e3,)"), LSCM_SHAPE, "whole number"},
        {HEAD("'<f8'", "(1, 1, 1, 1, 1)"), LSCM_SHAPE, "more than 4 dimensions"},
        {HEAD("'<f8'", "(99999999999999999999,)"), LSCM_SHAPE, "larger than any memory"},
        {HEAD("'<f8'", "(4611686018427387904,)"), LSCM_SHAPE, "larger than any memory"},
        {HEAD("'|u1'", "(4294967296, 4294967296)"), LSCM_SHAPE, "larger than any memory"},
        {HEAD("'|O'", "(3,)"), LSCM_FORMAT, "Python objects (a pickle), which are never loaded"},
        {HEAD("'<c16'", "(3,)"), LSCM_FORMAT, "complex"},
        {HEAD("'<M8[ns]'", "(3,)"), LSCM_FORMAT, "dates"},
        {HEAD("'|V8'", "(3,)"), LSCM_FORMAT, "records"},
        {HEAD("[('a', '<f8'), ('b', '<i4')]", "(3,)"), LSCM_FORMAT, "structured"},
        {HEAD("'<f16'", "(3,)"), LSCM_FORMAT, "unknown type ('<f16')"},
        {HEAD("'<>f8'", "(3,)"), LSCM_FORMAT, "unknown type"},
        {HEAD("''", "(3,)"), LSCM_FORMAT, "unknown type"},
        {HEAD("'<U'", "(3,)"), LSCM_FORMAT, "unknown type"},
        {HEAD("'<U4611686018427387904'", "(3,)"), LSCM_FORMAT, "unknown type"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        npy_header header;
        lscm_error why;
        assert_fails(parse(&header, 1, table[i].text, &why), table[i].status, table[i].part);
        assert_memory_equal(why.text, "f.npy", 5);
    }
}

static void cut_headers_are_refused(void **state)
{
    static const char whole[] = HEAD("'<f8'", "(3, 4)");
    (void)state;
    for (size_t length = 0; length + 1 < sizeof whole; length++) {
        char text[sizeof whole];
        npy_header header;
        lscm_error why;
        memcpy(text, whole, length);
        text[length] = '\0';
        assert_int_not_equal(parse(&header, 1, text, &why), LSCM_OK);
    }
}

static void beginnings_are_checked(void **state)
{
    unsigned char text[64] = {0};
    size_t size = 0;
    lscm_error why;
    (void)state;
    (void)npy_head(text, 1, "{}");
    assert_fails(npy_header_size(text, 0, "f", &size, &why), LSCM_FORMAT, "f is empty");
    assert_fails(npy_header_size(text, 5, "f", &size, &why), LSCM_FORMAT, "truncated");
    assert_fails(npy_header_size(text, 11, "f", &size, &why), LSCM_FORMAT, "truncated");
    assert_ok(npy_header_size(text, 12, "f", &size, &why));
    assert_int_equal(size, 12);
    text[8] = 200;
    assert_fails(npy_header_size(text, 209, "f", &size, &why), LSCM_FORMAT, "truncated");
    assert_ok(npy_header_size(text, 210, "f", &size, &why));
    text[6] = 4;
    assert_fails(npy_header_size(text, 300, "f", &size, &why), LSCM_FORMAT, "version 4.0");
    text[6] = 0;
    assert_fails(npy_header_size(text, 300, "f", &size, &why), LSCM_FORMAT, "version 0.0");
    text[6] = 2;
    text[11] = 0xff;
    assert_fails(npy_header_size(text, UINT64_MAX, "f", &size, &why), LSCM_FORMAT, "header has");
    text[0] = 'P';
    assert_fails(npy_header_size(text, 300, "f", &size, &why), LSCM_FORMAT, "is not an NPY array");
    assert_fails(npy_header_size(text, 2, "f", &size, &why), LSCM_FORMAT, "is not an NPY array");
}

static void sizes_must_match_exactly(void **state)
{
    npy_header header;
    lscm_error why;
    (void)state;
    assert_ok(parse(&header, 1, HEAD("'<f4'", "(3, 4)"), &why));
    assert_ok(npy_header_fits(&header, header.start + 48, "f", &why));
    assert_fails(npy_header_fits(&header, header.start + 47, "f", &why), LSCM_FORMAT,
                 "needs 48 bytes but only 47 are there");
    assert_fails(npy_header_fits(&header, header.start + 49, "f", &why), LSCM_FORMAT,
                 "has 1 bytes more");
}

static void our_headers_read_back(void **state)
{
    (void)state;
    for (int i = 0; i < DTYPE_COUNT; i++) {
        for (int ndim = 0; ndim <= LSCM_MAX_DIMS; ndim++) {
            array_shape shape = {true, EVERY_TYPE[i], ndim, {5, 1, 123456789, 2}};
            char text[NPY_HEADER_OURS];
            npy_header ours = npy_header_of(&shape);
            npy_header back;
            lscm_error why;
            size_t size = npy_header_format(&ours, text);
            assert_int_equal(size % 64, 0);
            assert_int_equal(text[size - 1], '\n');
            assert_int_equal((size_t)(unsigned char)text[8] + 10, size); /* below 256 */
            assert_ok(npy_header_parse(&back, (unsigned char *)text, size, "f", &why));
            assert_int_equal(back.shape.type, shape.type);
            assert_int_equal(back.shape.ndim, ndim);
            assert_memory_equal(back.shape.dims, shape.dims, (size_t)ndim * sizeof(size_t));
            assert_int_equal(back.start, ours.start);
            assert_int_equal(back.bytes, ours.bytes);
            assert_false(back.fortran || back.swapped);
        }
    }
    npy_header texts = npy_header_of_texts(1, 3, SIZE_MAX / 16);
    char longest[NPY_HEADER_OURS];
    assert_true(npy_header_format(&texts, longest) <= sizeof longest);
}

/* ---- Text ---- */

static void texts_are_read(void **state)
{
    static const uint32_t cells[] = {'a', 0, 0, 0xe9, 0x20ac, 0x1f600, 0, 0, 0};
    static const char *const expected[] = {"a", "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80", ""};
    char path[300];
    lscm_error why;
    (void)state;
    for (int swapped = 0; swapped < 2; swapped++) {
        unsigned char file[200];
        char **texts = NULL;
        size_t count = 0;
        size_t size = npy_head(
            file, 3, (swapped == 1) == little() ? HEAD("'>U3'", "(3,)") : HEAD("'<U3'", "(3,)"));
        for (size_t i = 0; i < 9; i++) {
            const unsigned char *from = (const unsigned char *)(const void *)&cells[i];
            for (size_t b = 0; b < 4; b++) {
                file[size++] = from[swapped == 1 ? 3 - b : b];
            }
        }
        scratch_write(scratch_path(path, "text.npy"), (char *)file, size);
        npy_array *array = open_array(path);
        assert_ok(npy_array_texts(array, &texts, &count, &why));
        assert_int_equal(count, 3);
        for (size_t i = 0; i < 3; i++) {
            assert_string_equal(texts[i], expected[i]);
        }
        assert_fails(npy_array_is_numbers(array, &why), LSCM_FORMAT, "holds text");
        texts_free(texts, count);
        npy_array_close(array);
    }
}

static void bad_texts_are_refused(void **state)
{
    static const struct {
        const char *head;
        const char *data;
        size_t bytes;
        const char *part;
    } table[] = {
        {HEAD("'=U1'", "(1,)"), "\xff\xff\xff\xff", 4, "not Unicode"},
        {HEAD("'<U1'", "(1,)"), "\x00\xd8\x00\x00", 4, "not Unicode"}, /* a surrogate */
        {HEAD("'>U1'", "(1,)"), "\x00\x11\x00\x00", 4, "not Unicode"}, /* past the last */
        {HEAD("'|S2'", "(1,)"), "\xc3(", 2, "not Unicode"},
        {HEAD("'|S3'", "(1,)"), "a\0b", 3, "not Unicode"},
        {HEAD("'|S3'", "(1, 1)"), "abc", 3, "list of texts"},
        {HEAD("'|u1'", "(3,)"), "abc", 3, "list of texts"},
        {HEAD("'|S0'", "(1000000000000,)"), "", 0, "more than make sense"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        unsigned char file[200];
        char path[300];
        char **texts = NULL;
        size_t count = 0;
        lscm_error why;
        size_t size = npy_head(file, 1, table[i].head);
        memcpy(file + size, table[i].data, table[i].bytes);
        scratch_write(scratch_path(path, "bad.npy"), (char *)file, size + table[i].bytes);
        npy_array *array = open_array(path);
        assert_int_not_equal(npy_array_texts(array, &texts, &count, &why), LSCM_OK);
        assert_non_null(strstr(why.text, table[i].part));
        assert_null(texts);
        npy_array_close(array);
    }
}

static void utf8_both_ways(void **state)
{
    static const char *const bad[] = {"\x80",
                                      "\xc3",
                                      "\xc0\x80",
                                      "\xe0\x80\x80",
                                      "\xed\xa0\x80",
                                      "\xf4\x90\x80\x80",
                                      "\xf8\x88\x80\x80\x80",
                                      "a\xe2\x82"};
    (void)state;
    for (uint32_t code = 1; code <= 0x10ffff; code += code < 0x11000 ? 1 : 257) {
        char text[5];
        uint32_t back = 0;
        size_t bytes = utf8_encode(&code, 1, text);
        if (code >= 0xd800 && code <= 0xdfff) {
            assert_int_equal(bytes, SIZE_MAX);
            continue;
        }
        assert_int_equal(bytes, code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4);
        assert_int_equal(utf8_length(text, bytes), 1);
        utf8_decode(text, bytes, &back);
        assert_int_equal(back, code);
    }
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        assert_int_equal(utf8_length(bad[i], strlen(bad[i])), SIZE_MAX);
    }
    assert_int_equal(utf8_length("a\0b", 3), SIZE_MAX);
    assert_int_equal(utf8_length("", 0), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(good_headers_are_read),    cmocka_unit_test(bad_headers_are_refused),
        cmocka_unit_test(cut_headers_are_refused),  cmocka_unit_test(beginnings_are_checked),
        cmocka_unit_test(sizes_must_match_exactly), cmocka_unit_test(our_headers_read_back),
        cmocka_unit_test(texts_are_read),           cmocka_unit_test(bad_texts_are_refused),
        cmocka_unit_test(utf8_both_ways),
    };
    return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
}
