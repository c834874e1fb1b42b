#!/bin/sh
# What sees what, from the includes as they are: a line "ROOM OTHER" for every room that includes
# another. A room is a folder of files: base, infer/graph, cli/commands. Sorted, so that it can be
# compared.
set -eu
cd "$(dirname "$0")/.."
# shellcheck disable=SC2046 # our file names have no spaces
grep -E '^[[:space:]]*#[[:space:]]*include "' $(find src cli -name '*.[ch]' -o -name '*.cu') /dev/null |
    awk '
    {
        file = $0; sub(/:.*/, "", file)
        name = $0; sub(/^[^"]*"/, "", name); sub(/".*/, "", name)
        from = file; sub(/^src\//, "", from); sub(/\/[^\/]*$/, "", from)
        to = name
        if (!sub(/\/[^\/]*$/, "", to))
            to = name == "lscm.h" ? "lscm.h" : from
        else if (file ~ /^cli\//)
            to = "cli/" to
        if (from != to)
            print from, to
    }' | LC_ALL=C sort -u
