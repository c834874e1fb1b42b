#include "cuda/picture_machine.h"

const picture_machine cuda_pictures = {
    picture_store_keep, picture_store_drop, picture_pupil_open,  picture_pupil_close,
    picture_pupil_put,  picture_pupil_get,  picture_pupil_train, picture_pupil_ask,
    picture_eyes_look,  picture_eyes_read,  picture_eyes_rest,
};
