"""Python and the program lscm: the same numbers bit for bit, and each opens what the other wrote:
run folders and data."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from conftest import NAMES, same_bits

import lscm


@pytest.fixture
def saved(data) -> str:
    lscm.Dataset(data.x, data.targets, data.values, w=data.w, z=data.z, node_names=NAMES).save(
        "d.npz"
    )
    return "d.npz"


SETTINGS = {
    "plain": {},
    "other seed, one thread": {"seed": 5, "threads": 1},
    "order": {"order": ["erk", "raf", "akt", "mek"]},
    "knowledge": {"forbid": ["raf->mek"], "tiers": "raf,mek,erk;akt", "degree": 2.0},
    "unequal": {"noise": "equal", "holdout": 0.0, "graph_prior": "uniform"},
    "network": {"decoder": "mlp", "width": 16, "steps": 30},
    "biols": {"method": "biols", "steps": 40, "restarts": 2},
    "vae": {"method": "vae", "steps": 20},
}


def same_files(a, b):
    return Path(a).read_bytes() == Path(b).read_bytes()


def options(settings):
    for name, value in settings.items():
        if isinstance(value, list):
            value = ",".join(value)
        yield from (f"--{name.replace('_', '-')}", value)


@pytest.mark.parametrize("name", SETTINGS)
def test_same_fit(program, saved, name):
    settings = {"draws": 40, **SETTINGS[name]}
    program("fit", saved, "--out", "theirs.run", *options(settings))
    model = lscm.LatentSCM(**settings)
    with np.load(saved) as arrays:
        model.fit(arrays["x"], arrays["targets"], arrays["values"], node_names=NAMES)
    theirs = lscm.open("theirs.run")
    assert same_bits(theirs, model.run_)
    config, own = theirs.config, model.run_.config
    assert config.pop("data") == saved and own.pop("data", None) in (None, "memory")
    assert config == own


def test_same_run_folder(program, saved):
    program("fit", saved, "--out", "theirs.run", "--draws", 40)
    lscm.LatentSCM(draws=40, folder="ours.run").fit(lscm.open(saved))
    for file in ("posterior.nc", "config.json"):
        assert same_files(f"ours.run/{file}", f"theirs.run/{file}")
    again = lscm.LatentSCM.load("theirs.run")
    again.save("again.run")
    assert same_files("again.run/posterior.nc", "ours.run/posterior.nc")


def test_the_summary_reads_as_the_program_prints_it(program, saved):
    printed = program("fit", saved, "--out", "theirs.run", "--draws", 40)
    assert printed.strip() == "theirs.run: " + str(lscm.open("theirs.run").summary())


def test_the_summary_of_many_nodes(program):
    lscm.simulate("revised-linear", nodes=14, features=20, sets=40, per_set=10, seed=1).save(
        "m.npz"
    )
    printed = program("fit", "m.npz", "--out", "m.run", "--draws", 40)
    assert printed.strip() == "m.run: " + str(lscm.open("m.run").summary())


def test_the_program_reads_our_runs(program, model, data, saved):
    model.save("ours.run")
    scores = json.loads(program("evaluate", "ours.run", "--truth", saved, "--json"))
    own = lscm.evaluate(model, saved)
    for name, score in scores.items():
        if name not in ("draws", "warnings"):
            assert own[name] == score or (score is None and np.isnan(own[name])), name
    program("transform", "ours.run", saved, "--out", "z.npz")
    with np.load("z.npz") as arrays:
        z, sd = model.transform(lscm.open(saved), return_sd=True)
        assert np.array_equal(arrays["z"], z) and np.array_equal(arrays["z_sd"], sd)
    assert "anchored" in program("info", "ours.run")


def test_same_sample(program, model):
    model.save("ours.run")
    program(
        "sample", "ours.run", "--do", "erk=1.5,0=-1", "--draws", 50, "--seed", 7, "--out", "s.npz"
    )
    rows = model.sample(do={"erk": 1.5, 0: -1}, n=50, seed=7)
    with np.load("s.npz") as arrays:
        assert np.array_equal(arrays["x"], rows.x) and np.array_equal(arrays["z"], rows.z)
        seen = model.predict_interventional(do={"erk": 1.5, 0: -1}, n=50, seed=7)
        assert np.array_equal(arrays["x_mean"], seen.x.mean)
        assert np.array_equal(arrays["z_upper"], seen.z.upper)
    printed = program("sample", "ours.run", "--do", "erk=1.5,0=-1", "--draws", 50, "--seed", 7)
    assert printed.split("\n\n")[0] == repr(seen)


def test_same_simulation(program, data):
    program(
        "simulate", "--preset", "revised-linear", "--nodes", 4, "--features", 12, "--sets", 12,
        "--per-set", 20, "--observational", 60, "--seed", 1, "--out", "theirs.npz",
    )  # fmt: skip
    data.save("ours.npz")
    with np.load("theirs.npz") as theirs, np.load("ours.npz") as ours:
        assert sorted(theirs) == sorted(ours)
        assert all(np.array_equal(theirs[name], ours[name]) for name in theirs)
        assert np.array_equal(theirs["x"], data.x)


def test_evaluate_finds_the_data_of_a_run(program, saved):
    program("fit", saved, "--out", "theirs.run", "--draws", 40)
    scores = json.loads(program("evaluate", "theirs.run", "--json"))
    assert lscm.evaluate("theirs.run")["e_shd"] == scores["e_shd"]
    lscm.LatentSCM(draws=40, folder="ours.run").fit(lscm.open(saved))
    assert json.loads(program("evaluate", "ours.run", "--json")) == scores


def test_same_exports(program, model):
    model.save("ours.run")
    for ending in ("csv", "json", "graphml", "dot"):
        program("export", "ours.run", f"theirs.{ending}")
        lscm.open("ours.run").export(f"ours.{ending}")
        assert same_files(f"theirs.{ending}", f"ours.{ending}")
