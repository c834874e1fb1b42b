#!/bin/sh
# .h5ad on the command line: a file as anndata or h5py writes it, from the first look to the run and
# back; flags and files that are wrong.
# shellcheck source=tests/testing.sh
. "$(dirname "$0")/testing.sh"

python=
for candidate in python3 /usr/bin/python3; do
    [ -n "$python" ] || ! "$candidate" -c 'import h5py, numpy' 2>/dev/null || python=$candidate
done
[ -n "$python" ] || finish

cat >cells.py <<'END'
import h5py, numpy as np
rng = np.random.default_rng(0)
n, genes = 400, ["raf", "mek", "erk"]
words = ["non-targeting", "raf", "mek+ctrl", "erk"]
code = np.arange(n) % 4
x = np.zeros((n, 3))
for j in range(3):
    x[:, j] = (1.5 * x[:, j - 1] if j else 0) + rng.normal(size=n)
    x[code == j + 1, j] = 0
text = h5py.string_dtype()
with h5py.File("cells.h5ad", "w") as f:
    keep = x != 0
    X = f.create_group("X")
    X.attrs["encoding-type"] = "csr_matrix"
    X.attrs["shape"] = x.shape
    X.create_dataset("data", data=x[keep].astype("f4"), compression="gzip")
    X.create_dataset("indices", data=np.nonzero(keep)[1].astype("i4"))
    X.create_dataset("indptr", data=np.r_[0, keep.sum(1).cumsum()].astype("i4"))
    f.create_group("layers").create_dataset("scaled", data=10 * x)
    obs = f.create_group("obs")
    obs.attrs["_index"] = "index"
    obs.create_dataset("index", data=["c%d" % i for i in range(n)], dtype=text)
    guide = obs.create_group("guide")
    guide.create_dataset("codes", data=code.astype("i1"))
    guide.create_dataset("categories", data=words, dtype=text)
    var = f.create_group("var")
    var.create_dataset("_index", data=genes, dtype=text)
END
"$python" cells.py

succeeds "AnnData, 400 rows, 3 nodes, 3 features" "$lscm" info cells.h5ad
succeeds "raf:100 mek:100 erk:100" "$lscm" info cells.h5ad
succeeds "target_column=guide" "$lscm" info cells.h5ad
succeeds "x_from=layers/scaled" "$lscm" info cells.h5ad --layer scaled
refuses 2 "its layers are: scaled" "$lscm" info cells.h5ad --layer scalde
succeeds "cells.run" "$lscm" fit cells.h5ad --layer scaled --draws 50
succeeds '"layer": "scaled"' cat cells.run/config.json
succeeds "layer scaled" cat cells.run/report.html
succeeds "" "$lscm" check cells.h5ad
succeeds "cells.nc" "$lscm" convert cells.h5ad cells.nc
succeeds "raf:100 mek:100 erk:100" "$lscm" info cells.nc
succeeds "z.npz" "$lscm" transform cells.run cells.h5ad --layer scaled --out z.npz
refuses 2 "can be read but not written" "$lscm" convert cells.nc other.h5ad
head -c 3000 cells.h5ad >short.h5ad
refuses 1 "short.h5ad: this is not an HDF5 file that can be opened" "$lscm" info short.h5ad
finish
