#!/bin/sh
# lscm under mpirun: a fit on 2 to 4 processes is the fit on one, to the last bit; one sentence when it
# fails; a grid whose process is killed keeps its finished cells and goes on. Without an MPI build or
# without mpirun only the refusal is tested.
# shellcheck source=tests/testing.sh
. "$(dirname "$0")/testing.sh"
inside=$(dirname "$lscm")/tests/test_comm

"$lscm" simulate --preset paper-linear --nodes 4 --seed 1 --out small.nc --quiet || exit 1

# ---- without MPI
if ! ldd "$lscm" 2>/dev/null | grep -q libmpi; then
    refuses 1 "built without MPI" env OMPI_COMM_WORLD_SIZE=2 OMPI_COMM_WORLD_RANK=0 "$lscm" fit small.nc
    succeeds "" env OMPI_COMM_WORLD_SIZE=1 OMPI_COMM_WORLD_RANK=0 "$lscm" fit small.nc --quiet
    succeeds "" env SLURM_NTASKS=4 SLURM_PROCID=0 "$lscm" fit small.nc --quiet --force
    echo "this program was built without MPI: the rest is skipped"
    finish
fi
if ! command -v mpirun >/dev/null 2>&1; then
    echo "mpirun is not installed: skipped"
    finish
fi

# More processes than cores, by any user, on this machine alone; ignored by other MPIs than Open MPI.
OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
OMPI_MCA_btl_tcp_if_include=lo OMPI_MCA_oob_tcp_if_include=lo
export OMPI_ALLOW_RUN_AS_ROOT OMPI_ALLOW_RUN_AS_ROOT_CONFIRM OMPI_MCA_rmaps_base_oversubscribe
export OMPI_MCA_btl_tcp_if_include OMPI_MCA_oob_tcp_if_include
# Where /sys is not mounted, as in a bare chroot, MPI's hwloc says so in every process.
HWLOC_HIDE_ERRORS=2
export HWLOC_HIDE_ERRORS

# many K COMMAND...; whatever hangs ends
many() {
    k=$1
    shift
    timeout 3000 mpirun -n "$k" "$@"
}

# ---- from inside: counter, messages, passes over rows
if [ -x "$inside" ]; then
    for k in 2 3 4; do
        succeeds "PASSED" many "$k" "$inside"
    done
fi

# same_runs A B: draws, edges and causal variables
same_runs() {
    for run in "$1" "$2"; do
        succeeds "" "$lscm" export "$run" "$run.npz" --force --quiet
    done
    succeeds "" cmp "$1.npz" "$2.npz"
}

# ---- the paper's algorithm on moments, which are always split
succeeds "" "$lscm" fit small.nc --method biols --steps 300 --restarts 1 --quiet --out one
for k in 2 3; do
    succeeds "" many "$k" "$lscm" fit small.nc --method biols --steps 300 --restarts 1 --quiet --out "biols-$k"
    same_runs one "biols-$k"
    succeeds "\"processes\": $k" cat "biols-$k/summary.json"
done

# ---- x too large to keep
succeeds "" "$lscm" simulate --preset paper-linear --nodes 4 --features 1200 --sets 280 --x-noise 0.1 \
    --seed 1 --out big.nc --quiet
succeeds "" "$lscm" fit big.nc --quiet
succeeds "" many 3 "$lscm" fit big.nc --quiet --out big-3
same_runs big.run big-3
rm -f big.nc

# ---- only the first speaks, and says it when there was nothing to split
count=$((count + 1))
many 3 "$lscm" fit small.nc --json --quiet >output 2>errors || bad "fit --json"
[ "$(wc -l <output)" = 1 ] || bad "--json on three processes"
[ ! -s errors ] || { cp errors output; bad "something on standard error"; }
succeeds "one of the 3 processes did this fit" cat small.run/summary.json

# one_sentence CODE PART ARGUMENT...: all three end with that code; the sentence comes once
one_sentence() {
    count=$((count + 1))
    code=$1
    part=$2
    shift 2
    many 3 "$lscm" "$@" >output 2>&1
    got=$?
    [ "$got" = "$code" ] || bad "$*: exit $got instead of $code"
    [ "$(grep -cF -- "$part" output)" = 1 ] || bad "$*: '$part' is not there once"
}
one_sentence 1 "there is no such file" fit missing.nc
one_sentence 2 "did you mean --draws?" fit small.nc --drawss 10
one_sentence 2 "'draws' is 1" fit small.nc --draws 1 --out new
one_sentence 1 "holds a run already" fit small.nc
one_sentence 2 "did you mean --seeds?" reproduce d5-linear --seedz 3 --out new
one_sentence 2 "did you mean 'd5-linear'?" reproduce d5-linaer --out new
one_sentence 2 "there is no method 'vea'" reproduce d5-linear --methods vea --out new
one_sentence 2 "there is no preset 'blops'" reproduce unseen-interventions --preset blops --out new

# whichever process cannot write its cell: all end, with its sentence
for seed in 1 2 3 4; do
    mkdir -p "broken/cells/d5-linear.d5-er-1.auto.seed-$seed.json/in-the-way"
done
one_sentence 1 ".json: " reproduce d5-linear --methods auto --tasks ER-1 --seeds 4 --out broken

# ---- a grid: a process is killed, finished cells stay whole, the same command does the rest
grid() {
    many 3 "$lscm" reproduce d10-linear --methods auto --seeds 16 --out grid
}
cells() {
    find grid/cells -name '*.json' 2>/dev/null | wc -l
}
count=$((count + 1))
grid >killed 2>&1 &
job=$!
# one of the three that were started: only these run the program in this folder. Looking takes its
# time, so it comes before waiting for cells.
look() {
    for process in /proc/[0-9]*; do
        [ "$(readlink "$process/cwd" 2>/dev/null)" = "$work" ] || continue
        [ "$(readlink "$process/exe" 2>/dev/null)" = "$(readlink -f "$lscm")" ] && victim=${process#/proc/}
    done
    return 0
}
while [ -z "${victim:-}" ] && kill -0 "$job" 2>/dev/null; do
    look
done
while [ "$(cells)" -lt 3 ] && kill -0 "$job" 2>/dev/null; do
    sleep 0.1
done
if [ -n "${victim:-}" ]; then
    kill -9 "$victim" || bad "the job was over too soon"
else
    bad "there is no process to kill"
fi
wait "$job"
ended=$?
cp killed output
if [ "$(cells)" -lt 48 ] && [ "$ended" = 0 ]; then
    bad "the job went on without one of its processes"
fi
count=$((count + 1))
[ "$(cells)" -ge 3 ] || bad "finished cells are gone"
for file in grid/cells/*.json; do
    tail -c 3 "$file" | grep -q '}' || { cp "$file" output; bad "$file is not whole"; }
done
find grid/cells -name '*.json' -exec cksum {} + | sort >kept
succeeds "48 of 48 cells done" grid
find grid/cells -name '*.json' -exec cksum {} + | sort >all
count=$((count + 1))
comm -23 kept all >output
[ ! -s output ] || bad "finished cells were run again"
finish
