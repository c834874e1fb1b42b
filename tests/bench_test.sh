#!/bin/sh
# Every command of bench/README.md at its smallest size: it works, and what it says is numbers. What they
# are is never asked. Peers that are not installed are left out, and the commands say so. Under sanitizers,
# which are slow, only programs in C are run: the fits that scripts ask for are those of other tests.
# shellcheck source=tests/testing.sh
. "$(dirname "$0")/testing.sh"
build=$(dirname "$lscm")
bench=$tests/../bench
PYTHONDONTWRITEBYTECODE=1
export PYTHONDONTWRITEBYTECODE
# the first Python that has NumPy, as bench/run
python=python3
python3 -c 'import numpy' 2>/dev/null || python=/usr/bin/python3
# the names of all commands as they are run; one is for tests/python, two are not called by their name
ran="python quality network"

# works PARTS COMMAND...: exit 0, each of the PARTS (split by ;) in what it printed, and no number that is none
works() {
    parts=$1
    shift
    succeeds "" "$@"
    while [ -n "$parts" ]; do
        count=$((count + 1))
        part=${parts%%;*}
        has_part || bad "$*: '$part' is not in what it printed"
        case $parts in
        *";"*) parts=${parts#*;} ;;
        *) parts= ;;
        esac
    done
    count=$((count + 1))
    ! grep -qiwE -- '[-+]?(nan|inf|infinity)' output || bad "$*: a number that is none"
}

# script PARTS NAME ARGUMENT...: one in Python
script() {
    parts=$1
    name=$2
    shift 2
    ran="$ran $name"
    [ "${LSCM_SANITIZED:-0}" = 0 ] || return
    works "$parts" "$python" "$bench/$name" "$@"
}

# run PARTS NAME: one of bench/run
run() {
    ran="$ran $2"
    works "$1" sh "$bench/run" --smoke --build "$build" "$2"
}

# ---- Python alone
script "1 seeds, median/mean: e_shd;seconds;of 1 cells meet their bar" \
    anchored --lscm "$lscm" --jobs 1 --seeds 1 paper-linear:5:1
script "exact-full: same;graphvae-given: same;2 same, 0 differ" same_bits "$lscm" "$lscm" --jobs 1 --cache kept exact-full graphvae-given
script "1 same, 0 differ" same_bits "$lscm" "$lscm" --jobs 1 --cache kept exact-full
script "d5: JAX left out;d20: JAX left out;closed form;rows: N = 25000;threads: d = 20" peers.py --lscm "$lscm" --smoke
refuses 2 "there is no biols_jax.py in ." "$python" "$bench/peers.py" --lscm "$lscm" --peers .
script "pass.nc: read;dsyrk;graph: ;small: 5 nodes;cells, smallest;rows: N = 10^3;peer: ;3000 steps of JAX at 9464.0 ms (as given)" \
    limit --lscm "$lscm" --than "$lscm" --smoke pass graph small cells rows peer
works "e_shd_entries;auroc;(medians)" sh "$bench/quality" "$lscm" 1 paper-linear:3:1:given:1
# same_bits sees another seed
mkdir -p kept
cat >other <<OTHER
#!/bin/sh
command=\$1
shift
[ "\$command" != fit ] || set -- "\$@" --seed 4
exec "$lscm" "\$command" "\$@"
OTHER
chmod +x other
refuses 1 "run.w by" "$python" "$bench/same_bits" "$lscm" ./other --cache kept exact-full

# sensitivity, with numbers as a program that was built with LSCM_TUNABLE tells them; another build is too long here
cat >tunable <<TUNABLE
#!/bin/sh
[ -z "\${LSCM_TUNED_SEEN:-}" ] ||
    printf 'prior_dof real 3 1\nchains count 4 1\nsample_sweeps count 10 0\n' >"\$LSCM_TUNED_SEEN"
exec "$lscm" "\$@"
TUNABLE
chmod +x tunable
script "| \`prior_dof\` | 3 | exact, joint |;| \`chains\` | 4 |;4 of 4 |;Not reached by these data sets: sample_sweeps." \
    sensitivity --lscm ./tunable --smoke --jobs 1
rm -f sensitivity.csv
refuses 1 "was not built with LSCM_TUNABLE" "$python" "$bench/sensitivity" --lscm "$lscm" --smoke --csv /dev/null

script "paper-linear;observed-weak;E-SHD whole / missing" missing --lscm "$lscm" --smoke

# the light tunnel: files of the same layout
mkdir tunnel
"$lscm" simulate --projection identity --nodes 4 --sets 8 --per-set 25 --observational 50 --targets cycle \
    --seed 1 --out table.csv --quiet || exit 1
