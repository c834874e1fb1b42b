#!/bin/sh
# Runs on the command line: evaluate, export and sample on a run folder, what they print and refuse.
# The run is written by hand, as a user of the format would (where ncgen is installed).
# shellcheck source=tests/testing.sh
. "$(dirname "$0")/testing.sh"

# ---- help
succeeds "Examples:" "$lscm" sample --help
succeeds "Usage: lscm sample" "$lscm" help sample
succeeds ".SH OPTIONS" "$lscm" help --man sample
refuses 2 "name the run" "$lscm" sample
refuses 2 "--draws takes a whole number" "$lscm" sample run --draws 0
refuses 2 "--seed takes a whole number" "$lscm" sample run --seed x

# ---- what is not a run, or not a whole one
refuses 1 "no such run folder" "$lscm" sample nowhere
mkdir empty half
refuses 1 "no posterior.nc" "$lscm" sample empty
refuses 1 "no posterior.nc" "$lscm" evaluate empty
touch half/checkpoint
for use in "sample half" "evaluate half" "export half half.npz"; do
    # shellcheck disable=SC2086 # a command and its arguments
    refuses 1 "half: the fit did not finish; continue it with lscm fit --resume" "$lscm" $use
done
refuses 1 "this is not a run folder" "$lscm" sample before

# ---- a run of two draws: a -> b with weight 2 in one and 1 in the other, x = (z, z)
command -v ncgen >/dev/null 2>&1 || finish
mkdir run
cat >run.cdl <<'END'
netcdf posterior {
group: posterior {
  dimensions: chain = 1 ; draw = 2 ; parent = 2 ; child = 2 ; node = 2 ; position = 2 ;
  variables:
    string node(node) ;
    double w(chain, draw, parent, child) ;
    double sigma(chain, draw, node) ;
    int order(chain, draw, position) ;
  data:
    node = "raf", "mek" ;
    w = 0, 2, 0, 0, 0, 1, 0, 0 ;
    sigma = 0.5, 0, 0.5, 0 ;
    order = 0, 1, 0, 1 ;
}
group: sample_stats {
  dimensions: chain = 1 ; draw = 2 ;
  variables: double lp(chain, draw) ; double log_q(chain, draw) ;
  data: lp = -1, -2 ; log_q = NaN, NaN ;
}
group: constant_data {
  dimensions: parent = 2 ; child = 2 ;
  variables: double edge_prob(parent, child) ;
  :x_shape = 2, 2 ;
  :threshold = 0.3 ;
  data: edge_prob = 0, 1, 0, 0 ;
}
group: latents {
  dimensions: sample = 3 ; node = 2 ;
  variables: double z(sample, node) ; double z_sd(sample, node) ;
  data: z = 1, 2, 3, 5, -1, 0 ; z_sd = 0, 0, 0, 0, 0, 0 ;
}
group: decoder {
  dimensions: node = 2 ; feature = 4 ;
  variables: float layer_0(node, feature) ;
  :kind = "linear" ;
  :x_noise = 0.1 ;
  data: layer_0 = 1, 0, 1, 0, 0, 1, 0, 1 ;
}
}
END
ncgen -k nc4 -o run/posterior.nc run.cdl || finish
echo '{"data": "data.nc"}' >run/config.json
refuses 1 "run/summary.json" "$lscm" sample run
echo '{"method": "hand"}' >run/summary.json

# ---- sample
succeeds "100 rows of x and z, seed 0" "$lscm" sample run
succeeds "seen.npz: 6 rows" "$lscm" sample run/ --do raf=1.5 --draws 6 --seed 3 --out seen.npz
succeeds '"do": 1.5, "mean": 1.5, "sd": 0.0, "q05": 1.5, "q50": 1.5, "q95": 1.5}' \
    "$lscm" sample run --do 0=1.5 --draws 6 --json
succeeds '"name": "mek", "mean": 2.25, "sd": 0.75, "q05": 1.5, "q50": 2.25, "q95": 3.0}' \
    "$lscm" sample run --do 0=1.5 --draws 6 --json
