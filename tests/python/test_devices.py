"""Devices: what there is, and what is asked for where there is none."""

from __future__ import annotations

import numpy as np
import pytest

import lscm


def linear():
    return lscm.simulate("revised-linear", nodes=3, features=8, sets=8, per_set=20, seed=1)


def said(model):
    return model.summary()


def test_devices():
    devices = lscm.devices()
    first = devices.rows[0]
    assert (first.device, first.name, first.compute_capability) == ("cpu", "", (0, 0))
    assert first.cores >= 1
    assert all(row.device == f"cuda:{i}" for i, row in enumerate(devices.rows[1:]))
    assert (devices.without == "") == (len(devices.rows) > 1)


def test_a_device_that_is_not_there():
    there = len(lscm.devices().rows) - 1
    with pytest.raises(lscm.MissingProblem, match="plug-in|driver|there is no"):
        lscm.LatentSCM(device=f"cuda:{there}").fit(linear())


def test_words():
    with pytest.raises(lscm.ValueProblem, match="did you mean 'cuda'"):
        lscm.LatentSCM(device="cudda").fit(linear())
    model = lscm.LatentSCM(draws=50, device="cpu").fit(linear())
    assert model.run_.config["device"] == "cpu"
    assert "device" not in said(model)  # no network was trained
    with pytest.raises(lscm.ValueProblem, match="did you mean 'cpu'"):
        model.run_.transform(linear(), device="gpu")


def test_the_cpu_is_what_it_was():
    data = linear()
    asked = lscm.LatentSCM(draws=50, device="cpu").fit(data)
    auto = lscm.LatentSCM(draws=50).fit(data)
    assert np.array_equal(asked.weights_, auto.weights_)
    z, sd = asked.run_.transform(data, device="cpu")
    other, _ = asked.run_.transform(data)
    assert np.array_equal(z, other)
    assert (sd >= 0).all()


def test_networks_say_where_they_ran():
    data = lscm.simulate("revised-linear", nodes=3, features=8, sets=8, per_set=20, seed=1)
    model = lscm.LatentSCM(method="vae", steps=20, draws=20, device="cpu").fit(data)
    assert said(model)["device"] == "cpu"
    assert "device_reason" not in said(model)
    free = lscm.LatentSCM(method="vae", steps=20, draws=20).fit(data)
    if len(lscm.devices().rows) == 1:
        assert said(free)["device"] == "cpu"
        assert said(free)["device_reason"] == lscm.devices().without
