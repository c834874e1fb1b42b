#!/bin/sh
# lscm fit --method vae and graphvae on the command line: what can be done with their runs, what they
# refuse, and that a run which was stopped and resumed ends in the same bytes as one that was not.
# shellcheck source=tests/testing.sh
. "$(dirname "$0")/testing.sh"

small="--draws 8 --batch 16 --steps 20 --trace 5"
long="--draws 8 --batch 16 --steps 400 --trace 5"
if [ "${LSCM_SANITIZED:-0}" = 1 ]; then
    long="--draws 8 --batch 16 --steps 80 --trace 1"
fi
"$lscm" simulate --preset paper-linear --nodes 4 --observational 60 --sets 4 --per-set 10 --features 8 --seed 1 \
    --out data.nc --quiet
"$lscm" convert data.nc data.csv >output 2>&1

succeeds "auto|anchored|biols|vae|graphvae" "$lscm" fit --help
for method in vae graphvae; do
    # shellcheck disable=SC2086 # lists of options
    {
        succeeds "method $method, decoder mlp" "$lscm" fit data.nc --method $method --out $method.run $small
        succeeds "\"method\": \"$method\"" cat $method.run/summary.json
        succeeds '"optimiser": "adam"' cat $method.run/config.json
        succeeds '"batch": 16' cat $method.run/config.json
        succeeds '"rate": 0.001' cat $method.run/config.json
        succeeds "restart,step,loss" head -n 1 $method.run/trace.csv
        succeeds "0,15," tail -n 1 $method.run/trace.csv
        succeeds '"draws": 8' "$lscm" evaluate $method.run --json
        succeeds "expected SHD" "$lscm" evaluate $method.run
        succeeds "run.npz: 8 draws of 4 nodes" "$lscm" export $method.run run.npz --force
        succeeds '"draws": 8' "$lscm" evaluate run.npz --truth data.nc --json
        succeeds "graph of 4 nodes" "$lscm" export $method.run graph.dot --force
        succeeds "50 rows of x and z" "$lscm" sample $method.run --do 0=1.5 --draws 50
        refuses 1 "this run has no encoder" "$lscm" transform $method.run data.nc --out no.npz
        # what they cannot use
        refuses 2 "the method $method cannot use background knowledge" "$lscm" fit data.nc --method $method \
            --forbid '0->1' --out none
        for decoder in linear image identity; do
            refuses 2 "the method $method has a network of its own" "$lscm" fit data.nc --method $method \
                --decoder $decoder --out none
        done
        # no values are needed; edges follow an order that is given
        succeeds "method $method" "$lscm" fit data.csv --method $method --out csv.run --force $small
        succeeds "method $method" "$lscm" fit data.nc --method $method --order 3,2,1,0 --out order.run --force $small
        succeeds '"order_given"' cat order.run/config.json
        # the same numbers from any number of threads, and from no other seed
        succeeds "" "$lscm" fit data.nc --method $method --out one --threads 1 --force $small
        succeeds "" "$lscm" fit data.nc --method $method --out two --threads 2 --force $small
        succeeds "" "$lscm" fit data.nc --method $method --out seed --seed 1 --force $small
        for file in posterior.nc config.json trace.csv; do
            succeeds "" cmp one/$file two/$file
        done
        succeeds "" sh -c '! cmp -s one/posterior.nc seed/posterior.nc'
    }
done

# the VAE's graph is empty: all edges are missed, none is wrong
"$lscm" evaluate vae.run --json >output 2>&1
cp output scores
succeeds '"auroc": 0.5,' cat scores
succeeds '"tp": 0, "fp": 0,' cat scores

# ---- pictures
"$lscm" simulate --preset paper-image --nodes 3 --observational 20 --sets 2 --per-set 5 --out pictures.nc --quiet
for method in vae graphvae; do # wide enough for threads
    succeeds "method $method" "$lscm" fit pictures.nc --method $method --steps 3 --draws 8 --threads 1 --force
    succeeds "" "$lscm" fit pictures.nc --method $method --steps 3 --draws 8 --threads 2 --out two --force
    succeeds "" cmp pictures.run/posterior.nc two/posterior.nc
    succeeds "seen.png" "$lscm" sample pictures.run --draws 4 --out seen.png --force
done

# ---- stopped and resumed
for method in vae graphvae; do
    rm -rf stopped
    # shellcheck disable=SC2086
    {
        succeeds "" "$lscm" fit data.nc --method $method --out straight --force $long
        stops INT 3 --method $method $long
        if [ $got = 130 ]; then # or it was too quick
            cp output said
            succeeds "continue with the same command and --resume" cat said
            refuses 2 "other settings" "$lscm" fit data.nc --method $method --out stopped --resume $long --seed 4
            succeeds "" "$lscm" fit data.nc --method $method --out stopped --resume $long
        fi
        for file in posterior.nc config.json trace.csv; do
            succeeds "" cmp straight/$file stopped/$file
        done
    }
done

finish
