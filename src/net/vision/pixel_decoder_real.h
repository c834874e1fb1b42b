/* The network in one precision; included by pixel_decoder.h for each. */
#define PIXEL_WORK TYPED(pixel_work)

/* Up to `rows` pixels of a picture on their way, and back. */
typedef struct PIXEL_WORK {
    size_t rows;
    REAL *input;                           /* (rows, in[0]): z, q, 0 */
    REAL *value[PIXEL_LAYERS];             /* (rows, out): h_1 .., the colour */
    REAL *slope[PIXEL_LAYERS - 1];         /* gelu' */
    REAL *back, *back_slope, *back_before; /* (rows, PIXEL_HIDDEN) */
    REAL *colour_back;                     /* (rows, out of the last): 0 beyond the channels */
    REAL *input_back;                      /* (rows, in[0]) */
} PIXEL_WORK;

void NAMED(pixel, lay_out)(PIXEL_WORK *w, arena *a, const pixel_shape *s, size_t rows);
void NAMED(pixel, draw)(const pixel_shape *s, rng r, REAL *parameters);
void NAMED(pixel, turn)(const pixel_shape *s, const REAL *parameters, REAL *turned);
/* Colours, the last value, of the first `rows` inputs. */
void NAMED(pixel, forward)(const pixel_shape *s, const device *on, const REAL *parameters,
                           size_t rows, const PIXEL_WORK *w);
/* From colour_back, after forward: gradient (parameters) +=, and input_back. */
void NAMED(pixel, backward)(const pixel_shape *s, const REAL *turned, size_t rows,
                            const PIXEL_WORK *w, REAL *gradient);
