"""Checks of data and runs."""

from __future__ import annotations

import numpy as np

import lscm


def chain(bent):
    rng = np.random.default_rng(4)
    a, noise = 2 * rng.standard_normal((2, 400))
    targets = np.zeros((400, 2), dtype=np.uint8)
    targets[::2, 0] = 1
    return np.column_stack([a, a + bent * a**2 + noise]), targets


def test_data_that_are_well_and_bent():
    checks = lscm.check(*chain(0), node_names=["a", "b"])
    assert len(checks) > 5 and checks.found == [] and "no problems detected" in str(checks)
    assert [(pair.edge, pair.verdict) for pair in checks.pairs] == [("a -> b", "decided")]
    assert checks.counts["decided"] == 1
    assert lscm.check(*chain(0.5), node_names=["a", "b"]).found == []  # it is modelled
    found = lscm.LatentSCM(mechanism="linear", draws=100).fit(*chain(0.5), node_names=["a", "b"]).check().found
    bent = next(finding for finding in found if finding.check == "bent")
    assert bent.nodes == ("b",) and bent.figure < bent.limit and "b" in bent.says and bent.remedy


def test_a_run_has_its_checks(model):
    checks = model.check()
    assert [finding.check for finding in checks] == [finding.check for finding in model.run_.check()]
    assert checks[0].verdict in ("good", "noted", "untested", "found")
    warnings = model.diagnostics_.warnings
    assert all(any(finding.says in text for text in warnings) for finding in checks.found)
    model.save("m.run")
    assert str(lscm.open("m.run").check()) == str(checks)
    assert "<td" in checks._repr_html_() and checks[0].check in checks._repr_html_()
