"""AnnData files: the same data from Python, X or a layer of it."""

from __future__ import annotations

import numpy as np
import pytest

import lscm

h5py = pytest.importorskip("h5py")


def write(path, x, layer, targets, genes):
    """What anndata writes, by hand."""
    with h5py.File(path, "w") as file:
        file["X"] = x
        file["layers/counts"] = layer
        file["var/_index"] = genes
        file["var"].attrs["_index"] = "_index"
        file["obs/_index"] = [f"c{i}" for i in range(len(x))]
        file["obs"].attrs["_index"] = "_index"
        file["obs/guide"] = targets


def test_layers_are_read_by_name(tmp_path):
    rng = np.random.default_rng(1)
    x = rng.standard_normal((60, 3))
    counts = np.floor(10 * np.abs(x))
    targets = ["control", "KLF1", "GATA1"] * 20
    write(tmp_path / "cells.h5ad", x, counts, targets, ["KLF1", "GATA1", "TAL1"])
    data = lscm.open(tmp_path / "cells.h5ad")
    assert data.node_names == ("KLF1", "GATA1", "TAL1")
    np.testing.assert_array_equal(data.x, x)
    np.testing.assert_array_equal(data.targets[1], [True, False, False])
    np.testing.assert_array_equal(lscm.open(tmp_path / "cells.h5ad", layer="counts").x, counts)
    with pytest.raises(lscm.Error, match="count"):
        lscm.open(tmp_path / "cells.h5ad", layer="count")
