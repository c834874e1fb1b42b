#include "data/text/utf8.h"

/* Bytes of the character at text, 0 when it is none; `code` gets its number. */
static size_t one(const unsigned char *text, size_t bytes, uint32_t *code)
{
    static const uint32_t least[] = {0, 1, 0x80, 0x800, 0x10000};
    unsigned first = text[0];
    size_t width = first < 0x80 ? 1 : first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
    if ((first >= 0x80 && first < 0xc0) || first >= 0xf8 || width > bytes) {
        return 0;
    }
    *code = width == 1 ? first : first & (0x7fU >> width);
    for (size_t k = 1; k < width; k++) {
        if ((text[k] & 0xc0U) != 0x80) {
            return 0;
        }
        *code = *code << 6 | (text[k] & 0x3fU);
    }
    bool surrogate = *code >= 0xd800 && *code <= 0xdfff;
    return *code < least[width] || *code > 0x10ffff || surrogate ? 0 : width;
}

size_t utf8_length(const char *text, size_t bytes)
{
    const unsigned char *at = (const unsigned char *)text;
    size_t count = 0;
    uint32_t code = 0;
    for (size_t width = 0; bytes > 0; bytes -= width, at += width, count++) {
        width = one(at, bytes, &code);
        if (width == 0) {
            return SIZE_MAX;
        }
    }
    return count;
}

void utf8_decode(const char *text, size_t bytes, uint32_t *out)
{
    const unsigned char *at = (const unsigned char *)text;
    for (size_t width = 0; bytes > 0; bytes -= width, at += width, out++) {
        width = one(at, bytes, out);
        if (width == 0) {
            return;
        }
    }
}

size_t utf8_encode(const uint32_t *in, size_t count, char *out)
{
    size_t used = 0;
    for (size_t i = 0; i < count; i++) {
        uint32_t code = in[i];
        if (code == 0 || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff)) {
            return SIZE_MAX;
        }
        size_t width = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
        uint32_t lead = width == 1 ? 0 : 0xf00U >> width & 0xffU; /* as many 1 bits as bytes */
        for (size_t k = width - 1; k > 0; k--) {
            out[used + k] = (char)(0x80U | (code & 0x3fU));
            code >>= 6;
        }
        out[used] = (char)(lead | code);
        used += width;
    }
    return used;
}
