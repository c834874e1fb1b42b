#!/bin/sh
# lscm fit --encoder conv, networks that read z off pictures of things that move: what a run leaves, the
# same bytes again and after a stop, new pictures read and drawn, and what is refused.
# shellcheck source=tests/testing.sh
. "$(dirname "$0")/testing.sh"

steps=48
long=64
if [ "${LSCM_SANITIZED:-0}" = 1 ]; then
    steps=8
    long=16
fi
quick="--encoder conv --batch 4 --draws 16 --threads 1"
whole="config.json posterior.nc report.html summary.json trace.csv"
simulate="$lscm simulate --preset balls --size 16 --nodes 2 --sets 6 --quiet"
few="--observational 20 --per-set 8"

# same_z ONE OTHER: z and z_sd in two .npz files are the same
same_z() {
    count=$((count + 1))
    for name in z z_sd; do
        unzip -p "$1" $name.npy >left.npy 2>output && unzip -p "$2" $name.npy >right.npy 2>output
        if [ ! -s left.npy ] || ! cmp left.npy right.npy >output 2>&1; then
            bad "$name of $1 and $2"
        fi
    done
}

# takes DECODER DATA OPTION...: a fit that is not told comes to that decoder, by figures that it says
takes() {
    decoder=$1
    shift
    succeeds '"reason": "values set by do() label' sh -c "'$lscm' fit $* --out auto --draws 16 --threads 1 --holdout 0 --force &&
        cat auto/summary.json"
    count=$((count + 1))
    sed -n 's/.*convolutions missed \([0-9.e-]*\) after a short trial, a kernel \([0-9.e-]*\) .*/kernel \1 \2/p
        s/.*a kernel missed \([0-9.e-]*\), convolutions \([0-9.e-]*\) after a short trial .*/kernel \2 \1/p
        s/.*a linear reading missed \([0-9.e-]*\), convolutions \([0-9.e-]*\) after a short trial .*/linear \2 \1/p
        s/.*"decoder": "\([a-z]*\)".*/\1/p' auto/summary.json >figures
    awk -v decoder="$decoder" '$1 == "kernel" { ought = $2 < 4 * $3 ? "positions" : "mlp" }
        $1 == "linear" && NF == 3 { ought = 2 * $2 < $3 ? "positions" : "linear" }
        NF == 1 { took = $1 }
        END { exit !(took == decoder && ought == decoder) }' figures ||
        { cat figures auto/summary.json >output; bad "decoder $decoder of $*"; }
}