succeeds "node  do mean   sd  5%  50% 95%" "$lscm" sample run --do 0=1.5 --draws 6
succeeds "raf  1.5  1.5    0 1.5  1.5 1.5" "$lscm" sample run --do 0=1.5 --draws 6
succeeds "mek      2.25 0.75 1.5 2.25   3" "$lscm" sample run --do 0=1.5 --draws 6
succeeds "z_lower.npy" grep -a -o "z_lower.npy" seen.npz
succeeds "x_upper.npy" grep -a -o "x_upper.npy" seen.npz
succeeds '"out": "seen.nc"' "$lscm" sample run --do raf=0,mek=-1e-1 --out seen.nc --json
succeeds "100 rows, 2 nodes, 4 features" "$lscm" convert seen.nc again.npz
succeeds "seen.png" "$lscm" sample run --draws 64 --out seen.png
succeeds "" "$lscm" sample run --do "" --quiet --out quiet.npz
succeeds "" "$lscm" sample run --quiet --out quiet2.npz
succeeds "" cmp quiet.npz quiet2.npz
refuses 1 "--force" "$lscm" sample run --out seen.npz
succeeds "" "$lscm" sample run --out seen.npz --force
refuses 2 "did you mean 'mek'" "$lscm" sample run --do mekk=1 --out no.npz
refuses 2 "no node '2'; the nodes are 0 to 1" "$lscm" sample run --do 2=1
refuses 2 "no node '-1'" "$lscm" sample run --do=-1=1
refuses 2 "'raf' to 'x', which is not a number" "$lscm" sample run --do raf=x
refuses 2 "not a number" "$lscm" sample run --do raf=
refuses 2 "not a number" "$lscm" sample run --do raf=nan
refuses 2 "sets node '0' twice" "$lscm" sample run --do raf=1,0=2
# every --do counts: the first was dropped once
succeeds '"name": "raf", "do": 1.0, "mean": 1.0' "$lscm" sample run --do raf=1 --do mek=2 --json
succeeds '"name": "mek", "do": 2.0, "mean": 2.0' "$lscm" sample run --do raf=1 --do mek=2 --json
refuses 2 "sets node 'raf' twice" "$lscm" sample run --do raf=1 --do mek=2 --do raf=1
# values beyond what was seen: of z, where the run does not say what do() set
says_nothing() {
    succeeds "" "$@"
    ! grep -q "beyond" output || bad "$*: warned"
}
says_nothing "$lscm" sample run --do raf=3,mek=0
succeeds '"warnings": []' "$lscm" sample run --do raf=-1 --json
succeeds "warning: do() would set raf to 500, beyond all that was seen of it: it was between -1 and 3" \
    "$lscm" sample run --do raf=500
succeeds '"warnings": ["do() would set raf to 500' "$lscm" sample run --do raf=500 --do mek=1 --json
echo '{"method": "hand", "seen": {"raf": {"set": [0, 10], "free": [-1, 3]}, "mek": {"set": null, "free": [0, 5]}}}' \
    >run/summary.json
says_nothing "$lscm" sample run --do raf=10
succeeds "do() would set raf to -2, beyond all that was seen of it: do() set it between 0 and 10, and by itself it was between -1 and 3" \
    "$lscm" sample run --do raf=-2
succeeds "warning: do() would set mek to 5.5, beyond all that was seen of it: do() never set it, and by itself it was between 0 and 5" \
    "$lscm" sample run --do raf=-2 --do mek=5.5
echo '{"method": "hand"}' >run/summary.json
refuses 2 "NODE=VALUE" "$lscm" sample run --do raf
refuses 2 "NODE=VALUE" "$lscm" sample run --do raf=1,
refuses 2 "xlsx" "$lscm" sample run --out seen.xlsx
refuses 2 "did you mean --draws" "$lscm" sample run --drwas 3