awk 'NR == 1 { print $0 ",soft,env"; next } { print $0 ",0,lab" }' table.csv >tunnel/chamber_lt20.csv
printf 'x0,x1,x2,x3\n0,1,0,0\n0,0,1,0\n0,0,0,1\n0,0,0,0\n' >tunnel/chamber_lt20_dag.csv
script "empty graph;lscm anchored;AUROC;missing,;with p > .99 false;bar: SHD below 33" chamber tunnel --lscm "$lscm"

# ---- programs of the target benchmarks
works '"read":;"dsyrk":' "$build/bench/limit" table.csv 1000 10
works '"share":;"steps_per_second":' "$build/bench/network" "$python $bench/network_torch.py" 1
run "read: 0.01 GB in;cat" read
run "big.nc : peak;big.npz : peak;back : peak" convert
run "net, 1 threads: ;\"step\"" net
run "by tiles;step" vision

# ---- Python with NumPy
if "$python" -c 'import numpy' 2>/dev/null; then
    run "simulate: NumPy;random numbers" simulate
    run "kernel: 300 x 300 values;Cholesky;\"rows\": 1300, \"nodes\": 3;\"rows\": 600" kernel
    script "plain: 2 data sets;pooled: coverage;bar: coverage" calibration --lscm "$lscm" --jobs 1 --sets 2 --fit "--draws 100"
    script "| shift-3 | 1 |;| units | 1 |;correlations of z;| three | 1 |;| heavy | 1 |;of 22 rows meet their bars" \
        believable --lscm "$lscm" --smoke --jobs 1
    script "| shift-.3 | 1 |;E-SHD no higher than before (+0.00;of 1 rows" \
        believable --lscm "$lscm" --smoke --jobs 1 --than "$lscm" shift-.3
    script "| weak, who knows | 1 |;| weak, who knows all but the graphs | 1 |;| weak, lscm | 1 |" \
        oracle --lscm "$lscm" --smoke --jobs 1 weak
    script "| base | 1 |;| soft | 1 |;of 3 rows meet their bars" check --lscm "$lscm" --smoke --jobs 1 base hidden soft
    script "| linear:5:observed | 1 |;| process:5:latent | 1 |;| multiplicative:5:observed | 1 |;of 7 cells meet their bars" \
        mechanisms --lscm "$lscm" --smoke --jobs 1 linear:5:o additive:8:o network:5:l process:5:l student:5:o \
        multiplicative:5:o hidden:5:l
    script "| additive:5:observed | lscm | pooled |;| empty graph |;| GES, BIC | observational |" \
        mechanisms --lscm "$lscm" --smoke --peers --methods "GES, BIC" additive:5
    script "| as it comes |;| --holdout 0 |;mean shift, z > 5" \
        mechanisms --lscm "$lscm" --chamber tunnel --variants ";--holdout 0"
    script "large, large.npz;peak" limit --lscm "$lscm" --smoke large
    script "linear: 300 pictures;as it comes: 300 pictures;edges over one half" pictures --lscm "$lscm" --smoke
    script "| kind | fits | encoder |;| lamps | 1 |;| spots | 1 |" scenes --lscm "$lscm" --smoke --fit "--encoder conv"
else
    ran="$ran simulate kernel calibration believable oracle check mechanisms pictures scenes"
    echo "there is no Python with NumPy: what needs it is left out"
fi

if "$python" -c 'import numpy, h5py' 2>/dev/null; then
    script "2000 cells x 200 genes;read and linear fit;(bar 300);peak" cells --lscm "$lscm" --smoke
else
    ran="$ran cells"
    echo "there is no Python with NumPy and h5py: bench/cells is left out"
fi

# ---- several processes
if ldd "$lscm" 2>/dev/null | grep -q libmpi && command -v mpirun >/dev/null 2>&1; then
    script "grid (d5-linear;on 2 processes;fit of 0.005 GB on 2;the same numbers" mpi --lscm "$lscm" --times 1 \
        --grid "d5-linear --quick --methods auto --tasks ER-1 --seeds 2" --gigabytes 0.005
else
    ran="$ran mpi"
    echo "this program was built without MPI, or mpirun is not installed: bench/mpi is left out"
fi

# ---- nothing is in the list that is not run
sed -n 's/^- `\(build\/\)\{0,1\}bench\/\([a-z_.]*\).*/\2/p; s/^| `\([a-z]*\)` |.*/\1/p' "$bench/README.md" >listed
count=$((count + 1))
[ "$(wc -l <listed)" -ge 15 ] || { cp listed output && bad "the list in bench/README.md was not understood"; }
while read -r name; do
    count=$((count + 1))
    case " $ran " in
    *" $name "*) ;;
    *) cp listed output && bad "bench/README.md lists '$name', which is not run here" ;;
    esac
done <listed
finish
