#!/bin/sh
# Runs with a decoder of positions on the command line: sampled at any size into every format, shown,
# exported and compared; files that were damaged by others are refused. The run is made by
# tests/test_positions, which stands in the tests of the same build.
# shellcheck source=tests/testing.sh
. "$(dirname "$0")/testing.sh"
maker=$(dirname "$lscm")/tests/test_positions
[ -x "$maker" ] || { echo "there is no $maker: nothing to test"; exit 0; }
"$maker" make scene.run || exit 1

succeeds "positions" "$lscm" info scene.run
succeeds "30 rows of x and z" "$lscm" sample scene.run --do 0=1.5 --draws 30
succeeds "HEIGHTxWIDTH" "$lscm" sample --help

# png_size FILE: "WIDTH HEIGHT", as its header has them
png_size() {
    od -An -tu1 -j16 -N8 "$1" | awk '{ print $3 * 256 + $4, $7 * 256 + $8 }'
}

# shows "WIDTH HEIGHT" FILE
shows() {
    count=$((count + 1))
    png_size "$2" >output
    [ "$(cat output)" = "$1" ] || bad "$2 should be of $1 pixels"
}

one="sample scene.run --do 0=1.5 --draws 3 --seed 4"
# shellcheck disable=SC2086
for size in "" "--size 20x28" "--size 8" "--size 51x33"; do
    name=${size##* }
    succeeds "3 rows" "$lscm" $one $size --out "seen$name.npz"
    succeeds "3 rows" "$lscm" $one $size --out "seen$name.nc"
    succeeds "3 rows" "$lscm" $one $size --out "seen$name.pngs"
    succeeds "3 rows" "$lscm" $one $size --out "seen$name.png"
done
for file in seen.nc seen.npz seen20x28.npz; do
    succeeds "20 x 28 x 3" "$lscm" info "$file"
done
for file in seen51x33.nc seen51x33.npz seen51x33.pngs; do
    succeeds "51 x 33 x 3" "$lscm" info "$file"
done
succeeds "8 x 8 x 3" "$lscm" info seen8.npz
shows "33 51" "$(find seen51x33.pngs -name '*.png' | head -n 1)"
shows "28 20" "$(find seen20x28.pngs -name '*.png' | head -n 1)"
count=$((count + 1))
cmp seen.npz seen20x28.npz >output 2>&1 || bad "the size that was fitted should give the same file"
for threads in 1 3; do
    # shellcheck disable=SC2086
    succeeds "" "$lscm" $one --size 51x33 --threads $threads --out threads$threads.npz
    count=$((count + 1))
    cmp seen51x33.npz threads$threads.npz >output 2>&1 || bad "$threads threads make other pictures"
done

for size in 7 1025 0 -1 64x 64x7 x64 64x64x3 64X64 6.5 64x1e2 "" " 64" 99999999999999999999999 pixels; do
    refuses 2 "--size takes pixels from 8 to 1024, one number or HEIGHTxWIDTH, not '$size'" \
        "$lscm" sample scene.run "--size=$size" --out never.png
done
"$lscm" simulate --preset revised-linear --nodes 2 --sets 6 --per-set 20 --out data.nc --quiet || exit 1
"$lscm" fit data.nc --quiet || exit 1
refuses 2 "only the decoder 'positions' makes them of any size" \
    "$lscm" sample data.run --size 64 --out never.npz

succeeds "" "$lscm" export scene.run scene.npz
succeeds "" "$lscm" export scene.run scene.json
succeeds "" "$lscm" compare scene.run scene.run
succeeds "" "$lscm" report scene.run
succeeds "What would be seen" cat scene.run/report.html

# Arrays that another program changed.
if command -v ncdump >/dev/null && command -v ncgen >/dev/null; then
    ncdump -n posterior scene.run/posterior.nc >whole.cdl || exit 1
    # damaged SED PART: the file edited as text is refused with PART
    damaged() {
        rm -rf damaged.run
        cp -R scene.run damaged.run
        sed "$1" whole.cdl >damaged.cdl
        if cmp -s whole.cdl damaged.cdl || ! ncgen -4 -o damaged.run/posterior.nc damaged.cdl; then
            echo "ncgen: $1" >output
            bad "the file could not be damaged"
            return
        fi
        refuses 1 "$2" "$lscm" sample damaged.run
    }
    damaged 's/backdrop/curtain/' "'decoder/backdrop' is missing"
    damaged 's/:kind = "positions"/:kind = "places"/' "the kind of the decoder is 'places', which is unknown"
    damaged 's/:kind = "positions"/:kind = "mlp"/' "takes 5 inputs; 3 are there"
    damaged 's/:activation = "gelu"/:activation = "elu"/' "with biases and gelu"
    damaged 's/bias_0/other_0/' "with biases and gelu"
    damaged 's/bias_1/other_1/' "'decoder/bias_1' is missing"
    damaged 's/:x_shape = 20LL, 28LL, 3LL/:x_shape = 28LL, 20LL, 3LL/' "does not fit x of 28 x 20 x 3"
    damaged 's/:x_shape = 20LL, 28LL, 3LL/:x_shape = 1680LL/' "x is no such picture"
    damaged 's/backdrop(height, width, channel)/backdrop(width, height, channel)/' "does not fit"
    damaged 's/bias_1(unit_2)/bias_1(input)/' "'bias_1' has length 5, but the rest of the file says 8"
fi
finish