# ---- evaluate
refuses 1 "data.nc: the data of this run are not there any more" "$lscm" evaluate run
printf 'raf,mek\n0,1\n0,0\n' >dag.csv
succeeds '"draws": 2, "e_shd": 0,' "$lscm" evaluate run --truth dag.csv --json
# a matrix of zeros and ones says nothing of weights
succeeds '"w_mse": null, "x_mse": null, "kl_z": null, "coverage_90": null, "coverage_90_edges": null' \
    "$lscm" evaluate run --truth dag.csv --json
succeeds '"warnings": ["every edge of the truth is 1: it is taken for a graph alone' \
    "$lscm" evaluate run --truth dag.csv --json
succeeds "if these are weights, say --weights" "$lscm" evaluate run --truth dag.csv
succeeds '"w_mse": 0.125, "x_mse": null' "$lscm" evaluate run --truth dag.csv --weights --json
printf 'raf,mek\n0,2\n0,0\n' >weighed.csv
succeeds '"w_mse": 0.125, "x_mse": null' "$lscm" evaluate run --truth weighed.csv --json
succeeds '"warnings": []' "$lscm" evaluate run --truth weighed.csv --json
printf 'mek,raf\n0,1\n0,0\n' >swapped.csv
refuses 1 "'raf' in the run but 'mek' in swapped.csv" "$lscm" evaluate run --truth swapped.csv
refuses 2 "--threshold is for" "$lscm" evaluate run --threshold 0.1
"$lscm" simulate --nodes 2 --sets 0 --observational 3 --features 4 --out data.nc --quiet
succeeds "expected SHD" "$lscm" evaluate run
succeeds '"draws": 2' "$lscm" evaluate run --json
"$lscm" simulate --nodes 2 --sets 0 --observational 4 --features 4 --out longer.nc --quiet
refuses 1 "fitted to 3 rows but longer.nc has 4" "$lscm" evaluate run --truth longer.nc
echo '{}' >run/config.json
refuses 1 "--truth data.nc" "$lscm" evaluate run

# ---- export
succeeds "run.npz: 2 draws of 2 nodes" "$lscm" export run run.npz
succeeds '"e_shd": 0,' "$lscm" evaluate run.npz --truth dag.csv --json
succeeds '"w_mse": null,' "$lscm" evaluate run.npz --truth dag.csv --json
succeeds '"w_mse": 0.125,' "$lscm" evaluate run.npz --truth dag.csv --weights --json
succeeds "edges.csv: 2 pairs" "$lscm" export run edges.csv
succeeds "raf,mek,1,1.5,0.5,1.05,1.95" cat edges.csv
succeeds "graph of 2 nodes" "$lscm" export run graph.dot
succeeds 'label=" 1.50"' cat graph.dot
if command -v dot >/dev/null 2>&1; then
    succeeds "graph of 2 nodes" "$lscm" export run graph.svg
    succeeds "<svg" cat graph.svg
fi
refuses 2 "a run goes to .npz, .csv, .dot" "$lscm" export run graph.jpeg
refuses 2 "a graph goes to .dot" "$lscm" export data.nc data.npz
refuses 2 "are for data files" "$lscm" export run other.dot --names a,b
refuses 1 "--force" "$lscm" export run edges.csv

# ---- observed variables, mek = 10 + w raf, in words: x is z, and a CSV has the names
sed 's/double sigma(chain, draw, node) ;/& double intercept(chain, draw, node) ;/
    s/sigma = 0.5, 0, 0.5, 0 ;/& intercept = 0, 10, 0, 10 ;/
    s/:x_shape = 2, 2 ;/:x_shape = 2 ;/; s/"linear"/"identity"/
    /layer_0/d; /feature = 4/d' run.cdl >observed.cdl
