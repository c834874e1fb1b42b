#!/bin/sh
# The command line as a user meets it: what it prints, what it refuses, what it leaves behind.
# shellcheck source=tests/testing.sh
. "$(dirname "$0")/testing.sh"

make="$lscm simulate --preset paper-linear --observational 40 --sets 3 --per-set 20 --features 8 --quiet"

# ---- help, versions, names that do not exist
succeeds "lscm 0." "$lscm" --version
succeeds "simulate" "$lscm" --help
for command in simulate info convert export evaluate; do
    succeeds "Examples:" "$lscm" "$command" --help
    succeeds "Usage: lscm $command" "$lscm" help "$command"
    succeeds ".SH OPTIONS" "$lscm" help --man "$command"
done
succeeds "complete -o default" "$lscm" help --completion
"$lscm" help --completion >completion
if command -v bash >/dev/null 2>&1; then
    # completes WORD...: what bash would offer for the last of them
    completes() {
        bash -c '. ./completion; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _lscm; echo "${COMPREPLY[*]}"' - "$@"
    }
    succeeds "biols" completes lscm fit data.nc --method b
    succeeds "graphvae" completes lscm fit data.nc --method = g
    succeeds "auto equal unequal" completes lscm fit data.nc --noise ""
    succeeds "equal unequal prior" completes lscm simulate --noise ""
    succeeds "linear additive network process" completes lscm simulate --mechanism ""
    succeeds "paper-linear" completes lscm simulate --preset paper-l
    succeeds "--method" completes lscm fit data.nc --me
    succeeds "fit" completes lscm fi
    succeeds "sample" completes lscm help sa
    succeeds "d5-linear" completes lscm reproduce d5-l
    succeeds "all unseen-interventions d5-linear" completes lscm reproduce --quiet ""
    succeeds "unseen-interventions" completes lscm reproduce --out folder u
    succeeds "--out" completes lscm reproduce --ou
    count=$((count + 1))
    [ -z "$(completes lscm reproduce --out d5)$(completes lscm reproduce -o d5)" ] || bad "a folder is completed by bash"
    count=$((count + 1))
    [ -z "$(completes lscm fit da)" ] || bad "files are completed by bash"
fi

# ---- help in groups: what most need first, the paper's knobs last
for page in "fit --help" "help --man fit"; do
    count=$((count + 1))
    # shellcheck disable=SC2086
    "$lscm" $page | tr -d '\\\\' | grep -oE 'Essentials|--?-?seed|beforehand|--?-?tiers|paper.s algorithm and|--?-?temperature|As for all' |
        tr -d '-' | tr '\n' ' ' >output
    grep -q "Essentials.*seed.*beforehand.*tiers.*As for all.*algorithm and.*temperature" output || bad "$page"
done
refuses 2 "Usage: lscm COMMAND" "$lscm"
refuses 2 "did you mean 'simulate'" "$lscm" simulat
refuses 2 "there is no command 'xyzzy'" "$lscm" xyzzy
refuses 2 "did you mean --nodes" "$lscm" simulate --noeds 3 --out a.nc
refuses 2 "did you mean 'paper-linear'" "$lscm" simulate --preset paper-liner --out a.nc
refuses 2 "there is no preset" "$lscm" simulate --preset zzzzz --out a.nc
refuses 2 "did you mean 'gaussian'" "$lscm" simulate --values gausian --out a.nc
refuses 2 "whole number" "$lscm" simulate --nodes 2.5 --out a.nc
refuses 2 "between 1 and" "$lscm" simulate --nodes 0 --out a.nc
refuses 2 "--out" "$lscm" simulate
refuses 2 "'features' is 3" "$lscm" simulate --features 3 --out a.nc
refuses 2 "did you mean 'network'" "$lscm" simulate --mechanism networks --out a.nc
refuses 2 "'weights' is for linear mechanisms alone" "$lscm" simulate --preset prior --mechanism process --out a.nc
refuses 2 "--threads" "$lscm" simulate --threads none --out a.nc
refuses 2 "name the file" "$lscm" info

# ---- the way through
succeeds "" $make --seed 3 --out data.nc
succeeds "True graph" "$lscm" info data.nc
succeeds "every row checked" "$lscm" info data.nc
succeeds "1 node, 0 edges, 1 feature;" "$lscm" simulate --nodes 1 --features 1 --sets 1 --targets cycle --observational 4 --out single.nc
succeeds "4 rows without intervention; 1 distinct target set." "$lscm" info single.nc
succeeds '"rows": 100' "$lscm" info data.nc --json
succeeds "data.npz" "$lscm" convert data.nc data.npz
succeeds "folder: 100 rows" "$lscm" convert data.npz folder
succeeds "back.nc" "$lscm" convert folder back.nc
succeeds "" "$lscm" convert back.nc back.npz
succeeds "" cmp data.npz back.npz
succeeds "left out: w, sigma, order" "$lscm" convert data.nc data.csv
succeeds "graph of 5 nodes" "$lscm" export data.nc graph.dot
succeeds "digraph" cat graph.dot
if command -v dot >/dev/null 2>&1; then
    succeeds "graph.svg" "$lscm" export data.nc graph.svg
    succeeds "<svg" cat graph.svg
