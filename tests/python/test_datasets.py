"""Data sets: from arrays, files and the simulator; read, checked, saved."""

from __future__ import annotations

import os

import numpy as np
import pytest
from conftest import NAMES

import lscm


def test_simulate(data):
    assert (data.rows, data.nodes, data.features, len(data)) == (300, 4, 12, 300)
    assert data.x.shape == (300, 12) and data.z.shape == data.values.shape == (300, 4)
    assert data.w.shape == (4, 4) and data.sigma.shape == data.order.shape == (4,)
    assert data.recipe["seed"] == 1 and data.recipe["nodes"] == 4
    again = lscm.simulate(
        "revised-linear", nodes=4, features=12, sets=12, per_set=20, observational=60, seed=1
    )
    assert np.array_equal(again.x, data.x)
    at = data.targets == 1
    residual = data.z - data.z @ data.w
    assert np.abs(residual[~at]).max() < 6 * data.sigma.max()


@pytest.mark.parametrize("mechanism", ["additive", "network", "process"])
def test_simulated_mechanisms_bend(mechanism):
    def made(mechanism):
        return lscm.simulate(
            projection="identity", nodes=3, graph="full", mechanism=mechanism, noise_law="laplace", seed=4
        )

    data, linear = made(mechanism), made("linear")
    assert data.recipe["mechanism"] == mechanism and data.recipe["noise_law"] == "laplace"
    assert np.array_equal(data.w != 0, linear.w != 0) and not np.array_equal(data.w, linear.w)
    free = data.targets == 0
    noise = linear.z - linear.z @ linear.w  # the same seed has the same noise
    bend = np.where(free, data.z - noise - data.z @ data.w, 0)
    first, last = data.order[0], data.order[-1]
    assert np.abs(bend[:, first]).max() < 1e-9 < 1 < np.abs(bend[:, last]).max()


def test_simulate_explains_what_is_wrong():
    with pytest.raises(ValueError, match="paper-linear"):
        lscm.simulate("paper-liner")
    with pytest.raises(ValueError, match="nodes"):
        lscm.simulate(node=3)
    with pytest.raises(ValueError, match="nodes"):
        lscm.simulate(nodes=-1)
    assert "paper-linear" in dict(lscm.presets())
    assert {row["name"] for row in lscm.settings("simulation")} >= {"nodes", "seed", "x_noise"}


SCENES = [("balls", 4), ("discs", 4), ("pendulum", 4), ("sprites", 6), ("movers", 6), ("spheres", 5), ("lamps", 4)]


@pytest.mark.parametrize("preset, nodes", SCENES)
def test_scenes_are_pictures_in_colour(preset, nodes):
    data = lscm.simulate(preset, size=24, observational=6, sets=0)
    assert data.x.shape == (6, 24, 24, 3) and data.z.shape == (6, nodes)
    assert data.x.dtype == np.float32 and data.x.min() >= 0 and data.x.max() <= 1
    assert lscm.simulate(preset, nodes=3, observational=6, sets=0).z.shape == (6, 3)
    with pytest.raises(ValueError, match="scenes alone"):
        lscm.simulate("blobs", size=24)


def test_scenes_in_grey_wide_and_as_bytes():
    shares = lscm.simulate("spheres", size=24, width=40, grey=True, observational=6, sets=0)
    data = lscm.simulate("spheres", size=24, width=40, grey=True, pixels="uint8", observational=6, sets=0)
    assert shares.x.shape == data.x.shape == (6, 24, 40)
    assert data.x.dtype == np.uint8 and np.abs(255 * shares.x - data.x).max() < 0.5001
    assert data.recipe["pixels"] == "uint8" and data.recipe["width"] == 40


@pytest.mark.parametrize("ending", [".nc", ".npz", "", ".csv", ".pngs"])
def test_every_format_opens_again(data, ending):
    if ending == ".csv":
        data = lscm.simulate(projection="identity", nodes=3, targets="cycle", sets=6, per_set=5)
    if ending == ".pngs":
        data = lscm.simulate("blobs", nodes=3, sets=3, per_set=4, observational=5)
    path = f"data{ending}"
    data.save(path)
    again = lscm.open(path)
    assert isinstance(again, lscm.Dataset) and again.format != data.format
    tolerance = {"atol": 1e-4} if ending == ".pngs" else {"rtol": 1e-12}
    assert np.allclose(again.x, data.x, **tolerance)
    assert np.array_equal(again.targets, data.targets)
    if ending != ".csv":
        assert np.array_equal(again.w, data.w) and np.array_equal(again.z, data.z)
        assert np.array_equal(again.order, data.order)
    else:
        assert again.w is None and again.values is None and again.recipe is None
    with pytest.raises(FileExistsError, match="data"):
        data.save(path)
    data.save(path, force=True)


def test_files_keep_every_bit_and_type(data):
    data.save("a.nc")
    lscm.open("a.nc").save("b.npz")
    with np.load("b.npz") as arrays:
        for field in ("x", "targets", "values", "z", "w", "sigma", "order"):
            ours = getattr(lscm.open("a.nc"), field)
            assert ours.dtype == arrays[field].dtype, field
            assert np.array_equal(ours, arrays[field]), field
            assert np.array_equal(ours, getattr(data, field)), field


