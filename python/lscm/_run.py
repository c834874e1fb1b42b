"""Runs: what a fit leaves, in memory or in a folder of the command line, and what can be asked of
it: draws, causal variables, do(), scores, pages and graphs."""

from __future__ import annotations

import json
import os
import tempfile
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path as FilePath
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from . import _core, _exchange, _plots, _tables
from ._arguments import naming_arguments
from ._check import Checks
from ._curves import Curve, curve_of, curves_of
from ._dataset import Array, Band, Dataset, Path
from ._drawing import drawn_graph
from ._nodes import Do, Floats, Node, Nodes
from ._problems import GraphAloneWarning, OutsideWarning, wrong
from ._progress import Progress, reporting
from ._show import Table, figure, short, table
from ._summary import Summary
from ._words import spoken

if TYPE_CHECKING:
    import arviz
    import networkx
    import pandas
    import xarray
    from matplotlib.axes import Axes

# So many that from seed to seed the 5% quantile of a normal moves by 3% of its sd.
PREDICTED_ROWS = 4000

# Of pictures: pixels a side, or height and width.
Size: TypeAlias = "int | tuple[int, int]"

_PARTS = ("posterior.nc", "config.json", "checkpoint")


@dataclass(frozen=True, repr=False)
class Prediction:
    """What would be seen under do(): mean, sd and 90% band (5% to 95%) of x and of z.

    The bands have both in them: chance in each row, and what the data left open. x is the
    decoder's mean, without the noise of x; its bands are in the shape of one row of x.
    """

    do: dict[Any, float]
    rows: int
    x: Band
    z: Band
    node_names: tuple[str, ...] | None

    def _labels(self) -> tuple[Any, ...]:
        return Nodes(len(self.z.mean), self.node_names).labels

    def _table(self) -> Table:
        rows = []
        for i, label in enumerate(self._labels()):
            set_to = short(self.do[label]) if label in self.do else ""
            rows.append([str(label), set_to, *(short(float(part[i])) for part in self.z)])
        return table(["node", "do", "mean", "sd", "5%", "50%", "95%"], rows)

    def __repr__(self) -> str:
        return str(self._table())

    def _repr_html_(self) -> str:
        return self._table().html()

    def to_pandas(self) -> pandas.DataFrame:
        """The nodes as a DataFrame: do, mean, sd, q05, q50 and q95 of z."""
        return _tables.prediction_frame(self)


class Diagnostics(NamedTuple):
    """How far to trust a run: the figures of its summary. NaN, or 0 rows, where there is none."""

    r_hat: float  # of the edge in doubt that mixed worst; 1 when the draws are exact
    ess: float
    bound: float  # the evidence bound: biols, vae, graphvae
    warnings: tuple[str, ...]
    held_out_sets: int  # of interventions; 0: rows of every set
    held_out_rows: int
    held_out_log_likelihood: float  # of a row, mean
    held_out_log_likelihood_without_edges: float
    held_out_r2: Floats  # (d): z under do() as predicted
    held_out_coverage_90: Floats  # (d): share of z in their 90% intervals
    anchor_r2: Floats  # (d): values of do() as read off x, in sets left out
    left_out_targets: int  # whole, to predict their effects on other nodes; 0: none
    left_out_r2: float  # of these effects, over pairs of nodes; without edges it is 0
    left_out_spearman: float
    left_out_r2_others: float  # by the mean of the other interventions
    left_out_r2_correlation: float  # by correlation without intervention