fi
refuses 1 "Graphviz" env PATH=/nonexistent "$lscm" export data.nc none.svg
succeeds "" $make --mechanism process --noise-law student --out bent.nc
succeeds "mechanism=process" "$lscm" info bent.nc
succeeds "noise_law=student" "$lscm" info bent.nc
succeeds "bent.npz" "$lscm" convert bent.nc bent.npz
succeeds '"noise_law": "student"' "$lscm" info bent.npz --json
succeeds "paper-image" "$lscm" simulate --preset paper-image --observational 20 --sets 2 --per-set 5 --out pictures.nc
succeeds "pictures.png" "$lscm" convert pictures.nc pictures.png
succeeds "PNG" sh -c 'head -c 4 pictures.png | tail -c 3'

# the truth scored against itself: no edge wrong, z perfectly correlated
succeeds '"e_shd": 0,' "$lscm" evaluate data.npz --truth data.nc --json
succeeds '"mcc": 1,' "$lscm" evaluate data.npz --truth folder --json
succeeds '"x_mse": 0,' "$lscm" evaluate data.npz --truth data.npz --json
succeeds "expected SHD" "$lscm" evaluate data.npz --truth data.nc
printf 'a,b,c,d,e\n0,1,0,0,0\n0,0,1,0,0\n0,0,0,1,0\n0,0,0,0,1\n0,0,0,0,0\n' >chain.csv
succeeds '"w_mse"' "$lscm" evaluate data.npz --truth chain.csv --json
refuses 2 "--truth" "$lscm" evaluate data.npz
refuses 1 "nothing.nc" "$lscm" evaluate data.npz --truth nothing.nc
refuses 2 "--threshold" "$lscm" evaluate data.npz --truth data.nc --threshold x

# ---- observed variables
printf 'red,green,blue,env,target\n1,2,3,a,-1\n2,3,5,a,\n3,4,4,b,red\n2,7,4,b,1;blue\n' >light.csv
succeeds "4 rows, 3 nodes" "$lscm" info light.csv --ignore env
succeeds "light.nc" "$lscm" convert light.csv light.nc --ignore env
succeeds "red:1 green:1 blue:1" "$lscm" info light.nc
succeeds "note: column 'env' holds text and is left out" "$lscm" info light.csv
refuses 2 "did you mean 'env'" "$lscm" info light.csv --ignore emv
refuses 2 "--ignore leaves columns of a table out" "$lscm" info light.nc --ignore env
printf 'red,green,blue\n0,1,0\n0,0,1\n1,0,0\n' >cycle.csv
refuses 1 "cycle" "$lscm" convert light.csv out.nc --ignore env --truth cycle.csv
refuses 2 "names" "$lscm" convert data.nc out.nc --names a,b

# ---- files that are not what they should be
refuses 1 "nothing.nc" "$lscm" info nothing.nc
: >empty.nc
refuses 1 "empty" "$lscm" info empty.nc
: >empty.npz
refuses 1 "empty" "$lscm" info empty.npz
head -c 3000 data.nc >short.nc
refuses 1 "short.nc" "$lscm" convert short.nc out.nc
head -c 3000 data.npz >short.npz
refuses 1 "short.npz" "$lscm" convert short.npz out.nc
mkfifo pipe.nc
refuses 1 "pipe.nc" "$lscm" info pipe.nc
refuses 1 "" "$lscm" info /dev/null
mkdir nothing_in_it
refuses 1 "x_samples.npy" "$lscm" info nothing_in_it
refuses 2 ".npz" "$lscm" info before

# ---- NPZ made to mislead (by Python, where there is NumPy)
python=
for candidate in python3 /usr/bin/python3; do
    [ -n "$python" ] || ! "$candidate" -c 'import numpy' 2>/dev/null || python=$candidate
done
if [ -n "$python" ]; then
    "$python" - <<'END'
import io, zipfile
import numpy as np

good = dict(x=np.arange(40.0).reshape(10, 4), targets=np.zeros((10, 2), int), values=np.zeros((10, 2)))
good["targets"][3, 1] = 1

def save(name, **change):
    np.savez(name, **{k: v for k, v in {**good, **change}.items() if v is not None})

def member(array):
    out = io.BytesIO()
    np.lib.format.write_array(out, np.asarray(array), allow_pickle=True)
    return out.getvalue()

def header(text):
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text.encode()

def archive(name, **members):
    with zipfile.ZipFile(name, "w") as z:
        for key, value in {**{k: member(v) for k, v in good.items()}, **members}.items():
            z.writestr(key if "." in key else key + ".npy", value)