mkdir observed
cp run/config.json run/summary.json observed
if ncgen -k nc4 -o observed/posterior.nc observed.cdl; then
    succeeds '"name": "mek", "mean": 12.25, "sd": 0.75,' "$lscm" sample observed --do raf=1.5 --draws 6 --json
    succeeds "observed.csv: 2 rows" "$lscm" sample observed --do raf=1.5 --draws 2 --out observed.csv
    succeeds "1.5,13,raf" cat observed.csv
    succeeds "raf,mek,target" cat observed.csv
    succeeds "observed.npz: 2 draws" "$lscm" export observed observed.npz
    succeeds "intercept.npy" grep -a -o "intercept.npy" observed.npz
    printf 'raf,mek,target\n1,2,-1\n3,5,-1\n-1,3,-1\n' >three.csv
    echo '{"data": "three.csv", "truth": "dag.csv"}' >observed/config.json
    succeeds '"x_mse": 1.5,' "$lscm" evaluate observed --json
fi

# ---- a linear decoder with a bias; an intercept or a bias of another length
sed 's/float layer_0(node, feature) ;/& double bias(feature) ;/
    s/layer_0 = 1.*/& bias = 0, 0, 0, 100 ;/; s/:x_shape = 2, 2 ;/:x_shape = 4 ;/' run.cdl >bias.cdl
mkdir bias
cp run/config.json run/summary.json bias
if ncgen -k nc4 -o bias/posterior.nc bias.cdl; then
    succeeds "" "$lscm" sample bias --do raf=0,mek=1 --draws 2 --out bias.csv
    succeeds "0,1,0,101,0,1,0,1" cat bias.csv
fi
sed 's/bias(feature)/bias(node)/; s/bias = .*/bias = 0, 0 ;/' bias.cdl >short.cdl
if ncgen -k nc4 -o bias/posterior.nc short.cdl; then
    refuses 1 "dimension 0 of 'bias' has length 2, but the rest of the file says 4" "$lscm" sample bias
fi

# ---- networks: files that name no activation have GELU; ReLU with a bias in every layer
sed 's/feature = 4 ;/feature = 4 ; unit_1 = 2 ;/
    s/float layer_0(node, feature) ;/float layer_0(node, unit_1) ; float layer_1(unit_1, feature) ;/
    s/layer_0 = 1.*/layer_0 = 1, 0, 0, 1 ; layer_1 = 1, 0, 1, 0, 0, 1, 0, 1 ;/
    s/"linear"/"mlp"/; s/:x_shape = 2, 2 ;/:x_shape = 4 ;/' run.cdl >gelu.cdl
sed 's/float layer_1(unit_1, feature) ;/& float bias_0(unit_1) ; float bias_1(feature) ;/
    s/layer_0 = 1.*/& bias_0 = 1, -1 ; bias_1 = 0.5, 0, 0, 10 ;/
    s/:kind = "mlp" ;/& :activation = "relu" ;/' gelu.cdl >relu.cdl
mkdir network
cp run/config.json run/summary.json network
if ncgen -k nc4 -o network/posterior.nc gelu.cdl; then
    succeeds "" "$lscm" sample network --do raf=1,mek=20 --draws 2 --out gelu.csv
    succeeds "0.841191990608276" cat gelu.csv
fi
if ncgen -k nc4 -o network/posterior.nc relu.cdl; then
    succeeds "" "$lscm" sample network --do raf=2,mek=0.5 --draws 2 --out relu.csv
    succeeds "3.5,0,3,10,2,0.5,2,0.5" cat relu.csv
fi
sed 's/"relu"/"tanh"/' relu.cdl >tanh.cdl
if ncgen -k nc4 -o network/posterior.nc tanh.cdl; then
    refuses 1 "the activation of the decoder is 'tanh', which is unknown" "$lscm" sample network
fi
sed 's/float bias_1(feature) ;//; s/bias_1 = .*/;/; s/; ;$/;/' relu.cdl >half.cdl
if ncgen -k nc4 -o network/posterior.nc half.cdl; then
    refuses 1 "'decoder/bias_1' is missing" "$lscm" sample network
fi

# ---- a run that was damaged
head -c 2000 run/posterior.nc >short
cp short run/posterior.nc
refuses 1 "run/posterior.nc" "$lscm" sample run
finish
