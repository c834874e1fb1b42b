#!/bin/sh
# Installs into a scratch prefix, then builds and runs the project of tests/outside by pkg-config, against the
# shared library and the static one, and by the CMake package, and the examples in C against the shared one.
# Arguments: cmake, the build folder, the C compiler.
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

cp -r "$(dirname "$0")/outside" "$work/outside" # where nothing of these sources is near
# shellcheck disable=SC2046 # flags are words
$cc "$work/outside/outside.c" -o "$work/outside/shared" $(pkg-config --cflags --libs lscm)
# shellcheck disable=SC2046
$cc "$work/outside/outside.c" -o "$work/outside/static" \
    $(pkg-config --cflags --static --libs lscm | sed 's/-llscm/-l:liblscm.a/')
LD_LIBRARY_PATH=$lib "$work/outside/shared" >"$work/version" || stop "shared: $(cat "$work/version")"
[ "$(cat "$work/version")" = "$(pkg-config --modversion lscm)" ] || stop "versions differ"
readelf -d "$work/outside/shared" | grep -q 'liblscm[.]so[.]0[.]2' || stop "the shared program has another library"
"$work/outside/static" >/dev/null || stop "the static program does not run"
! readelf -d "$work/outside/static" | grep -q liblscm || stop "the static program needs the shared library"

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

# By the CMake package; a version that it is not is refused.
configure_outside() {
    "$cmake" -S "$work/outside" -B "$work/package" -G Ninja -DCMAKE_C_COMPILER="$cc" \
        -DCMAKE_PREFIX_PATH="$work/prefix"
}
{ configure_outside && "$cmake" --build "$work/package"; } >"$work/log" 2>&1 || stop "$(cat "$work/log")"
"$work/package/outside" >/dev/null || stop "the program that CMake made does not run"
sed -i 's/lscm 0.2/lscm 0.1/' "$work/outside/CMakeLists.txt"
! configure_outside >"$work/log" 2>&1 || stop "find_package(lscm 0.1) takes 0.2"

# The plug-in for CUDA devices, where it was built, is found by the program.
if [ -e "$build/liblscm_cuda.so" ]; then
    "$work/prefix/bin/lscm" info --device >"$work/said"
    ! grep -q "is not installed" "$work/said" || stop "the program does not find its plug-in: $(cat "$work/said")"
fi

# The program runs from where it was installed, and from anywhere else.
"$work/prefix/bin/lscm" --version >/dev/null || stop "the installed program does not run"
cp "$work/prefix/bin/lscm" "$work/elsewhere"
"$work/elsewhere" --version >/dev/null || stop "a copy of the program does not run"
