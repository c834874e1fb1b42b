/* The network in one precision; included by picture_encoder.h for each. */
#define PICTURE_WORK TYPED(picture_work)

/* A picture on its way, and back. */
typedef struct PICTURE_WORK {
    REAL *map[PICTURE_CONVS + 1];   /* with borders; [0]: the picture and its coordinates */
    REAL *slope[PICTURE_CONVS + 1]; /* likewise: gelu' of map l, from 1 */
    REAL *back[PICTURE_CONVS + 1];  /* dloss/dmap l, from 1 */
    REAL *key;                      /* (positions, keys): scores, then p */
    REAL *key_back;                 /* (positions, keys) */
    REAL *feature, *feature_back;   /* (features), twice: f comes from three places */
    REAL *hidden, *hidden_slope, *hidden_back; /* (PICTURE_HIDDEN) */
    REAL *z, *z_back;                          /* (d, filled up) */
    size_t *top;                               /* (maps): where each is largest */
} PICTURE_WORK;

void NAMED(picture, lay_out)(PICTURE_WORK *w, arena *a, const picture_shape *s);
/* What never changes of a place for pictures: coordinates. Once, after memory is there. */
void NAMED(picture, ready)(const picture_shape *s, const PICTURE_WORK *w);
/* Where it begins: He's normal weights, W_2 and W_e small, biases 0. */
void NAMED(picture, draw)(const picture_shape *s, rng r, REAL *parameters);
/* turned (parameters): weights as `backward` wants them. */
void NAMED(picture, turn)(const picture_shape *s, const REAL *parameters, REAL *turned);
/* The picture into its place: x (height, width, channels), channels last. */
void NAMED(picture, show)(const picture_shape *s, const PICTURE_WORK *w, const REAL *x);
/* w->z from what was shown. */
void NAMED(picture, forward)(const picture_shape *s, const device *on, const REAL *parameters,
                             const PICTURE_WORK *w);
/* gradient (parameters) += from w->z_back, after forward. */
void NAMED(picture, backward)(const picture_shape *s, const REAL *turned, const PICTURE_WORK *w,
                              REAL *gradient);
