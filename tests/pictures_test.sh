#!/bin/sh
# Folders of pictures on the command line: the way through, and what is said of bad ones.
# shellcheck source=tests/testing.sh
. "$(dirname "$0")/testing.sh"

# ---- the way through: simulate, info, convert there and back, fit, evaluate
make="$lscm simulate --preset paper-image --nodes 3 --observational 60 --sets 6 --per-set 30 --seed 2 --quiet"
# shellcheck disable=SC2086 # a command and its arguments
succeeds "" $make --out shots.pngs
succeeds "picture folder, 240 rows, 3 nodes, 2500 features" "$lscm" info shots.pngs
succeeds "240 x 50 x 50 float32" "$lscm" info shots.pngs/
succeeds "preset=paper-image" "$lscm" info shots.pngs
succeeds '"format": "picture folder"' "$lscm" info shots.pngs --json
succeeds "shots.nc" "$lscm" convert shots.pngs shots.nc
succeeds "steps of 1/65535" "$lscm" convert shots.nc again.pngs
succeeds "" diff -r shots.pngs again.pngs
succeeds "sheet.png" "$lscm" convert shots.pngs sheet.png
succeeds "shots.run" "$lscm" fit shots.pngs --draws 50
succeeds "e_shd" "$lscm" evaluate shots.run
cp -r shots.pngs photographs
succeeds "picture folder, 240 rows" "$lscm" info photographs
succeeds "picture folder, 240 rows" "$lscm" info photographs/interventions.csv
succeeds "c:" "$lscm" info photographs --names a,b,c
refuses 1 "holds pictures, which do not fit in a CSV" "$lscm" convert shots.pngs out.csv
refuses 1 "exists already" "$lscm" convert shots.nc shots.pngs
succeeds "" "$lscm" convert shots.nc shots.pngs --force
refuses 1 "holds no pictures" "$lscm" simulate --out a.pngs
refuses 1 "a picture holds numbers from 0" "$lscm" simulate --preset paper-image --x-noise 0.2 --out a.pngs

# ---- scenes: a preset for each, with nodes of its own; in colour, of any size, and no noise leaves [0, 1]
for scene in balls:4 discs:4 pendulum:4 sprites:6 movers:6 spheres:5 lamps:4; do
    succeeds "5 rows, ${scene#*:} nodes" "$lscm" simulate --preset "${scene%:*}" --size 20 --observational 5 --sets 0 \
        --out "${scene%:*}.pngs"
    succeeds "5 x 20 x 20 x 3" "$lscm" info "${scene%:*}.pngs"
done
succeeds "5 rows, 7 nodes" "$lscm" simulate --projection scene --nodes 7 --observational 5 --sets 0 --out seven.npz
succeeds "x_noise=0.3" sh -c "'$lscm' simulate --preset balls --x-noise 0.3 --observational 5 --sets 0 --out loud.pngs && '$lscm' info loud.pngs"
refuses 2 "did you mean 'balls'?" "$lscm" simulate --projection scene --scene bals --out a.nc
refuses 2 "pendulum" "$lscm" simulate --projection scene --scene xyzzy --out a.nc
refuses 2 "'size' is for scenes alone" "$lscm" simulate --preset blobs --size 32 --out a.nc
refuses 2 "'scene' is for scenes alone" "$lscm" simulate --scene pendulum --out a.nc
refuses 2 "size" "$lscm" simulate --preset balls --size 8 --out a.nc
refuses 2 "'width' is 8, but a scene has 16 to 256 pixels from left to right" "$lscm" simulate --preset balls --width 8 --out a.nc
refuses 2 "'width' is for scenes alone" "$lscm" simulate --preset blobs --width 32 --out a.nc
refuses 2 "'grey' is for scenes alone" "$lscm" simulate --preset blobs --grey --out a.nc
refuses 2 "'pixels' is for pictures alone" "$lscm" simulate --pixels uint8 --out a.nc

# ---- grey, wider than high, bytes: as asked in every format, with the recipe; in a folder bytes are shares of 255
for name in camera.npz camera.nc; do
    succeeds "" "$lscm" simulate --preset spheres --size 20 --width 32 --grey --pixels uint8 --observational 6 --sets 0 --out $name --quiet
    succeeds "6 x 20 x 32 uint8" "$lscm" info $name
    succeeds "width=32  grey=true  pixels=uint8" "$lscm" info $name
done
succeeds "" "$lscm" convert camera.npz camera.pngs
succeeds "6 x 20 x 32 float32" "$lscm" info camera.pngs
succeeds "" "$lscm" convert camera.pngs again-camera.pngs
succeeds "" diff -r camera.pngs again-camera.pngs
succeeds "5 x 50 x 50 uint8" sh -c "'$lscm' simulate --preset blobs --pixels uint8 --x-noise 0.5 --observational 5 --sets 0 --out bytes.npz && '$lscm' info bytes.npz"
refuses 2 "things for 24 at most" "$lscm" simulate --preset balls --nodes 25 --out a.nc