def test_types_of_files_are_kept():
    x = np.arange(40).reshape(10, 4)
    targets = np.eye(10, 2, dtype=bool)
    for dtype in (np.uint8, np.int16, np.float16, np.float32, np.int64):
        np.savez("d.npz", x=x.astype(dtype), targets=targets, values=targets.astype(float))
        data = lscm.open("d.npz")
        assert data.x.dtype == dtype and np.array_equal(data.x, x)
        assert data.targets.dtype == bool and np.array_equal(data.targets, targets)
        assert np.array_equal(data.read("x", 3, 2), x[3:5])


def test_rows_are_read_in_blocks(data, monkeypatch):
    monkeypatch.setattr("lscm._dataset._BLOCK", 100)
    assert np.array_equal(data.read("x"), data.x)
    assert np.array_equal(data.read("x", 250), data.x[250:])
    assert data.read("x", 5, 0).shape == (0, 12)
    with pytest.raises(ValueError, match="rows"):
        data.read("x", 290, 20)
    with pytest.raises(lscm.Error, match="no 'y'|'y'"):
        data.read("y")


def test_what_is_read_is_kept_and_not_to_be_changed(data):
    assert data.x is data.x
    with pytest.raises(ValueError, match="read-only"):
        data.x[0, 0] = 1


def test_from_arrays(data):
    own = lscm.Dataset(
        data.x, data.targets, data.values, z=data.z, w=data.w, sigma=data.sigma, node_names=NAMES
    )
    assert own.x is data.x and own.node_names == tuple(NAMES)
    assert np.array_equal(own.w, data.w) and np.array_equal(own.z, data.z)
    own.save("own.nc")
    again = lscm.open("own.nc")
    assert again.node_names == tuple(NAMES) and np.array_equal(again.sigma, data.sigma)
    alone = lscm.Dataset(data.x)
    assert alone.nodes == 0 and alone.targets is None
    with pytest.raises(ValueError, match="cycle"):
        lscm.Dataset(data.x, data.targets, data.values, w=np.ones((4, 4)) - np.eye(4))


def test_names_of_features_are_saved(data):
    pandas = pytest.importorskip("pandas")
    columns = [f"channel {i}" for i in range(12)]
    own = lscm.Dataset(pandas.DataFrame(data.x, columns=columns), data.targets, data.values)
    assert own.feature_names == tuple(columns)
    own.save("own.npz")
    assert lscm.open("own.npz").feature_names == tuple(columns)


def test_check(data):
    seen = data.check()
    assert seen["observational"] == (~data.targets.any(axis=1)).sum()
    assert list(seen["per_node"]) == data.targets.sum(axis=0).tolist()
    assert seen["sets"] == len({tuple(row) for row in data.targets.tolist() if any(row)})
    assert seen["x_mean"] == pytest.approx(data.x.mean()) and seen["x_max"] == data.x.max()
    bad = data.x.copy()
    bad[3, 1] = np.nan
    assert lscm.Dataset(bad, data.targets, data.values).check()["missing"] == 1
    bad[3, 1] = np.inf
    with pytest.raises(ValueError, match="X: is infinite at row 3"):
        lscm.Dataset(bad, data.targets, data.values).check()


def test_bands(data):
    band = data.bands("z")
    assert np.allclose(band.mean, data.z.mean(axis=0)) and band.upper.shape == (4,)
    assert np.allclose(band.lower, np.quantile(data.z, 0.05, axis=0))


def test_options_of_opening():
    with open("cells.csv", "w") as file:
        file.write("raf,mek,time,target\n1,2,0,\n2,1,1,raf\n3,5,2,mek\n2,2,3,raf;mek\n")
    with open("dag.csv", "w") as file:
        file.write("raf,mek\n0,1\n0,0\n")
    data = lscm.open("cells.csv", ignore=["time"], truth="dag.csv")
    assert data.node_names == ("raf", "mek") and data.targets.tolist() == [
        [0, 0],
        [1, 0],
        [0, 1],
        [1, 1],
    ]
    assert data.w.tolist() == [[0, 1], [0, 0]]
    graph = lscm.open("dag.csv", truth_only=True)
    assert graph.x is None and graph.w.tolist() == [[0, 1], [0, 0]]
    np.savez("x.npz", x=np.zeros((1, 3)))
    assert lscm.open("x.npz", x_only=True).rows == 1
    with pytest.raises(lscm.Error, match="'targets' is missing"):
        lscm.open("x.npz")


def test_true_graphs_are_saved(data):
    for ending in ("dot", "graphml", "json", "svg"):
        try:
            data.save_graph(f"truth.{ending}")
        except lscm.ToolProblem:
            continue
        assert os.path.getsize(f"truth.{ending}") > 50
    with pytest.raises(FileExistsError):
        data.save_graph("truth.dot")


def test_repr(data):
    assert repr(data) == (
        "Dataset (simulation): 300 rows, 4 nodes, 12 features; x float64, targets uint8, values "
        "float64, z float64, w float64, sigma float64, order int64"
    )


def test_paths_may_be_paths(data, tmp_path):
    data.save(tmp_path / "data.npz")
    assert lscm.open(tmp_path / "data.npz").rows == data.rows


def test_broken_files_are_named():
    with open("broken.npz", "w") as file:
        file.write("not a zip")
    with pytest.raises(lscm.Error, match="broken.npz") as caught:
        lscm.open("broken.npz")
    assert caught.value.status in {"FORMAT", "READ"}
