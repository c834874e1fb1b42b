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
    # where it was built says nothing
    sed -i "s#path='[^']*/src/#path='src/#" "$recorded"
}

check() {
    if [ ! -f "$recorded" ]; then
        echo "there is no $recorded: version $version is new, write it down with ./dev abi" >&2
        return 1
    fi
    # Functions, choices and fields at the end of what the library makes may be added without a word.
    abidiff --leaf-changes-only --exported-interfaces-only --no-added-syms --no-architecture --no-show-locs \
        --suppressions "$here/abi/growing.suppr" "$recorded" "$library" || {
        cat >&2 <<END
lscm.h is not what it was in version $version: see above. Settings, scores, diagnostics and rows of tables may
grow, at the end of their struct only. Everything else breaks programs: take it back, or give lscm.h the
next minor version, then write it down with ./dev abi.
END
        return 1
    }
}

"$command"
