#!/bin/sh
# lscm transform on the command line: z of the data that were fitted and of new ones, in every format,
# and what is refused.
# shellcheck source=tests/testing.sh
. "$(dirname "$0")/testing.sh"

# ---- help
succeeds "Examples:" "$lscm" transform --help
succeeds ".SH OPTIONS" "$lscm" help --man transform
succeeds "transform" "$lscm" help
succeeds "transform" "$lscm" help --completion
refuses 2 "name the run and the new data" "$lscm" transform run
refuses 2 "--out z.npz" "$lscm" transform run data.nc
refuses 2 "one argument too many" "$lscm" transform run data.nc more --out z.npz
refuses 1 "no such run folder" "$lscm" transform nowhere data.nc --out z.npz

# ---- a linear run; rows of the same model that it has not seen
simulate="$lscm simulate --preset paper-linear --nodes 4 --features 12 --seed 3 --quiet"
$simulate --observational 100 --sets 12 --per-set 20 --out data.npz
$simulate --observational 300 --sets 0 --out new.npz
succeeds "method anchored" "$lscm" fit data.npz --decoder linear --draws 16 --threads 1
succeeds "z.npz: z and z_sd of 340 rows, 4 nodes" "$lscm" transform data.run data.npz --out z.npz
succeeds '{"rows": 300, "nodes": 4, "outside": ' "$lscm" transform data.run/ new.npz --out new.csv --json
succeeds "z0,z1,z2,z3,z0_sd,z1_sd,z2_sd,z3_sd" cat new.csv
succeeds "301" wc -l new.csv
succeeds "z.nc: z and z_sd of 300 rows" "$lscm" transform data.run new.npz --out z.nc
succeeds "" "$lscm" transform data.run new.npz --out again.csv --quiet --threads 1
succeeds "" cmp new.csv again.csv
if command -v ncdump >/dev/null 2>&1; then
    succeeds "double z_sd(sample, node)" ncdump -h z.nc
    succeeds ':kind = "linear"' ncdump -h data.run/posterior.nc
fi
count=$((count + 1))
"$lscm" transform data.run new.npz --out quiet.npz --quiet >output 2>&1 || bad "transform --quiet"
[ ! -s output ] || bad "transform --quiet printed something"
refuses 1 "--force" "$lscm" transform data.run new.npz --out z.npz
succeeds "z.npz" "$lscm" transform data.run new.npz --out z.npz --force

# ---- one row of x and nothing else
printf 'x0,x1,x2,x3,x4,x5,x6,x7,x8,x9,x10,x11\n1,2,3,4,5,6,7,8,9,10,11,12\n' >one.csv
succeeds "one.npz: z and z_sd of 1 row, 4 nodes" "$lscm" transform data.run one.csv --out one.npz

# ---- observed variables: z is x
printf 'raf,mek,target\n1,2,-1\n3,5,raf\n-1,3,-1\n0.5,1.5,-1\n2,2.25,mek\n1.5,4,-1\n' >seen.csv
succeeds "decoder identity" "$lscm" fit seen.csv --draws 8 --threads 1
succeeds '"outside": null' "$lscm" transform seen.run seen.csv --out seen_z.csv --json
succeeds "raf,mek,raf_sd,mek_sd" cat seen_z.csv
succeeds "2,2.25,0,0" cat seen_z.csv
refuses 1 "x has 3 features but the run was fitted on 2" "$lscm" transform seen.run \
    "$(printf 'a,b,c\n1,2,3\n4,5,6\n' >three.csv && echo three.csv)" --out no.csv
succeeds "of 2 rows" "$lscm" transform seen.run three.csv --ignore c --out two.csv

# ---- what does not fit
"$lscm" simulate --preset paper-linear --nodes 4 --features 9 --seed 3 --quiet --out narrow.nc
refuses 1 "narrow.nc: x has 9 features but the run was fitted on 12" "$lscm" transform data.run narrow.nc --out no.npz
"$lscm" simulate --preset paper-linear --nodes 5 --features 12 --seed 3 --quiet --out nodes.nc
refuses 1 "nodes.nc: there are 5 nodes but the run has 4" "$lscm" transform data.run nodes.nc --out no.npz
refuses 1 "there is no such file" "$lscm" transform data.run nothing.npz --out no.npz
refuses 2 "causal variables go to .npz, .nc or .csv" "$lscm" transform data.run new.npz --out no.png
refuses 1 "nowhere" "$lscm" transform data.run new.npz --out nowhere/z.npz

# ---- a run of the paper's method infers no z
succeeds "method biols" "$lscm" fit data.npz --method biols --steps 20 --restarts 1 --draws 8 --out biols.run --threads 1
refuses 1 "this run has no encoder: the method biols never infers z from x" "$lscm" transform biols.run new.npz --out no.npz
finish