# ---- bad folders: each made from a good one of three pictures
spoil() {
    rm -rf bad
    mkdir bad
    cp shots.pngs/000[0-2].png bad
    printf 'file,raf,mek\n0000.png,,\n0001.png,1.5,\n0002.png,,-2\n' >bad/interventions.csv
}
spoil
succeeds "raf:1 mek:1" "$lscm" info bad
rm bad/interventions.csv
refuses 1 "bad: holds pictures but no interventions.csv" "$lscm" info bad
spoil
rm bad/0001.png
refuses 1 "bad/interventions.csv: line 3 lists the picture '0001.png', but there is no such file" "$lscm" fit bad
spoil
cp shots.pngs/0003.png bad
refuses 1 "does not list the picture '0003.png'" "$lscm" info bad
succeeds "3 rows" "$lscm" info bad/interventions.csv
spoil
printf '0001.png,,\n' >>bad/interventions.csv
refuses 1 "bad/interventions.csv lists the picture '0001.png' twice" "$lscm" info bad
spoil
cp sheet.png bad/0001.png
refuses 1 "bad/0001.png: the picture is of" "$lscm" info bad
refuses 1 "but '0000.png' is of 50 x 50 pixels, grey; all must be alike: save them in one size, all grey or all in colour" "$lscm" info bad
refuses 1 "all must be alike" "$lscm" fit bad --out spoilt.run
succeeds "" test ! -e spoilt.run
spoil
"$lscm" simulate --preset balls --nodes 2 --size 20 --observational 2 --sets 0 --seed 1 --quiet --out colour.pngs
"$lscm" simulate --preset balls --nodes 2 --size 20 --observational 2 --sets 0 --seed 1 --quiet --grey --out mixed.pngs
cp colour.pngs/0001.png mixed.pngs
refuses 1 "mixed.pngs/0001.png: the picture is of 20 x 20 pixels, in colour, but '0000.png' is of 20 x 20 pixels, grey" "$lscm" info mixed.pngs
echo "this is a note" >bad/0002.png
refuses 1 "bad/0002.png: this is not a PNG or JPEG picture" "$lscm" info bad
spoil
: >bad/0000.png
refuses 1 "bad/0000.png: the file is empty" "$lscm" info bad
spoil
head -c 150 shots.pngs/0001.png >bad/0001.png
refuses 1 "bad/0001.png: the picture is damaged (it ends too early)" "$lscm" info bad
refuses 1 "bad/0001.png: the picture is damaged" "$lscm" convert bad out.nc
refuses 1 "bad/0001.png: the picture is damaged" "$lscm" convert bad out.pngs
refuses 1 "bad/0001.png: the picture is damaged" "$lscm" fit bad
spoil
head -c 20 shots.pngs/0001.png >bad/0001.png
refuses 1 "bad/0001.png: the picture is damaged" "$lscm" info bad
spoil
printf 'file,raf,mek\n' >bad/interventions.csv
rm bad/*.png
refuses 1 "bad/interventions.csv: has a header but lists no pictures" "$lscm" info bad
spoil
printf 'file,raf,mek\n0000.png,,\n0001.png,high,\n0002.png,,\n' >bad/interventions.csv
refuses 1 "line 3, column 'raf' holds 'high', not a number" "$lscm" info bad
spoil
printf 'file,raf,day\n0000.png,,mon\n0001.png,1,tue\n0002.png,2,wed\n' >bad/interventions.csv
succeeds "raf:2" "$lscm" info bad --ignore day
spoil
: >bad/interventions.csv
refuses 1 "line 1 should be 'file'" "$lscm" info bad
spoil
printf 'x,y\n1,2\n' >bad/interventions.csv
refuses 1 "line 1 should be 'file'" "$lscm" info bad
spoil
rm bad/0001.png
mkdir bad/0001.png
refuses 1 "bad/0001.png is not a regular file" "$lscm" info bad
spoil
mkfifo bad/pipe
rm bad/0002.png
mv bad/pipe bad/0002.png
refuses 1 "bad/0002.png is not a regular file" "$lscm" info bad
mkdir nothing
refuses 1 "nothing: there is no x_samples.npy" "$lscm" info nothing
refuses 2 "the ending '.pngs' is unknown" sh -c "cp sheet.png output.pngs; '$lscm' info output.pngs; code=\$?; rm output.pngs; exit \$code"

# ---- a list of another name, with columns of any name: told by flags that sentences name
spoil
rm bad/interventions.csv
printf 'day;photo;treatment;turns\nmon;0000.png;none;\nmon;0001.png;raf;1,5\ntue;0002.png;raf+mek;2+-1\n' >bad/log.csv
refuses 1 "bad/log.csv: line 3, column 'treatment' holds 'raf', not a number; is 'treatment' the intervention column? --target-column treatment" "$lscm" info bad
refuses 2 "name it: --value-column turns" "$lscm" info bad --target-column treatment
succeeds "raf:2 mek:1" "$lscm" info bad --target-column treatment --value-column turns
succeeds "note: column 'day' holds text and is left out" "$lscm" info bad/log.csv --target-column treatment --value-column turns
succeeds "" "$lscm" convert bad same.nc --target-column treatment --value-column turns
succeeds "raf:2 mek:1" "$lscm" info same.nc
sed 's/turns/dose/' bad/log.csv >doses && mv doses bad/log.csv
succeeds "note: column 'day' holds text and is left out; column 'dose' is taken for the values that do() set" "$lscm" info bad --target-column treatment
cp bad/log.csv bad/other.csv
refuses 2 "bad: holds two lists of pictures" "$lscm" info bad --target-column treatment
finish