class Run:
    """A posterior over causal models: d nodes, S draws, N rows of data that were fitted.

    `lscm.open(folder)` and `Run.open(folder)` open one that `lscm fit` or Python left; a fitted
    `LatentSCM` has its own as `run_`. Arrays are read-only views of the library's memory.
    """

    def __init__(self, core: _core.Posterior, folder: str | None = None) -> None:
        self._core = core
        self.folder = folder

    @classmethod
    def open(cls, folder: Path) -> Run:
        """Opens a run folder."""
        return cls(_core.open_run(os.fspath(folder)), os.fspath(folder))

    # ---- what it holds ----

    @property
    def draws(self) -> int:
        """Posterior draws, S."""
        return self._core.draws

    @property
    def nodes(self) -> int:
        """Causal variables, d."""
        return self._core.nodes

    @property
    def rows(self) -> int:
        """Rows that were fitted, N."""
        return self._core.rows

    @property
    def x_shape(self) -> tuple[int, ...]:
        """The shape of one row of x."""
        return tuple(self._core.x_shape)

    @property
    def node_names(self) -> tuple[str, ...] | None:
        """Names of the causal variables."""
        return self._core.node_names

    @property
    def config(self) -> dict[str, Any]:
        """Every setting, as it was given or chosen, and the name of the data."""
        return dict(json.loads(self._core.config))

    @property
    def diagnostics(self) -> Diagnostics:
        """How far to trust it: R-hat, warnings, and how interventions held out are predicted."""
        figures = spoken(self._core.diagnostics)
        arrays = ("held_out_r2", "held_out_coverage_90", "anchor_r2")
        return Diagnostics(**{**figures, **{name: np.asarray(figures[name]) for name in arrays}})

    @property
    def threshold(self) -> float:
        """A draw has an edge where |w| exceeds it."""
        return self._core.threshold

    @property
    def weights(self) -> Floats:
        """Edge weights (S, d, d): [s, j, i] is the edge j -> i in draw s, 0 where there is none.

        Where mechanisms bend they are average slopes over the rows: see `curves`.
        """
        return np.asarray(self._core.weights)

    @property
    def curves(self) -> list[Curve]:
        """Effects of the edges over 1/2 as curves, the likeliest first, where mechanisms bend.

        Where none does, weights say all, and the list is empty.
        """
        return curves_of(self)

    @property
    def sigma(self) -> Floats:
        """Sd of each node's noise (S, d)."""
        return np.asarray(self._core.sigma)

    @property
    def intercept(self) -> Floats:
        """A node without causes and noise (S, d)."""
        return np.asarray(self._core.intercept)

    @property
    def order(self) -> Array:
        """Causal orders (S, d): the node at each position, causes first."""
        return np.asarray(self._core.order)

    @property
    def log_p(self) -> Floats:
        """Log density of data and draw (S); NaN where it is not known."""
        return np.asarray(self._core.log_p)

    @property
    def log_q(self) -> Floats:
        """Log density of the draw under the approximation (S); NaN where it is not known."""
        return np.asarray(self._core.log_q)

    @property
    def edge_probabilities(self) -> Floats:
        """Posterior probability of each edge (d, d), row = parent."""
        return np.asarray(self._core.edge_prob)

    @property
    def undirected(self) -> Array:
        """Pairs of nodes (d, d) between which nothing tells which way an edge points."""
        mask = np.zeros((self.nodes, self.nodes), bool)
        for a, b in json.loads(self._core.summary).get("pairs", {}).get("undirected", []):
            mask[a, b] = mask[b, a] = True
        return mask

    @property
    def latents(self) -> Floats:
        """Causal variables of the rows that were fitted (N, d), posterior mean."""
        return np.asarray(self._core.z)

    @property
    def latents_sd(self) -> Floats:
        """Their posterior standard deviation (N, d)."""
        return np.asarray(self._core.z_sd)

    def summary(self) -> Summary:
        """What the fit did, why, and how well: a dict that prints as `lscm fit` does."""
        labels = [str(label) for label in self._nodes().labels]
        summary = spoken(json.loads(self._core.summary))
        return Summary(summary, labels, self.edge_probabilities, self.draws)

    def check(self) -> Checks:
        """Named checks of what the fit assumes, and which pairs of nodes the design decides."""
        return Checks(spoken(json.loads(self._core.summary)))

    def _nodes(self) -> Nodes:
        return Nodes(self.nodes, self.node_names)

    # ---- what can be asked of it ----

    def sample(
        self, do: Do | None = None, n: int = 100, *, seed: int = 0, size: Size | None = None
    ) -> Dataset:
        """Rows under do(): n of them, each of another posterior draw and with noise of its own.

        Parameters
        ----------
        do : mapping of a node (name or number) to its value, optional
            Without it nothing is set.
        n : int
            Rows.
        seed : int
            The same seed under two do() shares draws and noise: their difference is less noisy.
        size : int or (int, int), optional
            Pictures of so many pixels a side, or of this height and width, 8 to 1024 each, of runs
            with the decoder positions; z does not depend on it. Without it: as they were fitted.

        Returns
        -------
        Dataset
            With x (the decoder's mean), z, targets and values.

        Warns (OutsideWarning) where do() is at a value beyond all that was seen of its node.
        """
        return self._sample(do, n, seed, stacklevel=3, size=size)

    def _sample(
        self, do: Do | None, n: int, seed: int, stacklevel: int, size: Size | None = None
    ) -> Dataset:
        targets, values = self._nodes().do(do)
        if n < 1:
            raise wrong(f"n: is {n}; sample at least one row")
        if size is None:
            rows = self._core.sample(targets, values, n, seed)
        else:
            rows = self._core.sample(targets, values, n, seed, size=sides(size))
        for sentence in self._core.beyond(targets, values).splitlines():
            warnings.warn(sentence, OutsideWarning, stacklevel=stacklevel)
        return Dataset._of(rows)

    def predict_interventional(
        self, do: Do | None = None, n: int = PREDICTED_ROWS, *, seed: int = 0
    ) -> Prediction:
        """Mean and 90% band of x and z under do(), over n rows of `sample`."""
        rows = self._sample(do, n, seed, stacklevel=3)
        labels = self._nodes().labels
        targets, values = self._nodes().do(do)
        x = Band(*(part.reshape(self.x_shape) for part in rows.bands("x")))
        asked = {labels[i]: float(values[i]) for i in np.flatnonzero(targets)}
        return Prediction(asked, n, x, rows.bands("z"), self.node_names)

    def transform(
        self,
        data: Dataset,
        *,
        progress: Progress = None,
        device: str = "auto",
        threads: int = 0,
    ) -> tuple[Floats, Floats]:
        """Causal variables of new rows and their sd, (N, d) each, by the encoder of the run.

        Where the data have targets and values, z is what do() set there. Warns (OutsideWarning)
        where rows lie outside the values that do() set when the run was fitted. Networks read on
        the device: "auto", "cpu", "cuda", "cuda:1".
        """
        z, sd, outside = self._transform(data, progress, device, threads)
        warn_outside(outside, data.rows, stacklevel=3)
        return z, sd

    def _transform(
        self, data: Dataset, progress: Progress, device: str, threads: int
    ) -> tuple[Floats, Floats, int | None]:
        z, sd = np.empty((data.rows, self.nodes)), np.empty((data.rows, self.nodes))
        with reporting(progress) as report, naming_arguments(data._core.check):
            outside = self._core.transform(
                data._core, z, sd, progress=report, device=device, threads=threads
            )
        return z, sd, outside

    def decode(self, z: npt.ArrayLike) -> Floats:
        """x (rows, ...) of causal variables z (rows, d): the decoder's mean."""
        given = np.ascontiguousarray(z, np.float64)
        if given.ndim != 2 or given.shape[1] != self.nodes:
            raise wrong(f"z: has the shape {given.shape}; it needs rows x {self.nodes}")
        x = np.empty((given.shape[0], *self.x_shape))
        self._core.decode(given, x)
        return x

    def curve(self, parent: Node, child: Node, at: npt.ArrayLike | None = None) -> Curve:
        """What the parent adds to the child, by its value: mean and 90% band, 0 on average.

        Parameters
        ----------
        parent, child : a node each, by name or number
        at : array-like, optional
            Values of the parent. Without it: 41, over what the rows have of it and an eighth of
            that beyond on either side.
        """
        return curve_of(self, parent, child, at)

    def evaluate(self, truth: Dataset, *, weights: bool = False) -> dict[str, float]:
        """Scores against the truth in a data set; see `lscm.evaluate`."""
        return self._core.evaluate(weighed(truth, weights, stacklevel=3))

    def distance(self, other: Run) -> dict[str, float]:
        """How far two posteriors over the same nodes are apart, as `lscm compare` says it.

        e_shd, e_shd_entries: expected SHD between a graph of each; largest: the largest difference
        between the probabilities of an edge; correlation: of the mean weights.
        """
        return self._core.distance(other._core)

    # ---- what becomes of it ----

    def save(self, folder: Path, *, force: bool = False) -> None:
        """Writes the run folder that the command line and `open` read."""
        self._core.save(os.fspath(folder), force=force)

    def export(self, path: Path, *, force: bool = False) -> None:
        """Writes .npz, .csv, .json, .graphml or .dot, or a drawing: .svg, .pdf, .png."""
        if not drawn_graph(self._core.export, os.fspath(path), force):
            self._core.export(os.fspath(path), force=force)

    def report(
        self, path: Path, *, truth: Dataset | None = None, force: bool = False, threads: int = 0
    ) -> None:
        """Writes the page for the browser, compared with the truth of a data set that has one."""
        core = None if truth is None else truth._core
        self._core.report(
            os.fspath(path), folder=self.folder, truth=core, force=force, threads=threads
        )

    def draw(self) -> str:
        """The graph as the text of an SVG: width is probability, colour is sign, dashes are doubt.

        Graphviz's `dot` lays it out where it is installed; else the nodes stand on a circle.
        """
        return self._core.draw()

    def to_networkx(self, threshold: float = 0.5) -> networkx.DiGraph[Any]:
        """The edges whose probability exceeds the threshold, as a DiGraph of NetworkX.

        Edges have probability, mean, sd and sign of the weight (over all draws, 0 where a draw
        has no such edge), and directed: False where nothing tells which way it points, and both
        ways are there since together they exceed the threshold; nodes have position (mean place in
        the order), sigma and intercept.
        """
        return _exchange.to_networkx(self, threshold)

    def plot_graph(self, threshold: float = 0.5, *, ax: Axes | None = None) -> Axes:
        """Draws the edges whose probability exceeds the threshold, by matplotlib; causes on top.

        Width is probability, colour is sign (blue positive, orange negative), dashes are doubt;
        numbers are mean weights, with the probability where it is not 1.
        """
        return _plots.plot_graph(self, threshold, ax)

    def plot_effect(self, parent: Node, child: Node, *, axes: Sequence[Axes] | None = None) -> Any:
        """Draws the weight of an edge and the child under do(parent), by matplotlib; two Axes.

        Left: the density of the weight; its area is the probability of the edge. Right: mean and
        90% band of the child, over all ways from the parent, where the parent was in the data.
        """
        return _plots.plot_effect(self, parent, child, axes)

    def plot_curve(self, parent: Node, child: Node, *, ax: Axes | None = None) -> Axes:
        """Draws what the parent adds to the child, by its value, by matplotlib: see `curve`.

        A line for the mean and the 90% band; a bar on the axis for what the rows have of the
        parent; beyond it the line is dashed and the band pale, since no row vouches for them.
        """
        return _plots.plot_curve(self, parent, child, ax)

    def plot_latents(self, nodes: Sequence[Node] | None = None) -> Any:
        """Draws causal variables of the rows that were fitted against each other, by matplotlib.

        Of the nodes listed, else of the first six; (d, d) Axes, of which those below the diagonal
        have pairs and those on it one node each.
        """
        return _plots.plot_latents(self, nodes)

    @property
    def edges(self) -> pandas.DataFrame:
        """All pairs of nodes, the likeliest edge first, as a DataFrame.

        parent, child, probability; mean, sd, q05 and q95 of the weight over all draws, 0 where a
        draw has no such edge. Where mechanisms bend, weights are average slopes, and bends is the
        share of the draws with the edge in which the child's does.
        """
        return _tables.edges_frame(self)

    def to_pandas(self) -> pandas.DataFrame:
        """The draws as a DataFrame, a row each: "raf->mek", "sigma raf", "intercept raf", ..."""
        return _tables.draws_frame(self)

    def to_xarray(self) -> xarray.Dataset:
        """All draws, edge probabilities and causal variables as one data set of xarray."""
        return _exchange.to_xarray(self)

    def to_arviz(self) -> arviz.InferenceData:
        """The draws as ArviZ has them: groups posterior, sample_stats, constant_data, latents."""
        return _exchange.to_arviz(self)

    def __repr__(self) -> str:
        where = f" {self.folder}" if self.folder is not None else ""
        summary = self.summary()
        return (
            f"Run{where}: method {summary['method']}, decoder {summary['decoder']}; "
            f"{summary._count()} edges over 1/2 between {self.nodes} nodes; {self.draws} draws"
        )

    def _repr_html_(self) -> str:
        return figure(repr(self), self.draw(), self.summary()._repr_html_())

    # A run is pickled as the files of its folder.
    def __reduce__(self) -> tuple[Any, ...]:
        with tempfile.TemporaryDirectory() as folder:
            self._core.save(os.path.join(folder, "run"), force=False)
            files = {file.name: file.read_bytes() for file in FilePath(folder, "run").iterdir()}
        return _unpickled, (files, self.folder)