# shellcheck disable=SC2086 # lists of options
{
    $simulate $few --seed 1 --out data.nc
    $simulate $few --seed 3 --out other.nc

    # ---- what a run leaves
    succeeds "data.run: method anchored, decoder positions" "$lscm" fit data.nc $quick --steps $steps
    holds data.run $whole
    succeeds '"encoder": "conv"' cat data.run/summary.json
    succeeds '"reason": "as asked"' cat data.run/summary.json
    succeeds '"networks": 3' cat data.run/summary.json
    succeeds '"r2"' cat data.run/summary.json
    succeeds '"encoder": "conv"' cat data.run/config.json
    succeeds "member,step,label,pixel,held_out_missed" head -n 1 data.run/trace.csv
    count=$((count + 1)) # members one after the other, none of them given up at once, nothing missing
    awk -F, -v steps=$steps 'NR > 1 && (NF != 5 || $1 < member || ($1 == member && $2 <= last) || $3 + 0 <= 0 || $4 + 0 <= 0) { bad = 1 }
        NR > 1 { member = $1; last = ends[$1] = $2 }
        END { exit bad || ends[0] != steps || ends[1] != steps || ends[2] != steps }' data.run/trace.csv ||
        { cp data.run/trace.csv output; bad "trace.csv"; }
    count=$((count + 1))
    ! grep -qi -e '[ :,-]nan' -e '[ :,-]inf[ ,}]' data.run/summary.json >output || bad "numbers of summary.json"

    # ---- new pictures are read, and drawn at any size
    succeeds "z.npz: z and z_sd of 68 rows, 2 nodes" "$lscm" transform data.run data.nc --out z.npz
    succeeds "run.npz: 16 draws of 2 nodes" "$lscm" export data.run run.npz
    if command -v unzip >/dev/null 2>&1; then
        same_z run.npz z.npz
    fi
    succeeds "z.csv: z and z_sd of 68 rows" "$lscm" transform data.run other.nc --out z.csv
    count=$((count + 1))
    ! grep -qi -e nan -e inf z.csv 2>output || bad "z that is not a number"
    succeeds "x.png: 4 rows of x and z" "$lscm" sample data.run --do 0=1 --draws 4 --size 24 --out x.png
    succeeds "x.npz: 4 rows" "$lscm" sample data.run --do 0=1,1=-1 --draws 4 --size 24 --out x.npz
    succeeds "4 x 24 x 24 x 3 float32" "$lscm" info x.npz
    succeeds '"mcc": ' "$lscm" evaluate data.run --json

    # ---- the same bytes: again, by two threads, and after a stop
    same="$quick --steps $long"
    succeeds "" "$lscm" fit data.nc --out straight $same
    succeeds "" "$lscm" fit data.nc --out two $same --threads 2
    succeeds "" "$lscm" fit data.nc --out again $same
    succeeds "" "$lscm" fit data.nc --out seed $same --seed 1
    for file in posterior.nc config.json trace.csv; do
        succeeds "" cmp straight/$file again/$file
    done
    for file in posterior.nc trace.csv; do
        succeeds "" cmp straight/$file two/$file
        succeeds "" sh -c "! cmp -s straight/$file seed/$file"
    done
    for rows in 3 35; do # in the first network, and in the second
        rm -rf stopped
        stops INT $rows $same
        if [ $got != 0 ]; then # or it was too quick
            count=$((count + 1))
            if [ $got != 130 ] || ! grep -q "continue with the same command and --resume" output; then
                bad "stopped (exit $got)"
            fi
            holds stopped checkpoint trace.csv
            refuses 1 "stopped: the fit did not finish" "$lscm" evaluate stopped
            refuses 1 "--resume continues it" "$lscm" fit data.nc --out stopped $same
            for change in "--seed 1" "--steps $((long + 1))" "--rate 0.5" "--batch 5" "--encoder kernel"; do
                refuses 2 "other data, with other settings or on another device" "$lscm" fit data.nc --out stopped --resume $same $change
            done
            refuses 2 "other data" "$lscm" fit other.nc --out stopped --resume $same
            stops INT $((rows + 8)) --resume $same # once more
            [ $got = 0 ] || succeeds "decoder positions" "$lscm" fit data.nc --out stopped --resume $same
        fi
        holds stopped $whole
        for file in posterior.nc config.json trace.csv; do
            succeeds "" cmp straight/$file stopped/$file
        done
    done

    # killed: the last checkpoint that was written is whole
    rm -r stopped
    stops KILL 10 --checkpoint 0.01 $same
    if [ $got -gt 128 ] && [ -e stopped/checkpoint ]; then
        succeeds "" "$lscm" fit data.nc --out stopped --resume --checkpoint 0.01 $same
        succeeds "" cmp straight/posterior.nc stopped/posterior.nc
    fi

    # ---- other encoders of pictures
    for encoder in kernel network; do
        succeeds "method anchored, decoder mlp" "$lscm" fit data.nc --out $encoder --encoder $encoder --steps 40 --width 16 --draws 16 --threads 1
        succeeds '"encoder": "'$encoder'"' cat $encoder/summary.json
        succeeds "of 68 rows" "$lscm" transform $encoder other.nc --out $encoder.csv
    done

    # ---- without being asked: what a trial missed beside a kernel or a linear reading decides
    # (at a rate of 1e-7 it learns nothing)
    if [ "${LSCM_SANITIZED:-0}" = 0 ]; then
        "$lscm" simulate --preset lamps --size 16 --nodes 2 --sets 6 $few --seed 1 --out lamps.nc --quiet
        takes positions data.nc --steps 20
        takes mlp data.nc --steps 40 --width 16 --rate 1e-7
        takes positions lamps.nc --steps 20
        takes linear lamps.nc --rate 1e-7
    fi

    # ---- bytes, grey pictures, and folders
    $simulate $few --seed 1 --pixels uint8 --out bytes.npz
    succeeds "bytes.run: method anchored, decoder positions" "$lscm" fit bytes.npz $quick --steps 8
    succeeds "of 68 rows" "$lscm" transform bytes.run bytes.npz --out bytes.csv
    $simulate $few --seed 1 --grey --width 20 --out grey.nc
    succeeds "grey.run: method anchored, decoder positions" "$lscm" fit grey.nc $quick --steps 8
    succeeds "5 x 32 x 40 float32" sh -c "'$lscm' sample grey.run --draws 5 --size 32x40 --out grey.npz && '$lscm' info grey.npz"
    $simulate $few --seed 1 --out shots.pngs
    succeeds "shots.run: method anchored, decoder positions" "$lscm" fit shots.pngs $quick --steps 8
    succeeds "of 68 rows" "$lscm" transform shots.run shots.pngs --out shots.csv
    succeeds "more.png" "$lscm" sample shots.run --draws 4 --out more.png
    refuses 1 "bytes.npz" "$lscm" transform grey.run bytes.npz --out no.csv

    # ---- what is refused: a sentence, and nothing is left behind
    "$lscm" simulate --preset paper-linear --nodes 2 --observational 40 --sets 4 --seed 1 --out rows.nc --quiet
    refuses 2 "rows.nc: the encoder 'conv' reads pictures of 16 to 256 pixels a side and 1 to 4 channels" "$lscm" fit rows.nc $quick --out none
    refuses 2 "comes with a decoder of its own; leave --decoder out" "$lscm" fit data.nc $quick --decoder linear --out none
    refuses 2 "comes with a decoder of its own" "$lscm" fit data.nc $quick --decoder image --out none
    for method in biols vae; do
        refuses 2 "--encoder conv belongs to the method anchored" "$lscm" fit data.nc --encoder conv --method $method --out none
    done
    $simulate $few --seed 1 --untouched 1 --out untouched.nc
    refuses 1 "node 0 was set by do() in too few rows, or always to the same value" "$lscm" fit untouched.nc $quick --out none
    $simulate $few --seed 1 --values zero --out zero.nc
    refuses 1 "to be told apart in pictures" "$lscm" fit zero.nc $quick --out none
    $simulate --observational 40 --sets 0 --seed 1 --out seen.nc
    refuses 1 "0 values to learn from" "$lscm" fit seen.nc $quick --out none
    # nobody wrote down what do() set
    "$lscm" convert data.nc novalues --quiet
    rm novalues/interv_values.npy
    refuses 1 "there are no 'values'" "$lscm" fit novalues $quick --out none
    cp -r shots.pngs alike
    for picture in alike/*.png; do
        [ "$picture" = alike/0000.png ] || cp alike/0000.png "$picture"
    done
    refuses 1 "alike: all pictures are the same: there is nothing to find in them" "$lscm" fit alike $quick --out none
    refuses 2 "'rate'" "$lscm" fit data.nc $quick --rate 1e300 --out none
    refuses 1 "nothing to resume" "$lscm" fit data.nc $quick --resume --out none
    refuses 1 "--force" "$lscm" fit data.nc $quick --out data.run
    refuses 1 "data.run holds a run" "$lscm" fit data.nc $quick --out data.run
}
finish
