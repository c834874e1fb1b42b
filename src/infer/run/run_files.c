#include "infer/run/run_files.h"

#include "base/output.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LONGEST = 4096 };

static lscm_status path_of(const char *folder, const char *name, char *out, lscm_error *why)
{
    if ((size_t)snprintf(out, LONGEST, "%s/%s", folder, name) >= LONGEST) {
        return fail(why, LSCM_USAGE, "the name of the run folder is too long");
    }
    return LSCM_OK;
}

uint64_t fingerprint_add(uint64_t fingerprint, const void *bytes, size_t count)
{
    const unsigned char *at = bytes;
    for (size_t i = 0; i < count; i++) {
        fingerprint = (fingerprint ^ at[i]) * 1099511628211U; /* FNV-1a */
    }
    return fingerprint;
}

/* In front of the state. */
typedef struct checkpoint_head {
    char magic[8];
    uint64_t fingerprint, bytes, checksum;
} checkpoint_head;

static const char MAGIC[8] = {'l', 's', 'c', 'm', 'c', 'k', 'p', '1'};

lscm_status checkpoint_write(const char *folder, uint64_t fingerprint, const void *state,
                             size_t bytes, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    char path[LONGEST];
    output out = {0};
    FILE *file = NULL;
    checkpoint_head head = {
        .fingerprint = fingerprint, .bytes = bytes, .checksum = fingerprint_add(1, state, bytes)};
    memcpy(head.magic, MAGIC, sizeof MAGIC);
    TRY(path_of(folder, "checkpoint", path, why));
    TRY(output_begin(&out, path, false, true, why));
    file = fopen(out.temporary, "wb");
    bool good = file != NULL && fwrite(&head, sizeof head, 1, file) == 1 &&
                fwrite(state, bytes, 1, file) == 1;
    good = file != NULL && fclose(file) == 0 && good;
    if (!good) {
        status = fail(why, LSCM_WRITE, "%s: %s", path, strerror(errno));
        goto done;
    }
    TRY(output_commit(&out, why));
done:
    output_end(&out);
    return status;
}

lscm_status checkpoint_read(const char *folder, uint64_t fingerprint, void *state, size_t bytes,
                            lscm_error *why)
{
    lscm_status status = LSCM_OK;
    char path[LONGEST];
    checkpoint_head head;
    FILE *file = NULL;
    TRY(path_of(folder, "checkpoint", path, why));
    file = fopen(path, "rb");
    if (file == NULL) {
        return fail(why, LSCM_MISSING, "%s: there is nothing to resume: %s", path, strerror(errno));
    }
    if (fread(&head, sizeof head, 1, file) != 1 || memcmp(head.magic, MAGIC, sizeof MAGIC) != 0) {
        status = fail(why, LSCM_FORMAT, "%s is not a checkpoint; start again with --force", path);
    } else if (head.fingerprint != fingerprint || head.bytes != bytes) {
        status = fail(
            why, LSCM_USAGE,
            "%s was made from other data, with other settings or on another device; resume with "
            "the same, or start again with --force",
            path);
    } else if (fread(state, bytes, 1, file) != 1 ||
               fingerprint_add(1, state, bytes) != head.checksum) {
        status = fail(why, LSCM_FORMAT, "%s is damaged; start again with --force", path);
    }
    (void)fclose(file);
done:
    return status;
}

void checkpoint_remove(const char *folder)
{
    char path[LONGEST];
    if (path_of(folder, "checkpoint", path, NULL) == LSCM_OK) {
        (void)unlink(path);
    }
}