def _unpickled(files: Mapping[str, bytes], folder: str | None) -> Run:
    with tempfile.TemporaryDirectory() as scratch:
        for name, content in files.items():
            FilePath(scratch, name).write_bytes(content)
        return Run(_core.open_run(scratch), folder)


def sides(size: Size) -> tuple[int, int]:
    """Height and width."""
    both = (size, size) if isinstance(size, (int, np.integer)) else size
    if not (
        isinstance(both, Sequence)
        and len(both) == 2
        and all(isinstance(side, (int, np.integer)) for side in both)
    ):
        raise wrong(f"size: is {size!r}; it takes pixels, one number or (height, width)")
    return int(both[0]), int(both[1])


def warn_outside(outside: int | None, rows: int, stacklevel: int) -> None:
    """Says how many rows the encoder extrapolates for, if any."""
    if outside:
        warnings.warn(
            f"{outside} of the {rows} rows lie outside the values that the run was anchored with; "
            "z extrapolates there",
            OutsideWarning,
            stacklevel=stacklevel,
        )


def weighed(truth: Dataset, weights: bool, stacklevel: int) -> _core.Dataset:
    """The truth, after a word where it says nothing of weights."""
    truth._core.set_weights(weights)
    if truth._core.graph_alone:
        warnings.warn(
            "every edge of the truth is 1: it is taken for a graph alone, and w_mse, kl_z, "
            "coverage_90 and coverage_90_edges are NaN; if these are weights, say weights=True",
            GraphAloneWarning,
            stacklevel=stacklevel,
        )
    return truth._core


def is_run(path: Path) -> bool:
    """A folder that a fit made, whether or not it has finished?"""
    return any(os.path.isfile(os.path.join(os.fspath(path), part)) for part in _PARTS)
