/* Power series, for numbers and for lanes alike. */
#ifndef LSCM_BASE_SERIES_H
#define LSCM_BASE_SERIES_H

/* (atanh(s)/s - 1)/q = 1/3 + q/5 + q^2/7 + .., q = s^2, to the last bit for |s| <= 3 - sqrt 8; sum
 * starts as 1/23. */
#define SERIES_ATANH(sum, q)                                                                       \
    do {                                                                                           \
        (sum) = (sum) * (q) + 1.0 / 21;                                                            \
        (sum) = (sum) * (q) + 1.0 / 19;                                                            \
        (sum) = (sum) * (q) + 1.0 / 17;                                                            \
        (sum) = (sum) * (q) + 1.0 / 15;                                                            \
        (sum) = (sum) * (q) + 1.0 / 13;                                                            \
        (sum) = (sum) * (q) + 1.0 / 11;                                                            \
        (sum) = (sum) * (q) + 1.0 / 9;                                                             \
        (sum) = (sum) * (q) + 1.0 / 7;                                                             \
        (sum) = (sum) * (q) + 1.0 / 5;                                                             \
        (sum) = (sum) * (q) + 1.0 / 3;                                                             \
    } while (0)

#endif
