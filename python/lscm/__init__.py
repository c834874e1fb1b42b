"""lscm: latent structural causal models from raw data.

Given vectors or pictures and the interventions under which each was taken, lscm finds the hidden
causal variables, the graph between them, the weights and the noise, and predicts what would be seen
under interventions nobody tried.

    model = lscm.LatentSCM().fit(X, targets, values)
    print(model.summary())
    model.edge_probabilities_                        # (d, d), row = parent
    model.predict(do={2: 1.5})                       # mean and 90% band of z and x

docs/python.md has a tour.
"""

from __future__ import annotations

from . import _core
from ._core import (
    Error,
    ExistsProblem,
    FileProblem,
    MissingProblem,
    OutOfMemory,
    Stopped,
    ToolProblem,
    ValueProblem,
)
from ._check import Checks, Finding, Pair
from ._check_data import check
from ._curves import Curve
from ._dataset import Band, Dataset, simulate
from ._devices import Device, Devices, devices
from ._estimator import LatentSCM
from ._evaluate import evaluate
from ._files import open_path as open
from ._problems import (
    FitWarning,
    GraphAloneWarning,
    NotFitted,
    OutsideWarning,
    PackageProblem,
    ReadWarning,
    TypeProblem,
)
from ._run import Diagnostics, Prediction, Run
from ._summary import Summary

__version__: str = _core.version()
settings = _core.settings
presets = _core.presets

__all__ = [
    "Band",
    "Checks",
    "Curve",
    "Dataset",
    "Device",
    "Devices",
    "Diagnostics",
    "Error",
    "ExistsProblem",
    "FileProblem",
    "Finding",
    "FitWarning",
    "GraphAloneWarning",
    "LatentSCM",
    "MissingProblem",
    "NotFitted",
    "OutOfMemory",
    "OutsideWarning",
    "PackageProblem",
    "Pair",
    "Prediction",
    "ReadWarning",
    "Run",
    "Stopped",
    "Summary",
    "ToolProblem",
    "TypeProblem",
    "ValueProblem",
    "__version__",
    "check",
    "devices",
    "evaluate",
    "open",
    "presets",
    "settings",
    "simulate",
]
