#!/bin/sh
# Devices on the command line: what there is, what is asked for and not there, what auto takes and says. A
# fake plug-in stands for that of CUDA (tests/fake_plugin.c); the program is copied away from the real one.
# shellcheck source=tests/testing.sh
. "$(dirname "$0")/testing.sh"
for kind in fake empty; do
    mkdir $kind
    cp "$(dirname "$lscm")/tests/plugin_$kind.so" $kind/liblscm_cuda.so.0.2
done
mkdir broken
echo "no library" >broken/liblscm_cuda.so.0.2
cp "$lscm" program
lscm=$work/program

# with WHAT COMMAND...: the plug-in of that folder, its fault in LSCM_FAKE
with() {
    LD_LIBRARY_PATH=$work/${1%:*} LSCM_FAKE=${1#*:}
    export LD_LIBRARY_PATH LSCM_FAKE
    shift
    "$@"
    got=$?
    unset LD_LIBRARY_PATH LSCM_FAKE
    return $got
}

$lscm simulate --preset paper-linear --nodes 3 --seed 1 --quiet --out data.nc

# ---- what there is
succeeds " core" "$lscm" info --device
succeeds "no CUDA device: the plug-in for CUDA devices, liblscm_cuda.so.0.2, is not installed" "$lscm" info --device
succeeds '"without": "the plug-in' "$lscm" info --device --json
succeeds "cuda:1  Fake, compute capability 9.1, 6.4 GB free of 8.6 GB" with fake: "$lscm" info --device
succeeds '"compute_capability": [9, 0]' with fake: "$lscm" info --device --json
succeeds "no CUDA device: the fake has no device today" with fake:none "$lscm" info --device
succeeds "it has no lscm_device_plugin" with empty: "$lscm" info --device
succeeds "cannot be loaded (" with broken: "$lscm" info --device
succeeds "was built with lscm 0.1.7" with fake:version "$lscm" info --device
succeeds "build both from the same sources" with fake:bytes "$lscm" info --device
refuses 2 "leave 'data.nc' out" "$lscm" info data.nc --device

# ---- asked for and not there: before anything is done, whether or not there is work for it
refuses 1 "is not installed; docs/gpu.md says" "$lscm" fit data.nc --device cuda
refuses 1 "is not installed" "$lscm" fit data.nc --method vae --device cuda:1
refuses 1 "there is no device cuda:2: this machine has 2" with fake: "$lscm" fit data.nc --device cuda:2
refuses 1 "the fake has no device today" with fake:none "$lscm" fit data.nc --device cuda
refuses 1 "cuda:1 is too old" with fake:refuses "$lscm" fit data.nc --method vae --device cuda:1
refuses 2 "did you mean 'cuda'" "$lscm" fit data.nc --device cudda
refuses 2 "cannot be 'cuda:8'" "$lscm" fit data.nc --device cuda:8

# ---- what is taken, and said
vae="fit data.nc --method vae --steps 20 --draws 20 --force"
# shellcheck disable=SC2086 # a list
{
    succeeds "device: cpu (the plug-in for CUDA devices" "$lscm" $vae --out free.run
    succeeds '"device_reason": "the plug-in for CUDA devices' cat free.run/summary.json
    succeeds "device: cpu (cuda:0 is too old" with fake:refuses "$lscm" $vae --out free.run
    succeeds "device: cuda:0 Fake" with fake: "$lscm" $vae --out free.run
    succeeds '"device": "cuda:0 Fake"' cat free.run/summary.json
    succeeds '"device": "auto"' cat free.run/config.json
    succeeds "Networks were trained on cuda:0 Fake" cat free.run/report.html
    succeeds "device: cuda:1 Fake" with fake: "$lscm" $vae --device cuda:1 --out asked.run
    succeeds "--device cuda:1" cat asked.run/report.html
    succeeds "device: cpu" "$lscm" $vae --device cpu --out asked.run
}
count=$((count + 1))
! grep -q "device_reason" asked.run/summary.json || bad "who asks for the CPU needs no reason"

# ---- where nothing trains, nothing is loaded, and one asked for is said to be idle
succeeds "1000 draws" "$lscm" fit data.nc
cp output before
count=$((count + 1))
! grep -q "device" before || bad "a linear fit speaks of devices"
succeeds "--device cuda:1 was not used: this fit trains no network" with fake: \
    "$lscm" fit data.nc --device cuda:1 --out idle.run
succeeds "on cpu" "$lscm" transform data.run data.nc --out z.npz
refuses 1 "is not installed" "$lscm" transform data.run data.nc --out w.npz --device cuda
refuses 2 "did you mean 'cuda'" "$lscm" transform data.run data.nc --out w.npz --device cudda
succeeds '"device": "cpu"' with fake: "$lscm" transform data.run data.nc --out w.npz --device cuda:1 --json

# ---- a run goes on where it began, on any device of the kind
count=$((count + 1))
LD_LIBRARY_PATH=$work/fake
export LD_LIBRARY_PATH
stops INT 2 --method vae --steps 1000000 --trace 10
unset LD_LIBRARY_PATH
[ "$got" = 130 ] || bad "stopping a fit on the fake: exit $got"
refuses 2 "on another device" "$lscm" fit data.nc --method vae --steps 1000000 --trace 10 --out stopped --resume
finish