save("good.npz")
np.savez_compressed("packed.npz", **{**good, "x": np.asfortranarray(good["x"])})
save("no_x.npz", x=None)
save("no_targets.npz", targets=None)
save("rows.npz", targets=good["targets"][:9])
save("columns.npz", values=np.zeros((10, 3)))
save("mask.npz", targets=good["targets"] * 2)
save("missing.npz", values=np.where(good["targets"] > 0, np.nan, 0))
x = good["x"].copy(); x[7, 2] = np.nan
save("nan.npz", x=x)
x[7, 2] = np.inf
save("inf.npz", x=x.astype(np.float32))
save("narrow.npz", x=good["x"][:, :1])
save("one.npz", **{k: v[:1] for k, v in good.items()})
save("cyclic.npz", w=np.array([[0, 1.0], [1, 0]]))
save("complex.npz", x=good["x"] * 1j)
archive("objects.npz", x=member(np.array([[{}], [1]], object)))
archive("absurd.npz", x=header("{'descr': '<f8', 'fortran_order': False, 'shape': (9223372036854775807, 9), }\n"))
archive("negative.npz", x=header("{'descr': '<f8', 'fortran_order': False, 'shape': (-1, 4), }\n"))
archive("lies.npz", x=header("{'descr': '<f8', 'fortran_order': False, 'shape': (1000000, 4), }\n"))
archive("garbage.npz", x=b"not an array at all")
archive("tricks.npz", **{"../x.npy": member(good["x"])})
with zipfile.ZipFile("bomb.npz", "w", zipfile.ZIP_DEFLATED) as z:
    for key, value in good.items():
        z.writestr(key + ".npy", member(value) if key != "x" else member(value) + bytes(50_000_000))
END
    succeeds "10 rows" "$lscm" info good.npz
    succeeds "" "$lscm" convert packed.npz unpacked.npz
    succeeds "" "$lscm" convert good.npz plain.npz
    succeeds "" cmp unpacked.npz plain.npz
    succeeds "" "$python" -c 'import numpy as np; a, b = np.load("good.npz"), np.load("plain.npz")
assert sorted(a.files) == sorted(b.files)
assert all(a[k].dtype == b[k].dtype and (a[k] == b[k]).all() for k in a.files)'
    refuses 1 "no_x.npz" "$lscm" info no_x.npz
    refuses 1 "targets" "$lscm" info no_targets.npz
    refuses 1 "rows.npz: " "$lscm" info rows.npz
    refuses 1 "'values' has 3" "$lscm" info columns.npz
    refuses 1 "targets" "$lscm" convert mask.npz out.nc
    refuses 1 "row 3" "$lscm" convert missing.npz out.nc
    succeeds "1 entry of x" "$lscm" info nan.npz
    refuses 1 "row 7, column 2" "$lscm" fit nan.npz --method vae
    refuses 1 "row 7, column 2" "$lscm" info inf.npz
    refuses 1 "narrow.npz" "$lscm" info narrow.npz
    refuses 1 "one.npz" "$lscm" info one.npz
    refuses 1 "cycle" "$lscm" info cyclic.npz
    refuses 1 "complex" "$lscm" info complex.npz
    refuses 1 "pickle" "$lscm" info objects.npz
    for file in absurd negative lies garbage tricks bomb; do
        refuses 1 "$file.npz" "$lscm" convert $file.npz out.nc
    done
fi

# ---- output that cannot be
refuses 1 "--force" $make --out data.nc
succeeds "" $make --out data.nc --force
refuses 1 "nowhere" $make --out nowhere/data.nc
refuses 1 "--force" "$lscm" convert data.nc folder
succeeds "" "$lscm" convert data.nc folder --force
mkdir precious && touch precious/thesis.tex
refuses 1 "precious" "$lscm" convert data.nc precious --force
refuses 2 "xlsx" $make --out data.xlsx
refuses 2 ".svg" "$lscm" export data.nc graph.jpeg
refuses 1 "no pictures" "$lscm" convert data.nc grid.png
if [ "$(id -u)" = 0 ] && mkdir small && mount -t tmpfs -o size=512k lscm-small small 2>/dev/null; then
    mounted=$work/small
    for name in full.nc full.npz full full.csv; do
        refuses 1 "$name" "$lscm" simulate --per-set 1000 --out small/$name
        succeeds "" sh -c '[ -z "$(ls -A small)" ]'
    done
    umount "$mounted" && mounted=
fi
mkdir locked && chmod 555 locked
if [ "$(id -u)" != 0 ]; then
    refuses 1 "locked" $make --out locked/data.nc
fi

# ---- Ctrl-C in the middle leaves nothing behind
mkdir stopped
count=$((count + 1))
"$lscm" simulate --sets 200000 --per-set 100 --out stopped/big.nc >output 2>&1 &
job=$!
while [ -z "$(ls -A stopped)" ] && kill -0 $job 2>/dev/null; do
    sleep 0.05
done
kill -INT $job
wait $job
[ $? = 130 ] && grep -q "stopped on request; nothing was written" output && [ -z "$(ls -A stopped)" ] ||
    { ls -A stopped >>output; bad "stopping in the middle"; }

# ---- a signal to terminate has its own code
count=$((count + 1))
"$lscm" simulate --sets 200000 --per-set 100 --out stopped/again.nc >output 2>&1 &
job=$!
while [ -z "$(ls -A stopped)" ] && kill -0 $job 2>/dev/null; do
    sleep 0.05
done
kill -TERM $job
wait $job
[ $? = 143 ] || bad "a signal to terminate"

finish
