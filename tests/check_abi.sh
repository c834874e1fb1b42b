#!/bin/sh
# Programs linked against an older library of this version must go on running with this one: no
# function that they call, no struct that they use and no number of a choice is another than in
# tests/abi/lscm-VERSION.abi. The library needs debug information. Arguments: check or write, the
# library, the version of its soname.
set -eu
here=$(dirname "$0")
command=$1 library=$2 version=$3
recorded=$here/abi/lscm-$version.abi

write() {
    abidw --headers-dir "$here/../include" --drop-private-types --exported-interfaces-only --no-corpus-path \
        --no-comp-dir-path --no-show-locs --no-elf-needed --out-file "$recorded" "$library"
}

check() {
    if [ ! -f "$recorded" ]; then
        echo "there is no $recorded: version $version is new, write it down with ./dev abi" >&2
        return 1
    fi
    # Functions and choices may be added without a word.
    abidiff --leaf-changes-only --exported-interfaces-only --no-added-syms --no-architecture --no-show-locs \
        "$recorded" "$library" || {
        cat >&2 <<END
lscm.h is not what it was in version $version: see above. Fields at the end of structs that the library makes
(settings, scores, diagnostics, rows of tables) may be added: write them down with ./dev abi. Everything
else breaks programs: take it back, or give lscm.h the next minor version, then ./dev abi.
END
        return 1
    }
}

"$command"
