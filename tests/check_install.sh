#!/bin/sh
# Installs into a scratch prefix, then builds and runs a user's program against the shared library,
# the static one and the CMake package, and the examples in C against the shared one. The user has functions with the names of internal ones: they
# must not meet. Arguments: cmake, the build folder, the C compiler.
set -eu
cmake=$1 build=$2 cc=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

stop() {
    echo "$*" >&2
    exit 1
}

"$cmake" --install "$build" --prefix "$work/prefix" >"$work/log" || stop "$(cat "$work/log")"
lib=$(dirname "$(find "$work/prefix" -name 'liblscm.so.0.2')")
[ -d "$lib/pkgconfig" ] || stop "liblscm.so.0.2 was not installed"
PKG_CONFIG_PATH=$lib/pkgconfig
export PKG_CONFIG_PATH

cat >"$work/user.c" <<'END'
#include <lscm.h>
#include <stdio.h>
#include <string.h>
int fail(void);
int fail(void)
{
    return 0;
}
int main(void)
{
    puts(lscm_version());
    return strcmp(lscm_version(), LSCM_VERSION) != 0 || fail();
}
END
# shellcheck disable=SC2046 # flags are words
$cc "$work/user.c" -o "$work/shared" $(pkg-config --cflags --libs lscm)
LD_LIBRARY_PATH=$lib "$work/shared" >"$work/version"
[ "$(cat "$work/version")" = "$(pkg-config --modversion lscm)" ] || stop "versions differ"
# shellcheck disable=SC2046
$cc "$work/user.c" -o "$work/static" \
    $(pkg-config --cflags --static --libs lscm | sed 's/-llscm/-l:liblscm.a/')
"$work/static" >/dev/null
! readelf -d "$work/static" | grep -q liblscm || stop "the static program needs the shared library"

# The examples, as their readers build them; intervene.c asks the run that fit.c leaves.
for example in fit score intervene; do
    # shellcheck disable=SC2046
    $cc -std=c17 -Wall -Wextra -Wpedantic -Werror "$(dirname "$0")/../examples/c/$example.c" -o "$work/$example" \
        $(pkg-config --cflags --libs lscm)
done
LD_LIBRARY_PATH=$lib "$work/fit" "$work/made.run" >"$work/said"
grep -q '^heat -> pressure: 1.00$' "$work/said" || stop "fit.c: $(cat "$work/said")"
grep -q '^R-hat 1.00, 500 effective draws$' "$work/said" || stop "fit.c: $(cat "$work/said")"
LD_LIBRARY_PATH=$lib "$work/intervene" "$work/made.run" 1 2.5 >"$work/said"
grep -q '^node 1 (pressure): mean 2.50, ' "$work/said" || stop "intervene.c: $(cat "$work/said")"
LD_LIBRARY_PATH=$lib "$work/score" >"$work/said"
grep -q '^e_shd  *0.0' "$work/said" || stop "score.c: $(cat "$work/said")"

# Only lscm_ names are seen from outside, in both libraries.
for symbols in "$(nm -D --defined-only "$lib/liblscm.so")" \
    "$(nm -g --defined-only "$lib/liblscm.a" | grep ' [A-Z] ')"; do
    others=$(echo "$symbols" | awk '{ print $NF }' | grep -v '^lscm_' || true)
    [ -z "$others" ] || stop "symbols that should be hidden: $others"
done

mkdir "$work/package"
cat >"$work/package/CMakeLists.txt" <<END
cmake_minimum_required(VERSION 3.22)
project(user LANGUAGES C)
find_package(lscm 0.2 REQUIRED)
add_executable(user $work/user.c)
target_link_libraries(user PRIVATE lscm::lscm)
END
{
    "$cmake" -S "$work/package" -B "$work/package" -G Ninja -DCMAKE_C_COMPILER="$cc" \
        -DCMAKE_PREFIX_PATH="$work/prefix" &&
        "$cmake" --build "$work/package"
} >"$work/log" 2>&1 || stop "$(cat "$work/log")"
"$work/package/user" >/dev/null

# The program runs from where it was installed, and from anywhere else.
"$work/prefix/bin/lscm" --version >/dev/null || stop "the installed program does not run"
cp "$work/prefix/bin/lscm" "$work/elsewhere"
"$work/elsewhere" --version >/dev/null || stop "a copy of the program does not run"
